"""The text of wrk and wrk2."""

from __future__ import annotations

import re

from slownet.links.traces.latencies import Latencies, Load
from slownet.links.traces.trace_format import HOW, Text, TextFormat
from slownet.model.errors import TraceError

_WRK = re.compile(r"\s*(?P<percent>\d{1,3}(?:\.\d+)?)%\s+(?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m)\s*")
_WRK_COUNT = re.compile(r"\s*(?P<count>\d+) requests in (?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m|h), .*")
_WRK_RATE = re.compile(r"Requests/sec:\s+(?P<rate>\d+(?:\.\d+)?)")
_WRK_MEAN = re.compile(r"\s*Latency\s+(?P<time>\d+(?:\.\d+)?)(?P<unit>us|ms|s|m)\s.*")
_WRK_ERRORS = re.compile(r"\s*(?:Socket errors: (?P<socket>.*)|Non-2xx or 3xx responses: (?P<status>\d+))")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def is_wrk(first: str) -> bool:
    """Return whether a first line is wrk's."""
    return re.fullmatch(r"Running \d+\S* test @ \S+", first) is not None


def wrk(text: str, where: str = "wrk") -> Latencies:
    """Read the text of wrk or wrk2; the first table of percentiles is taken. Raises TraceError."""
    percentiles: dict[float, float] = {}
    failed = 0
    found: dict[str, re.Match[str]] = {}
    for line in text.splitlines():
        for name, pattern in (("count", _WRK_COUNT), ("rate", _WRK_RATE), ("mean", _WRK_MEAN)):
            if match := pattern.fullmatch(line):
                found.setdefault(name, match)
        if match := _WRK.fullmatch(line):
            percentiles.setdefault(float(match["percent"]), float(match["time"]) * _UNITS[match["unit"]])
        elif match := _WRK_ERRORS.fullmatch(line):
            failed += int(match["status"] or sum(map(int, re.findall(r"\d+", match["socket"] or ""))))
    if missing := [name for name in ("count", "rate", "mean") if name not in found]:
        raise TraceError(f"its {missing[0]} is missing", where, HOW)
    mean, seconds = (float(found[name]["time"]) * _UNITS[found[name]["unit"]] for name in ("mean", "count"))
    count, rate = int(found["count"]["count"]), float(found["rate"]["rate"])
    return Latencies("wrk", count, failed, rate, None, mean, percentiles.get(100.0), percentiles, seconds)


def _read(text: Text) -> Load:
    return Load((wrk(text.content, text.where),))


FORMATS = (TextFormat(lambda text: is_wrk(text.first), _read),)
