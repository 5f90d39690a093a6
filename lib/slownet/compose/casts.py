"""Texts that stand for booleans and numbers, as every variable is one: read as compose's own library reads them.

What compose does not understand it refuses; so does this, and `slownet.compose.values` gives the place of the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from slownet.model.units import TIMES

Cast = Callable[[str], Any]
_TRUE, _FALSE = ("true", "y", "yes", "on"), ("false", "n", "no", "off")
_WHOLE = re.compile(r"[-+]?[0-9]{1,40}", re.ASCII)
_REAL = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,9})?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
_MOST_REAL = 400
"""Characters of a number with a fraction; more digits are not a mistake of a person's."""
_BYTES = re.compile(r"(?P<number>[0-9.eE+ -]*?[0-9.])(?P<space> ?)(?P<unit>[a-z]*)", re.ASCII | re.IGNORECASE)
_PLAIN_BYTES = re.compile(r"[0-9]+(?:[kmg](?:i?b)?)?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_UNIT = re.compile(r"b?|([kmgtp])(?:i?b)?")
SECONDS = {name: float(each.seconds) for each in TIMES for name in each.in_compose}
_PART = rf"(\d+\.?\d*|\.\d+)({'|'.join(sorted(SECONDS, key=len, reverse=True))})"
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART})+)", re.ASCII)
_LONGEST_S = 2**63 / 1e9
"""Go's durations are 64 bits of nanoseconds: 292 years."""
_BITS = 63


def boolean(text: str) -> bool:
    """Return what a text stands for: true, y, yes and on; false, n, no and off, in any case. Raises ValueError."""
    word = text.lower()
    if word not in (*_TRUE, *_FALSE):
        raise ValueError("write true or false; in quotes and variables also yes, on, y, no, off and n")
    return word in _TRUE


def whole(text: str) -> int:
    """Return a whole number of 64 bits. Raises ValueError."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    if number is None or not -(1 << _BITS) <= number < 1 << _BITS:
        raise ValueError("write a whole number")
    return number


def natural(text: str) -> int:
    """Return a whole number that is not negative. Raises ValueError."""
    number = whole(text)
    if number < 0:
        raise ValueError("write a whole number, at least 0")
    return number


def real(text: str) -> float:
    """Return a number that may have a fraction. Raises ValueError."""
    if len(text) > _MOST_REAL or not _REAL.fullmatch(text):
        raise ValueError("write a number")
    return float(text)


def size(text: str) -> int:
    """Return a number of bytes: ``64m`` and ``64 MiB`` are 67108864. Raises ValueError."""
    how = "write a number of bytes, such as 64m; units: b k m g t p"
    if _WHOLE.fullmatch(text):
        return whole(text)
    found = _BYTES.fullmatch(text[:_MOST_REAL])
    unit = _UNIT.fullmatch(found["unit"].lower()) if found else None
    if not found or not unit or not _REAL.fullmatch(found["number"]) or len(text) > _MOST_REAL:
        raise ValueError(how)
    try:
        number = int(Decimal(found["number"]) * 1024 ** _POWERS[unit[1] or ""])
    except (ArithmeticError, ValueError) as error:
        raise ValueError(how) from error
    if not 0 <= number < 1 << _BITS:
        raise ValueError(how)
    return number


def seconds(text: str) -> float:
    """Return the seconds of ``1m30s``. Raises ValueError."""
    how = "write it like 1m30s; units: w d h m s ms us ns"
    if len(text) > _MOST_REAL or not _DURATION.fullmatch(text):
        raise ValueError(how)
    found = sum(float(number) * SECONDS[unit] for number, unit in re.findall(_PART, text, re.ASCII))
    if not math.isfinite(found) or found >= _LONGEST_S:
        raise ValueError(how)
    return -found if text.startswith("-") else found


def byte_count(text: str) -> str | int:
    """Check a number of bytes; a plain one stays the text that it is, because mounts and builds take it."""
    number = size(text)
    return text if _PLAIN_BYTES.fullmatch(text) else number


def duration(text: str) -> str:
    """Check a duration, which stays a text: the reader of its field makes seconds of it."""
    seconds(text)
    return text


def mode(text: str) -> int:
    """Return a file's mode: a text is octal. Raises ValueError."""
    if not re.fullmatch(r"[0-7]{1,6}", text, re.ASCII):
        raise ValueError("write it like 0440")
    return int(text, 8)


def umask(text: str) -> int:
    """Return a mask, written as YAML's whole numbers are: a leading 0 or 0o makes it octal. Raises ValueError."""
    plain = text.replace("_", "").lower()
    base = {"0x": 16, "0o": 8, "0b": 2}.get(plain[:2], 8 if plain.startswith("0") and plain != "0" else 10)
    try:
        number = int(plain, base) if len(plain) <= 40 else -1
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 32:
        raise ValueError("write it like 0022")
    return number


def count(text: str) -> int:
    """Return how many devices: ``all`` is -1. Raises ValueError."""
    return -1 if text.lower() == "all" else whole(text)
