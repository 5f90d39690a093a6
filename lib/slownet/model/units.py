"""Reads and writes durations, rates, sizes and percentages as texts with units.

A number without a unit is an error, because 10 ms and 10 s would look alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from slownet.model.errors import UnitError

_NUMBER = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s?(?P<unit>[A-Za-z\u00b5\u03bc]*|%)")
"""A space may be one that does not break, and the letter of micro either of two."""


@dataclass(frozen=True)
class TimeUnit:
    """A unit of time: all that texts, metrics and compose files have of it."""

    name: str
    """As it is read, after a number, and written."""
    seconds: Decimal
    shown_from: float | None = None
    """The least seconds that are written in it; None if it is only read."""
    in_compose: tuple[str, ...] = ()
    """Its names in compose files, which are Go's."""
    of_metrics: bool = False
    """True if the name of a metric may end with it."""
    is_read: bool = True


TIMES = (
    TimeUnit("ns", Decimal("1e-9"), 0.0, ("ns",), of_metrics=True),
    TimeUnit("us", Decimal("1e-6"), 1e-6, ("us", "\u00b5s", "\u03bcs"), of_metrics=True),
    TimeUnit("ms", Decimal("1e-3"), 1e-3, ("ms",), of_metrics=True),
    TimeUnit("s", Decimal(1), 1.0, ("s",), of_metrics=True),
    TimeUnit("min", Decimal(60), 120.0, ("m",)),
    TimeUnit("h", Decimal(3600), 7200.0, ("h",)),
    TimeUnit("d", Decimal(86400), None, ("d",), is_read=False),
    TimeUnit("w", Decimal(604800), None, ("w",), is_read=False),
)
"""All units of time, a row for each, from the shortest."""
SECONDS = {each.name: each.seconds for each in TIMES if each.is_read}

_SI = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_IEC = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

# tc's own table (iproute2 tc/tc_util.c), without its "bps", which is byte/s to tc and bit/s to most people.
BITS_PER_SECOND = {prefix + "bit": Decimal(scale) for prefix, scale in (_SI | _IEC).items()}
_UNCLEAR = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+) ?(?P<scale>(?:[kmgt]i?)?)bps", re.ASCII | re.IGNORECASE)

MOST_DIGITS = 19
STATED_DIGITS = 9
"""A number with more digits was computed."""

PERCENT = {"%": Decimal("0.01")}

BYTES = {prefix + "b": Decimal(scale) for prefix, scale in (_SI | _IEC).items()}


def duration(text: str, where: str = "") -> float:
    """Read a duration.

    Parameters
    ----------
    text : str
        Such as ``"10ms"``, ``"0.1 ms"`` or ``"2min"``; units: ns us ms s min h.
    where : str
        What an error names as the place of the text, such as an option.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    UnitError
        It has no unit or an unknown one, is negative, or is not a number.

    Examples
    --------
    >>> duration("10ms")
    0.01
    """
    return float(_read(text, "duration", "10ms", " ".join(SECONDS), SECONDS, where=where))


def rate(text: str) -> float:
    """Read a rate like tc does.

    Parameters
    ----------
    text : str
        Such as ``"2000kbit"`` or ``"1Gbit"``. As in tc, upper and lower case are equal, ``bit`` means bit/s, and ``Ki Mi Gi
        Ti`` are powers of 1024. ``bps`` is refused: it is byte/s to tc, and bit/s to most people.

    Returns
    -------
    float
        bit/s.

    Raises
    ------
    UnitError
        As for `duration`.

    Examples
    --------
    >>> rate("2000kbit")
    2000000.0
    """
    if isinstance(text, str) and (unclear := _UNCLEAR.fullmatch(text.strip())):
        number, scale = unclear["number"], unclear["scale"]
        what = f"rate '{text}': {scale}bps is bytes per second to tc, bits to most people"
        raise UnitError(what, fix=f"write {number}{scale}bit, or {Decimal(number) * 8:f}{scale}bit if it is bytes")
    return float(_read(text, "rate", "2000kbit", "bit kbit Mbit Gbit", BITS_PER_SECOND, any_case=True))


