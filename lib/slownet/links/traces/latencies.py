"""Latencies that load tools wrote; percentiles of requests are nearest ranks, those of a summary are the tool's own.

A latency is not a round trip of the network: it states no condition.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.links.traces.trace_format import HOW, Text, quantile
from slownet.model.errors import TraceError

PERCENTS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Latencies:
    """Latencies as a tool wrote them, in seconds; None is what it does not state. ``rate``: requests per second."""

    tool: str
    count: int | None
    failed: int | None
    rate: float | None
    least: float | None
    mean: float | None
    most: float | None
    percentiles: Mapping[float, float]
    seconds: float | None = None
    tag: str = ""


@dataclass(frozen=True)
class Load:
    """The latencies that a load tool wrote; of a log of histograms, for each tag."""

    parts: tuple[Latencies, ...]

    def facts(self) -> dict[str, object]:
        """Return each part's numbers that are known; a tag is before their names."""
        found: dict[str, object] = {"kind": f"latencies of {self.parts[0].tool}"}
        for part in self.parts:
            tag = f"{part.tag}_" if part.tag else ""
            known = {
                "requests": part.count, "failed": part.failed, "duration_s": part.seconds, "requests_per_second": part.rate,
                "min_latency_s": part.least, "mean_latency_s": part.mean, "max_latency_s": part.most,
                **{f"latency_p{each:g}_s": value for each, value in part.percentiles.items()},
            }  # fmt: skip
            found |= {tag + name: value for name, value in known.items() if value is not None}
        return found


def of_requests(tool: str, latencies: Sequence[float], failed: int, seconds: float | None, where: str) -> Latencies:
    """Summarize the latencies of single requests, in seconds. Raises TraceError if none is given."""
    if not latencies:
        raise TraceError("it has no request", where, HOW)
    ordered = sorted(latencies)
    ranks = {each: quantile(ordered, each / 100) for each in PERCENTS}
    mean = math.fsum(ordered) / len(ordered)
    rate = len(ordered) / seconds if seconds else None
    return Latencies(tool, len(ordered), failed, rate, ordered[0], mean, ordered[-1], ranks, seconds)


def of_table(read: Callable[[str, str], Latencies]) -> Callable[[Text], Load]:
    """Return what reads a text by a function of its content and its name in errors."""
    return lambda text: Load((read(text.content, text.where),))


def number(value: Any) -> float:
    """Return a number of JSON, from 0. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{value!r:.40} is not a number")
    return float(value)


def span(starts: Sequence[float], took: Sequence[float]) -> float | None:
    """Return the seconds from the first request's begin to the last one's end."""
    ends = [start + each for start, each in zip(starts, took, strict=True)]
    return max(ends) - min(starts) if ends else None


def rows(text: str, where: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table by the names of its columns. Raises TraceError."""
    try:
        yield from csv.DictReader(text.splitlines())
    except csv.Error as error:
        raise TraceError(f"it is not a table ({str(error)[:80]})", where, HOW) from error


def stated(row: Mapping[str, str], name: str, where: str) -> float:
    """Return a number of a row. Raises TraceError."""
    try:
        return number(float(row[name]))
    except (KeyError, TypeError, ValueError) as error:
        raise TraceError(f"a row has '{str(row.get(name))[:40]}' as its {name}", where, HOW) from error
