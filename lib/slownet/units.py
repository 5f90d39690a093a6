"""Durations, rates and sizes as people write them, read once at the edge.

A number without a unit is an error: nobody can tell 10 ms from 10 s later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from slownet.errors import UnitError

_NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)?|\.\d+) ?(?P<unit>[A-Za-z]*|%)", re.ASCII)

SECONDS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
}

_SI = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_IEC = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

# tc's own table (iproute2 tc/tc_util.c), where "bit" is bit/s and "bps" is byte/s.
BITS_PER_SECOND = {
    prefix + unit: Decimal(scale * bits) for unit, bits in (("bit", 1), ("bps", 8)) for prefix, scale in (_SI | _IEC).items()
}

PERCENT = {"%": Decimal("0.01")}

BYTES = {prefix + "b": Decimal(scale) for prefix, scale in (_SI | _IEC).items()}


def duration(text: str) -> float:
    """Seconds in a duration such as ``"10ms"``, ``"0.1 ms"`` or ``"2min"``.

    Units: ns us ms s min h. Raises UnitError.
    """
    return float(_read(text, "duration", "10ms", "ns us ms s min h", SECONDS))


def rate(text: str) -> float:
    """Bit per second in a rate, read as tc reads it: ``"2000kbit"``, ``"1Gbit"``, ``"250kbps"``.

    As in tc, upper and lower case are one, ``bit`` counts bits, ``bps`` counts bytes (``1mbps`` is
    8,000,000 bit/s), and ``Ki Mi Gi Ti`` are powers of 1024. Raises UnitError.
    """
    return float(_read(text, "rate", "2000kbit", "bit kbit Mbit Gbit", BITS_PER_SECOND, any_case=True))


def size(text: str) -> int:
    """Bytes in a size such as ``"52kB"`` (52,000) or ``"250MiB"`` (262,144,000). Raises UnitError.

    Upper and lower case are one. Unlike tc, ``kb`` is 1000 bytes; write ``KiB`` for 1024.
    """
    number = _read(text, "size", "250MiB", "B kB MB GB KiB MiB GiB", BYTES, any_case=True)
    if number != int(number):
        raise UnitError(f"size '{text}' is not a whole number of bytes", fix="write it in B")
    return int(number)


def percent(text: str) -> float:
    """The part of one in a percentage from ``"0%"`` to ``"100%"``: ``"2.5%"`` is 0.025. Raises UnitError."""
    part = _read(text, "percentage", "1%", "%", PERCENT)
    if part > 1:
        raise UnitError(f"percentage '{text}' is above 100%", fix="write it like 1%")
    return float(part)


def show_percent(part: float) -> str:
    """A part of one for people, four digits at most: 0.025 gives ``"2.5 %"``."""
    return f"{float(f'{part * 100:.4g}'):g} %"


def show_rate(bits_per_second: float) -> str:
    """A rate for people, as tc writes it: 2e6 gives ``"2 Mbit"``."""
    scale, name = next(((s, n) for s, n in ((1e9, "Gbit"), (1e6, "Mbit"), (1e3, "kbit")) if bits_per_second >= s), (1.0, "bit"))
    return f"{float(f'{bits_per_second / scale:.6g}'):g} {name}"


def show_duration(seconds: float) -> str:
    """A duration for people, four digits at most: 0.010 gives ``"10 ms"``, 0 gives ``"0 ms"``."""
    rounded = float(f"{seconds:.4g}")
    if rounded == 0:
        return "0 ms"
    unit = "ns"
    for name, least in (("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 120.0), ("h", 7200.0)):
        if abs(rounded) >= least:
            unit = name
    number = float(f"{rounded / float(SECONDS[unit]):.4g}")
    return f"{number:g} {unit}" if abs(number) < 1e6 else f"{number:.0f} {unit}"


NAMED = {"ms": "ms", "s": "s", "mbit_per_s": "Mbit/s", "mib_per_s": "MiB/s", "per_s": "per second", "percent": "%"}
"""What a metric's or a condition's name may end with, the longest match counts."""


def spoken(name: str) -> str:
    """A metric's or a condition's name for a heading: ``"latency, ms"`` for ``"latency_ms"``, ``"MiB/s"`` for itself."""
    for ending in sorted(NAMED, key=len, reverse=True):
        if name == ending or name.endswith(f"_{ending}"):
            stem = name[: -len(ending)].rstrip("_").replace("_", " ")
            return f"{stem}, {NAMED[ending]}" if stem else NAMED[ending]
    return name.replace("_", " ")


def _read(text: str, kind: str, example: str, units: str, table: Mapping[str, Decimal], *, any_case: bool = False) -> Decimal:
    """The number in ``text`` times its unit's factor in ``table``, or a UnitError that says what is wrong."""
    if not isinstance(text, str):
        raise UnitError(f"{kind} {text!r} has no unit", fix=f'write it like "{example}" (units: {units})')
    stripped = text.strip()
    if stripped.startswith(("-", "\u2212")):
        raise UnitError(f"{kind} '{text}' is negative", fix=f"write it like {example}")
    match = _NUMBER.fullmatch(stripped)
    if match is None:
        raise UnitError(f"'{text}' is not a {kind}", fix=f"write a number and a unit, like {example}")
    unit = match["unit"]
    if not unit:
        raise UnitError(f"{kind} '{text}' has no unit", fix=f"write it like {example} (units: {units})")
    key = unit.lower() if any_case else unit
    if key not in table:
        raise UnitError(f"{kind} '{text}' has an unknown unit '{unit}'", fix=f"units are {units}")
    return Decimal(match["number"]) * table[key]
