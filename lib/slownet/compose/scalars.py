"""The type of a plain YAML scalar in compose: a number, a date or a text, and how compose writes numbers and dates into texts.

Compose's parser (go-yaml) follows YAML 1.2 but for octal numbers with a leading zero, and keeps YAML 1.1's dates: a
variable ``2024-01-01`` becomes "2024-01-01 00:00:00 +0000 UTC".
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

WHOLE = r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*)"
REAL = r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9_]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
DATE = (
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"|[ ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?)?"
)
_PARTS = re.compile(
    r"(\d+)-(\d+)-(\d+)(?:[Tt ](\d+):(\d+):(\d+)(?:[.,](\d+))?(?:Z|([-+])(\d\d):(\d\d))?)?", re.ASCII
)  # fmt: skip
_PLAIN = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"0x": 16, "0b": 2, "0o": 8}
_MOST, _LEAST = 2**64, -(2**63)
"""Beyond these a whole number is a float to compose."""
_EXPONENT = 6
"""Go writes numbers from 1e+06 on, and below 1e-04, with an exponent."""


class Date(str):
    """A date, as compose writes it where a mapping has it, as in environment and labels. Anywhere else it is an error."""

    stated: str

    def __new__(cls, shown: str, stated: str) -> Date:
        made = super().__new__(cls, shown)
        made.stated = stated
        return made


def date(text: str) -> Date | None:
    """Return the date that a word of the form `DATE` is; None if no such day or time exists, so that it is a text."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    sign, hours, minutes = found[8] or "+", found[9] or "00", found[10] or "00"
    if int(hours) > 24 or int(minutes) > 59:
        return None
    fraction = (found[7] or "")[:9].rstrip("0")
    offset = f"{sign}{hours}{minutes}"
    zone = "+0000 UTC" if not int(hours + minutes) else f"{offset} {offset}"
    shown = f"{year:04}-{moment:%m-%d %H:%M:%S}{'.' if fraction else ''}{fraction} {zone}"
    return Date(shown, text)


def whole(text: str) -> int | float | None:
    """Return the number that a word of the form `WHOLE` is; None if compose takes it for a text. A leading zero is octal."""
    plain = text.replace("_", "")
    sign, digits = (-1 if plain[:1] == "-" else 1), plain.lstrip("+-")
    base = _BASES.get(digits[:2].lower(), 8 if re.fullmatch(r"0[0-7]+", digits) else 10)
    if (
        base == 10 and len(digits) > 1 and digits.startswith("0")
    ):  # 080 is not octal, so that Go's parser makes a fraction of it
        return _finite(plain)
    try:
        number = sign * int(digits[2:] if digits[:2].lower() in _BASES else digits, base)
    except ValueError:  # a base without digits, or more digits than Python reads
        return None
    if number == 0 and sign < 0:
        return -0.0
    if _LEAST <= number < _MOST:
        return number
    return _finite(plain) if base == 10 else None


def real(text: str) -> float | None:
    """Return the number that a word of the form `REAL` is; None if compose takes it for a text."""
    plain = text.replace("_", "")
    if re.fullmatch(r"[-+]?\.(?:inf|nan)", plain, re.IGNORECASE):
        return float(plain.replace(".", ""))
    return _finite(plain) if _PLAIN.fullmatch(plain) else None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def text(value: Any) -> str:
    """Return a scalar as compose writes it into a text, as of an environment variable."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _real(value) if isinstance(value, float) else str(value)


def _real(value: float) -> str:
    """Return a number as Go prints it: the fewest digits, with an exponent of two digits where it is large or small."""
    if not math.isfinite(value):
        return str(value)
    mantissa, _, power = f"{value!r}".partition("e")
    exponent = 0 if value == 0 else math.floor(math.log10(abs(value)))
    digits = mantissa.replace(".", "").replace("-", "").strip("0") or "0"
    if power:
        exponent = int(power)
    sign = "-" if math.copysign(1, value) < 0 else ""
    if -4 <= exponent < _EXPONENT:
        plain = f"{abs(value):.{max(0, len(digits) - 1 - exponent)}f}"
        return f"{sign}{plain}"
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
