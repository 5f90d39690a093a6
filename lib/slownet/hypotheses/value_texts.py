"""Values of a condition as one text: lists, whose values may have commas, and ranges: ``0:200:10ms``, ``1:64:x2Mbit``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

from slownet.links.conditions.link import WORDS
from slownet.model.errors import ExperimentError
from slownet.model.options import VARY

_PART = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"\s*|(?P<plain>[^,]*))(?:,|$)')


def split(text: str) -> list[str]:
    """Return the values between commas, but for commas within double quotes; an empty one stays."""
    found, at = [], 0
    while at <= len(text):
        part = _PART.match(text, at)
        if part is None or (part["quoted"] is None and '"' in (part["plain"] or "")):
            return [each.strip() for each in text.split(",")]  # a quote that is not closed, or within a value: a character
        found.append(part["quoted"] if part["quoted"] is not None else (part["plain"] or "").strip())
        if part.end() == len(text) and not text[part.start() : part.end()].endswith(","):
            break
        at = part.end()
    return found


def shown(values: Iterable[str]) -> str:
    """Return values as one text that `split` takes apart again: one with a comma is in quotes."""
    return ", ".join(f'"{each}"' if "," in each else each for each in values)


def whole(name: str, parts: Sequence[str], known: Sequence[str], of: str) -> list[str]:
    """Return values, with those that contain commas put together again, the longest first.

    name: the condition.
    parts: the values, or what is between the commas of a text.
    known: the values that an experiment has by itself.
    of: the experiment, for the error.
    Raises ExperimentError: a value is not among them, although some have a comma: those are names that the experiment alone
    knows.
    """
    if not any("," in each for each in known):
        return list(parts)
    by_words = {_words(each): each for each in known}
    found, at = [], 0
    while at < len(parts):
        ends = (end for end in range(len(parts), at, -1) if _words(",".join(parts[at:end])) in by_words)
        end = next(ends, None)
        if end is None:
            fix = f"choose from {shown(known)}; in a shell, quote the whole: {VARY.typed} '{name}=...'"
            raise ExperimentError(f"{of} has no {name} '{parts[at]}'", VARY.set(name), fix)
        found.append(by_words[_words(",".join(parts[at:end]))])
        at = end
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(","))


MOST = 1_000_000
"""Values of one range."""
VALUE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)([A-Za-z%]*)", re.ASCII)
"""A value with a number: the number, and its unit, which may be empty."""
_TIMES = "x"
"""Before the step of a range whose values grow by a factor: ``1:64:x2Mbit``."""
_RANGE = re.compile(rf"{VALUE.pattern}:{VALUE.pattern}:{_TIMES}?{VALUE.pattern}", re.ASCII)
_LIKE_A_RANGE = re.compile(r"[-+\u2212]?[\d.][^:]*:[-+\u2212]?[\d.][^:]*:x?[-+\u2212]?[\d.][^:]*", re.ASCII)
"""Three numbers, such as -10:10:5; `_range` names the wrong one."""
_OTHER_FORM = re.compile(rf"{VALUE.pattern}\s*(?:-|\.\.+|to)\s*{VALUE.pattern}", re.ASCII)
"""Forms of ranges of other programs: ``0-100ms``, ``0..100ms``."""
_STEPS = 10
"""Steps of the range that a mistake is answered with."""
_FORMS = "write values such as 0,10,40ms, or a range from:to:step such as 0:200:10ms or 1:64:x2Mbit"


def expanded(name: str, parts: Sequence[str], where: str) -> list[str]:
    """Return values with those of ranges in their place; other texts with colons stay. Raises ExperimentError.

    name: the condition; where: for errors.
    """
    found: list[str] = []
    for part in parts:
        check_form(name, part, where)
        is_range = _RANGE.fullmatch(part) or (_LIKE_A_RANGE.fullmatch(part) and _is_field(name))
        found += _range(part, where) if is_range else [part]
    return list(dict.fromkeys(found)) if len(found) > len(parts) else found


def _is_field(name: str) -> bool:
    """Return whether it is a link's field, or with "db:" before it that of a host's link."""
    return name.rpartition(":")[2] in WORDS


def check_form(name: str, text: str, where: str) -> None:
    """Raise ExperimentError for a range of a link's field that is written as elsewhere; of other conditions it is a name."""
    found = _OTHER_FORM.fullmatch(text)
    if not found or not _is_field(name):
        return
    first, last, unit = Decimal(found[1]), Decimal(found[3]), found[4] or found[2]
    step = f"{((last - first) / _STEPS).normalize():f}" if last > first else "10"
    fix = f"a range is written from:to:step, such as {found[1]}:{found[3]}:{step}{unit}"
    raise ExperimentError(f"'{text}' is not a value", where, fix)


def values_of(name: str, text: str, where: str) -> tuple[str, ...]:
    """Return the values that a text stands for, each with its unit and once. Raises ExperimentError.

    name, where: see `expanded`.
    """
    parts = split(text)
    if "" in parts:
        raise ExperimentError(f"an empty value in '{text}'", where, _FORMS)
    for part in parts:
        check_form(name, part, where)
    unit = _unit(parts[-1].rpartition(":")[2])
    return once(_range(part, where) if ":" in part else (_with_unit(part, unit),) for part in parts)


def once(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return all values in order, each once."""
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _unit(text: str) -> str:
    found = VALUE.fullmatch(text.removeprefix(_TIMES))
    return found[2] if found else ""


def _with_unit(text: str, unit: str) -> str:
    """Add the unit of the last value to a number without one: 0,10,40ms."""
    found = VALUE.fullmatch(text)
    return f"{text}{unit}" if found and not found[2] else text


def _range(text: str, where: str) -> tuple[str, ...]:
    ends = text.split(":")
    if len(ends) != 3:
        raise ExperimentError(f"unclear range '{text}'", where, _FORMS)
    grows = ends[2].startswith(_TIMES)
    unit = _unit(ends[2]) or _unit(ends[1])
    first, last, step = (_number(each, unit, text, where) for each in (ends[0], ends[1], ends[2].removeprefix(_TIMES)))
    if last < first or step <= (1 if grows else 0) or (grows and first <= 0):
        fix = "it goes upwards, in steps above 0, or of a factor above 1 from a first value above 0"
        raise ExperimentError(f"the range '{text}' has no end", where, fix)
    if not grows and (last - first) / step > MOST:
        raise ExperimentError(f"the range '{text}' has more than {MOST:,} values", where, "make the step larger")
    values, value = [], first
    while value <= last:
        values.append(f"{value.normalize():f}{unit}")
        value = value * step if grows else value + step
    return tuple(values)


def _no_number(text: str) -> str:
    return "negative" if text.startswith(("-", "\u2212")) and VALUE.fullmatch(text[1:]) else "not a number"


def _number(text: str, unit: str, whole: str, where: str) -> Decimal:
    found = VALUE.fullmatch(text)
    if not found or found[2] not in ("", unit):
        what = f"two units, {found[2]} and {unit}" if found else f"'{text}' is {_no_number(text)}"
        raise ExperimentError(f"{what} in the range '{whole}'", where, _FORMS)
    try:
        return Decimal(found[1])
    except InvalidOperation as error:  # pragma: no cover
        raise ExperimentError(f"'{text}' is not a number", where, _FORMS) from error
