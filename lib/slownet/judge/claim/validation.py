"""Validation of the numbers in claims when the claim is made, before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from slownet.judge.measured import in_unit_of
from slownet.model.errors import ExperimentError
from slownet.model.units import duration

PART_OF_ONE = "write a fraction, such as 0.05 for 5 %"


class ClaimError(ExperimentError):
    """An invalid number in a claim; ``field`` is the claim's field that holds it."""

    def __init__(self, what: str, where: str = "", fix: str = "", field: str = "") -> None:
        super().__init__(what, where, fix)
        self.field = field


def within(value: object, claim: str) -> float:
    """Check a margin: a fraction, 0 or more and below 1. Raises ClaimError."""
    if not _is_number(value):
        raise ClaimError(f"within is {value!r}", f"in {claim}", PART_OF_ONE, "within")
    part = float(value)  # type: ignore[arg-type]
    if part < 0 or not math.isfinite(part):
        raise ClaimError(f"within is {part:g}", f"in {claim}", PART_OF_ONE, "within")
    if part >= 1:
        meant = f"write {part / 100:g} for {part:g} %" if part < 100 else PART_OF_ONE
        raise ClaimError(f"within is {part:g}, a margin of {100 * part:g} %", f"in {claim}", meant, "within")
    return part


def number(field: str, value: object, claim: str, least: float = -math.inf, above: float = -math.inf) -> float:
    """Check a number: finite, at least ``least`` and above ``above``. Raises ClaimError."""
    if not _is_number(value) or not math.isfinite(float(value)):  # type: ignore[arg-type]
        raise ClaimError(f"{field} is {value!r}", f"in {claim}", "write a finite number", field)
    found = float(value)  # type: ignore[arg-type]
    if found < least or found <= above:
        limit = f"a number above {above:g}" if found <= above else f"{least:g} or more"
        raise ClaimError(f"{field} is {found:g}", f"in {claim}", f"give {limit}", field)
    return found


def ends(given: Mapping[str, float | str | None], claim: str, metric: str = "", positive: bool = False) -> None:
    """Check the lower and upper end of a range, by the names of their fields; None is open.

    A text is a duration and is converted to the unit of ``metric``. ``positive`` forbids ends below 0. Raises ClaimError if no
    end is given or the lower is above the upper end, UnitError.
    """
    (low, least), (high, most) = given.items()
    if least is None and most is None:
        raise ClaimError(f"a range with neither {low} nor {high}", f"in {claim}", f"give {low}=, {high}= or both", low)
    start = 0.0 if positive else -math.inf
    values = {
        name: number(name, in_unit_of(metric, value) if isinstance(value, str) else value, claim, least=start)
        for name, value in given.items()
        if value is not None
    }
    if len(values) == 2 and values[low] > values[high]:
        what = f"{low} {given[low]} is more than {high} {given[high]}"
        raise ClaimError(what, f"in {claim}", "nothing lies in between: swap the two", high)


def percentile(value: object, claim: str) -> None:
    """Check a percentile: above 0 and below 100. Raises ClaimError."""
    if not 0 < number("percentile", value, claim) < 100:
        raise ClaimError(
            f"percentile is {value}", f"in {claim}", "write a number between 0 and 100: 99 for the 99th", "percentile"
        )


def milliseconds(field: str, text: object, claim: str) -> float:
    """Convert a duration to ms. Raises UnitError, and ClaimError if it is not a text."""
    if not isinstance(text, str):
        raise ClaimError(f"{field} is {text!r}", f"in {claim}", 'write a duration, such as "10ms"', field)
    return duration(text) * 1000


def named(kind: Any, metric: str, name: str = "") -> str:
    """Name a claim in an error message, before it is judged: ``law of time_per_request_ms``."""
    return f"'{name}'" if name else f"{type(kind).__name__} of {metric}"


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
