"""HdrHistogram's logs of Java programs, format 1.3: compressed histograms V2, and tags, whose intervals are merged."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from slownet.links.traces.latencies import PERCENTS, Latencies, Load
from slownet.links.traces.trace_format import HOW, Text, TextFormat
from slownet.model.errors import TraceError


def is_histogram_log(text: str) -> bool:
    """Return whether a text has the lines of an HdrHistogram log."""
    lines: Iterable[str] = text.splitlines()[:20]
    return any("StartTimestamp" in line and "Interval_Compressed_Histogram" in line for line in lines) or any(
        line.startswith(("#[Histogram log format version", "#[StartTime:", "#[BaseTime:")) for line in lines
    )


_HISTOGRAM_LINE = re.compile(
    r"(?:Tag=(?P<tag>[^,\s]+),)?(?P<start>\d+(?:\.\d+)?),(?P<length>\d+(?:\.\d+)?),(?P<most>\d+(?:\.\d+)?),(?P<packed>[A-Za-z0-9+/=]+)"
)
_NS = 1e9
MOST_OF_A_HISTOGRAM = 16 << 20
"""Bytes of one histogram of a log, unpacked. An hour in ns with five digits has 3 million counts, of a byte or a few each."""
MOST_COUNTS = 1 << 24
"""Counts of all of a log's tags together, of 8 bytes each in memory."""


def histogram_log(text: str, where: str = "log") -> list[Latencies]:
    """Read an HdrHistogram log, whose values are ns: one result for each tag, of all of its intervals. Raises TraceError."""
    from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

    merged: dict[str, Any] = {}
    spans: dict[str, tuple[float, float]] = {}
    counts = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith(("#", '"')):
            continue
        place = f"{where} line {number}"
        found = _HISTOGRAM_LINE.fullmatch(line.strip())
        if not found:
            raise TraceError(f"'{line[:40]}' is not a line of a histogram log", place, HOW)
        _need_small(found["packed"], place)
        try:
            histogram = HdrHistogram.decode(found["packed"])
        except Exception as error:  # hdrh raises several kinds of its own, of base64, zlib and ctypes
            raise TraceError(f"its histogram cannot be read ({type(error).__name__})", place, HOW) from error
        tag, start = found["tag"] or "", float(found["start"])
        span = spans.get(tag, (start, start))
        spans[tag] = min(span[0], start), max(span[1], start + float(found["length"]))
        if tag in merged:
            merged[tag].add(histogram)
        else:
            merged[tag], counts = histogram, counts + histogram.counts_len
            if counts > MOST_COUNTS:
                raise TraceError(
                    f"its histograms have more than {MOST_COUNTS:,} counts", place, "keep fewer tags, or fewer digits"
                )
    if not merged or not all(each.get_total_count() for each in merged.values()):
        raise TraceError("it has no histogram with a value", where, HOW)
    return [_of_histogram(tag, each, spans[tag]) for tag, each in merged.items()]


def _need_small(packed: str, place: str) -> None:
    """Raise TraceError if what a line holds would be unpacked to more than MOST_OF_A_HISTOGRAM."""
    unpacking = zlib.decompressobj()
    with suppress(ValueError, zlib.error):  # its reader says what is wrong with it
        unpacking.decompress(base64.b64decode(packed)[8:], MOST_OF_A_HISTOGRAM)
        if unpacking.unconsumed_tail:
            raise TraceError(f"its histogram has more than {MOST_OF_A_HISTOGRAM >> 20} MiB, unpacked", place, HOW)


def _of_histogram(tag: str, histogram: Any, span: tuple[float, float]) -> Latencies:
    count, seconds = histogram.get_total_count(), span[1] - span[0]
    percentiles = {each: histogram.get_value_at_percentile(each) / _NS for each in PERCENTS}
    least, mean, most = (
        value / _NS for value in (histogram.get_min_value(), histogram.get_mean_value(), histogram.get_max_value())
    )
    return Latencies(
        "HdrHistogram", count, None, count / seconds if seconds else None, least, mean, most, percentiles, seconds, tag
    )


def _read(text: Text) -> Load:
    return Load(tuple(histogram_log(text.content, text.where)))


FORMATS = (TextFormat(lambda text: is_histogram_log(text.content), _read),)
