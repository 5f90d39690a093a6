"""The factors of a sweep and their values: ``rtt=0:200:10ms``, ``loss=0,0.1,1%``, ``condition=LTE,GEO``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from slownet.hypotheses import value_lists
from slownet.hypotheses.experiment import VARY
from slownet.model.errors import SweepError

MOST = 1_000_000
"""Values of one factor."""
VALUE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)([A-Za-z%]*)", re.ASCII)
"""A value with a number: the number, and its unit, which may be empty."""
_TIMES = "x"
"""Before the step of a range whose values grow by a factor: ``1:64:x2Mbit``."""
_FORMS = "write values such as 0,10,40ms, or a range from:to:step such as 0:200:10ms or 1:64:x2Mbit"

Factors = dict[str, tuple[str, ...]]


def parse(texts: Sequence[str]) -> Factors:
    """Return the values of each factor of ``--vary NAME=VALUES``. Raises SweepError."""
    found: Factors = {}
    for text in texts:
        name, equals, values = (each.strip() for each in text.partition("="))
        if not equals or not name or not values:
            raise SweepError(f"invalid factor '{text}'", VARY, "write NAME=VALUES such as rtt=0:200:10ms")
        if name in found:
            raise SweepError(f"the factor '{name}' is given twice", VARY, "give all its values at once")
        found[name] = values_of(name, values)
    return found


def of_mapping(vary: Mapping[str, str | Sequence[str]]) -> Factors:
    """Return the values of factors that are given as texts like on the command line, or as lists of values."""
    return {
        name: values_of(name, values) if isinstance(values, str) else _once(values_of(name, each) for each in values)
        for name, values in vary.items()
    }


def values_of(name: str, text: str) -> tuple[str, ...]:
    """Return the values that a text stands for, each with its unit and once. Raises SweepError."""
    parts = value_lists.split(text)
    if "" in parts:
        raise SweepError(f"an empty value in '{text}'", f"{VARY} {name}", _FORMS)
    unit = _unit(parts[-1].rpartition(":")[2])
    return _once(_range(name, part) if ":" in part else (_with_unit(part, unit),) for part in parts)


def _once(parts: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))  # type: ignore[attr-defined]


def _unit(text: str) -> str:
    found = VALUE.fullmatch(text.removeprefix(_TIMES))
    return found[2] if found else ""


def _with_unit(text: str, unit: str) -> str:
    """Add the unit of the last value to a number without one: 0,10,40ms."""
    found = VALUE.fullmatch(text)
    return f"{text}{unit}" if found and not found[2] else text


def _range(name: str, text: str) -> tuple[str, ...]:
    where = f"{VARY} {name}"
    ends = text.split(":")
    if len(ends) != 3:
        raise SweepError(f"unclear range '{text}'", where, _FORMS)
    grows = ends[2].startswith(_TIMES)
    unit = _unit(ends[2]) or _unit(ends[1])
    first, last, step = (_number(each, unit, text, where) for each in (ends[0], ends[1], ends[2].removeprefix(_TIMES)))
    if last < first or step <= (1 if grows else 0) or (grows and first <= 0):
        fix = "it goes upwards, in steps above 0, or of a factor above 1 from a first value above 0"
        raise SweepError(f"the range '{text}' has no end", where, fix)
    if not grows and (last - first) / step > MOST:
        raise SweepError(f"the range '{text}' has more than {MOST:,} values", where, "make the step larger")
    values, value = [], first
    while value <= last:
        values.append(f"{value.normalize():f}{unit}")
        value = value * step if grows else value + step
    return tuple(values)


def _number(text: str, unit: str, whole: str, where: str) -> Decimal:
    found = VALUE.fullmatch(text)
    if not found or found[2] not in ("", unit):
        what = f"'{text}' is not a number" if not found else f"two units, {found[2]} and {unit}"
        raise SweepError(f"{what} in the range '{whole}'", where, _FORMS)
    try:
        return Decimal(found[1])
    except InvalidOperation as error:  # pragma: no cover
        raise SweepError(f"'{text}' is not a number", where, _FORMS) from error
