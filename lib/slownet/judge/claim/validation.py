"""Validation of the numbers in claims when the claim is made, before anything is measured."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from numbers import Real
from typing import Any

from slownet.judge.measured import in_unit_of
from slownet.model.errors import ExperimentError
from slownet.model.units import duration

PART_OF_ONE = "write a fraction, such as 0.05 for 5 %"
EXAMPLES = {
    "metric": 'write its name with its unit, such as "time_per_request_ms"',
    "along": 'write the name of a condition with its unit, such as "rtt_ms"',
    "of": 'write the name of an experiment, such as "client_delay"',
}
NEEDED = tuple(EXAMPLES)
"""Texts that are not empty."""
CLAIM = 'write a claim, such as law("time_ms", round_trips=4)'


class ClaimError(ExperimentError):
    """An invalid number in a claim; ``field`` is the claim's field that holds it."""

    def __init__(self, what: str, where: str = "", fix: str = "", field: str = "") -> None:
        super().__init__(what, where, fix)
        self.field = field


def within(value: object, claim: str) -> float:
    """Check a margin: a fraction, 0 or more and below 1. Raises ClaimError."""
    part = _finite(value)
    if part is None or part < 0:
        raise ClaimError(f"within is {value!r:.60}", f"in {claim}", PART_OF_ONE, "within")
    if part >= 1:
        meant = f"write {part / 100:g} for {part:g} %" if part < 100 else PART_OF_ONE
        raise ClaimError(f"within is {part:g}, a margin of {100 * part:g} %", f"in {claim}", meant, "within")
    return part


def number(field: str, value: object, claim: str, least: float = -math.inf, above: float = -math.inf) -> float:
    """Check a number: finite, at least ``least`` and above ``above``. Raises ClaimError."""
    found = _finite(value)
    if found is None:
        raise ClaimError(f"{field} is {value!r:.60}", f"in {claim}", "write a finite number", field)
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


def takes(function: Callable[..., object], parameters: Sequence[str], field: str, claim: str) -> None:
    """Check that a function can be called with these positional arguments, or with the first of them. Raises ClaimError."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a builtin nobody knows
        return
    for count in range(1, len(parameters) + 1):
        with suppress(TypeError):
            signature.bind(*parameters[:count])
            return
    raise ClaimError(
        f"the function of {field} takes other arguments", f"in {claim}", f"write lambda {parameters[0]}: ...", field
    )


def claims(given: Iterable[object], where: str) -> None:
    """Check that each is a claim: an object with a method ``judge``. Raises ClaimError."""
    for number, each in enumerate(given, 1):
        if isinstance(each, type) or not callable(getattr(each, "judge", None)):
            many = isinstance(each, list | tuple)
            shown = f"a {type(each).__name__}" if many else f"{each!r:.60}"
            what = f"the class {each.__name__}" if isinstance(each, type) else shown
            fix = "give each claim by itself, without a list around them" if many else CLAIM
            raise ClaimError(f"claim {number} is {what}", where, fix, "claims")


def checked(claim: Any, metric: str, name: str = "") -> str:
    """Check the types of a claim's fields, by their annotations, and name the claim in error messages, before it is judged.

    Returns ``law of time_per_request_ms``. Raises ClaimError: what is given in place of a text, conditions or a function.
    """
    called = f"'{name}'" if name else f"{type(claim).__name__} of {metric}"
    for each in fields(claim):
        value, kind = getattr(claim, each.name), str(each.type)
        if value is None and kind.endswith("| None"):
            continue
        is_right, fix = _looked_at(value, kind, each.name)
        if not is_right:
            raise ClaimError(f"{each.name} is {value!r:.60}", f"in {called}", fix, each.name)
    return called


def _looked_at(value: object, kind: str, name: str) -> tuple[bool, str]:
    """Return whether a value is of the kind that an annotation states, and what to write if it is not."""
    if kind.startswith("Mapping["):
        fix = 'write {"10ms": 51.8}' if "float" in kind else 'write conditions, such as {"rtt": "10ms"}'
        return isinstance(value, Mapping) and all(isinstance(each, str) for each in value), fix
    if kind.startswith("tuple["):
        return isinstance(value, tuple | list), 'write ("10ms", "40ms")'
    if kind == "str":
        return isinstance(value, str) and bool(value or name not in NEEDED), EXAMPLES.get(name, "write a text")
    if kind == "bool":
        return isinstance(value, bool), "write True or False"
    return not kind.startswith("Callable[") or callable(value), "give a function"


def _finite(value: object) -> float | None:
    """Return a number as a float; None if it is not one, infinite, or too large for one."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None