def size(text: str) -> int:
    """Read a size.

    Parameters
    ----------
    text : str
        Such as ``"52kB"`` or ``"250MiB"``; upper and lower case are equal. Unlike in tc, ``kb`` is 1000 bytes, ``KiB`` 1024.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    UnitError
        As for `duration`, or it is not a whole number of bytes.

    Examples
    --------
    >>> size("52kB"), size("250MiB")
    (52000, 262144000)
    """
    number = _read(text, "size", "250MiB", "B kB MB GB KiB MiB GiB", BYTES, any_case=True)
    if number != int(number):
        raise UnitError(f"size '{text}' is not a whole number of bytes", fix="write it in B")
    return int(number)


def percent(text: str, where: str = "") -> float:
    """Read a percentage.

    Parameters
    ----------
    text : str
        From ``"0%"`` to ``"100%"``.
    where : str
        As in `duration`.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    UnitError
        As for `duration`, or it is above 100 %.

    Examples
    --------
    >>> percent("2.5%")
    0.025
    """
    part = _read(text, "percentage", "1%", "%", PERCENT, where=where)
    if part > 1:
        raise UnitError(f"percentage '{text}' is above 100%", where, fix="write it like 1%")
    return float(part)


def whole_number(text: str) -> int | None:
    """Read a whole number of at most 19 digits, as 64 bits have.

    Parameters
    ----------
    text : str

    Returns
    -------
    int or None
        None if the text is not such a number: Python's own int raises for thousands of digits.

    Examples
    --------
    >>> whole_number("12"), whole_number("-1"), whole_number("1.5"), whole_number("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def show_percent(part: float) -> str:
    """Write a share as a percentage with at most four digits.

    Parameters
    ----------
    part : float
        From 0 to 1.

    Returns
    -------
    str

    Examples
    --------
    >>> show_percent(0.025)
    '2.5 %'
    """
    return f"{float(f'{part * 100:.4g}'):g} %"


def show_rate(bits_per_second: float) -> str:
    """Write a rate like tc does, with at most six digits.

    Parameters
    ----------
    bits_per_second : float

    Returns
    -------
    str

    Examples
    --------
    >>> show_rate(2e6)
    '2 Mbit'
    """
    scale, name = next(((s, n) for s, n in ((1e9, "Gbit"), (1e6, "Mbit"), (1e3, "kbit")) if bits_per_second >= s), (1.0, "bit"))
    return f"{float(f'{bits_per_second / scale:.6g}'):g} {name}"


def show_duration(seconds: float, digits: int = 4) -> str:
    """Write a duration with at most four digits.

    Parameters
    ----------
    seconds : float
    digits : int
        At most so many.

    Returns
    -------
    str

    Examples
    --------
    >>> show_duration(0.010), show_duration(0)
    ('10 ms', '0 ms')
    """
    rounded = float(f"{seconds:.{digits}g}")
    if rounded == 0:
        return "0 ms"
    unit = next(each for each in reversed(TIMES) if each.shown_from is not None and abs(rounded) >= each.shown_from)
    number = float(f"{seconds / float(unit.seconds):.{digits}g}")
    return f"{number:g} {unit.name}" if abs(number) < 1e6 else f"{number:.0f} {unit.name}"


_MILLISECONDS = {each.name: float(1000 * each.seconds) for each in TIMES if each.of_metrics}


def milliseconds_of(name: str) -> float | None:
    """Return how many milliseconds the unit of a metric is; None if it is not an unit of time.

    Parameters
    ----------
    name : str
        With its unit at the end.

    Returns
    -------
    float or None

    Examples
    --------
    >>> milliseconds_of("setup_s"), milliseconds_of("mbit_per_s")
    (1000.0, None)
    """
    stem, _, unit = name.rpartition("_")
    return None if stem.endswith("_per") or stem == "per" else _MILLISECONDS.get(unit)


NAMED = {
    **{each.name: each.name for each in TIMES if each.of_metrics},
    "kbit": "kbit/s",
    "kbit_per_s": "kbit/s",
    "mbit_per_s": "Mbit/s",
    "gbit_per_s": "Gbit/s",
    "kb_per_s": "kB/s",
    "mb_per_s": "MB/s",
    "gb_per_s": "GB/s",
    "kib_per_s": "KiB/s",
    "mib_per_s": "MiB/s",
    "per_s": "per second",
    "percent": "%",
}
"""Units at the end of the names of metrics and conditions; the longest match counts."""
# Also without "per": the last letter of rate_mbit_s would be seconds.
NAMED |= {name.replace("_per_s", "_s"): unit for name, unit in NAMED.items() if "/" in unit and "_per_s" in name}


def spoken(name: str) -> str:
    """Write the name of a metric or condition for a heading.

    Parameters
    ----------
    name : str
        With its unit at the end.

    Returns
    -------
    str

    Examples
    --------
    >>> spoken("latency_ms"), spoken("mib_per_s")
    ('latency, ms', 'MiB/s')
    """
    if ending := _unit_ending(name):
        stem = name[: -len(ending)].rstrip("_").replace("_", " ")
        return f"{stem}, {NAMED[ending]}" if stem else NAMED[ending]
    return name.replace("_", " ")


def unit_of(name: str) -> str:
    """Return the unit at the end of the name of a metric or condition.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        Empty if the metric counts something.

    Examples
    --------
    >>> unit_of("mbit_per_s"), unit_of("rate_mbit_s"), unit_of("stalls")
    ('Mbit/s', 'Mbit/s', '')
    """
    ending = _unit_ending(name)
    return NAMED[ending] if ending else ""


def _unit_ending(name: str) -> str:
    """Return how a name ends, of ``NAMED``; empty if it has no unit."""
    return max((each for each in NAMED if name == each or name.endswith(f"_{each}")), key=len, default="")


def amount(value: float, unit: str, digits: int = 3) -> str:
    """Write a number with its unit for a sentence; a time in the unit that fits.

    Parameters
    ----------
    value : float
    unit : str
        As in `unit_of`; empty for a count.
    digits : int
        Significant ones.

    Returns
    -------
    str

    Examples
    --------
    >>> amount(160, "ms"), amount(0.03772, "MiB/s"), amount(98123, "ms")
    ('160 ms', '0.0377 MiB/s', '98.1 s')
    """
    if unit in _MILLISECONDS:
        return show_duration(value * _MILLISECONDS[unit] / 1000, digits)
    return f"{Decimal(f'{value:.{digits}g}'):f} {unit}".rstrip()


def stated(number: float, digits: int = 4) -> str:
    """Write a number as its author wrote it, without an exponent; with so many digits if it was computed.

    Parameters
    ----------
    number : float
    digits : int
        Significant ones of a number that has more than nine.

    Returns
    -------
    str

    Examples
    --------
    >>> stated(1234567), stated(1e-7), stated(81.15 / 19.3), stated(300.0)
    ('1234567', '0.0000001', '4.205', '300')
    """
    exact = Decimal(repr(float(number))).normalize()
    if not exact.is_finite():
        return str(number)
    shown = exact if len(exact.as_tuple().digits) <= STATED_DIGITS else Decimal(f"{number:.{digits}g}").normalize()
    return f"{shown:f}"


def rounded(number: float, digits: int) -> str:
    """Write a number with so many significant digits and no exponent; a whole number with all of its digits.

    Parameters
    ----------
    number : float
    digits : int

    Returns
    -------
    str

    Examples
    --------
    >>> rounded(4.2047, 3), rounded(1234567, 3), rounded(1e-9, 3)
    ('4.2', '1234567', '0.000000001')
    """
    return f"{number:.0f}" if number == round(number) else f"{Decimal(f'{number:.{digits}g}').normalize():f}"


def _read(
    text: str, kind: str, example: str, units: str, table: Mapping[str, Decimal], *, any_case: bool = False, where: str = ""
) -> Decimal:  # fmt: skip
    """Return the number in ``text`` times its unit's factor in ``table``. Raises UnitError."""
    if not isinstance(text, str):
        raise UnitError(f"{kind} {text!r} has no unit", where, fix=f'write it like "{example}" (units: {units})')
    stripped = text.strip()
    if stripped.startswith(("-", "\u2212")):
        raise UnitError(f"{kind} '{text}' is negative", where, fix=f"write it like {example}")
    match = _NUMBER.fullmatch(stripped)
    if match is None:
        raise UnitError(f"'{text}' is not a {kind}", where, fix=f"write a number and a unit, like {example}")
    unit = match["unit"]
    if not unit:
        raise UnitError(f"{kind} '{text}' has no unit", where, fix=f"write it like {example} (units: {units})")
    key = unit.lower() if any_case else unit
    if key not in table:
        raise UnitError(f"{kind} '{text}' has an unknown unit '{unit}'", where, fix=f"units are {units}")
    return Decimal(match["number"]) * table[key]
