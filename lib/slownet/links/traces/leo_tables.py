"""Tables of what was measured over Starlink: those of LENS and of WetLinks.

LENS (Zhao and Pan, "LENS: a LEO satellite network measurement dataset", MMSys 2024; https://github.com/clarkzjw/LENS) has
`timestamp,rtt` of pings, in seconds and ms, and `timestamp,rtt,uplink,downlink` of irtt, in ns and ms, where -1 is a loss; of
pings it has only those that were answered.

WetLinks (Laniewski, Lanfer, Meijerink, van Rijswijk-Deij and Aschenbruck, 2024; https://github.com/sys-uos/WetLinks) has the
columns timestamp_start and timestamp_end (ISO 8601), download and upload (bit/s), and in its `analysis_data` also ping_avg (ms)
and ping_packet_loss (%). Its measurements are minutes apart, and follow each other here without the time between them.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from datetime import datetime

from slownet.links.traces.pinglog import Pinged, PingLog, each_way
from slownet.links.traces.stepped import LONGEST_S, BothWays, Piece, Steps
from slownet.links.traces.trace_format import TextFormat
from slownet.model.errors import TraceError

OF_PINGS, OF_IRTT = ("timestamp", "rtt"), ("timestamp", "rtt", "uplink", "downlink")
OF_RATES = ("timestamp_start", "timestamp_end", "download", "upload")
LOST = -1.0


def is_lens(header: str) -> bool:
    """Return whether a first line is that of a table of LENS."""
    return _names(header) in (OF_PINGS, OF_IRTT)


def is_wetlinks(header: str) -> bool:
    """Return whether a first line is that of a table of WetLinks with rates."""
    return set(OF_RATES) <= set(_names(header))


def lens(text: str, where: str = "table") -> PingLog:
    """Read a table of LENS, of pings or of irtt. Raises TraceError, with the line."""
    irtt = _names(text.partition("\n")[0]) == OF_IRTT
    if not irtt and not is_lens(text.partition("\n")[0]):
        raise TraceError("it is not a table of LENS", where, f"its first line is {','.join(OF_PINGS)} or {','.join(OF_IRTT)}")
    found: list[tuple[float, float | None]] = []
    for place, row in _rows(text, where):
        at, *times = (_number(row, name, place) for name in (OF_IRTT if irtt else OF_PINGS))
        if math.isnan(at) or not (times[0] >= 0 or LOST in times):
            raise TraceError(f"a round trip of {times[0]:g} ms at {at:g}", place, "correct the line")
        found.append((at / 1e9 if irtt else at, None if LOST in times else times[0] / 1000))
    found.sort(key=lambda each: each[0])
    if sum(rtt is not None for _, rtt in found) < 2:
        raise TraceError("fewer than two round trips", where, "give a longer table")
    return PingLog(tuple(Pinged(at - found[0][0], rtt) for at, rtt in found), where)


def wetlinks(text: str, where: str = "table") -> BothWays:
    """Read a table of WetLinks with rates, and with delays and losses if it has them. Raises TraceError, with the line."""
    if not is_wetlinks(text.partition("\n")[0]):
        raise TraceError("it is not a table of WetLinks with rates", where, f"its columns are {', '.join(OF_RATES)} and others")
    up: list[Piece] = []
    down: list[Piece] = []
    for place, row in _rows(text, where):
        rates = [_number(row, name, place) for name in ("upload", "download")]
        seconds = _time(row, "timestamp_end", place) - _time(row, "timestamp_start", place)
        if any(map(math.isnan, rates)) or seconds <= 0:
            continue  # measured in one direction only, or without an end
        rtt, lost = (_number(row, name, place) for name in ("ping_avg", "ping_packet_loss"))
        if any(each < 0 for each in (*rates, rtt, lost)):
            raise TraceError("a negative number", place, "correct the line")
        delay = None if math.isnan(rtt) else rtt / 2000
        loss = 0.0 if math.isnan(lost) else each_way(min(lost, 100.0) / 100)
        for pieces, rate in ((up, rates[0]), (down, rates[1])):
            pieces.append(Piece(seconds, rate, delay, loss=loss))
    if not up:
        raise TraceError("no measurement has both rates", where, "give another table")
    found = BothWays(Steps(tuple(up)), Steps(tuple(down)))
    if found.up.seconds > LONGEST_S:
        raise TraceError("the trace is longer than a week", where, "cut it into parts")
    return found


def _names(header: str) -> tuple[str, ...]:
    return tuple(header.strip().split(","))


def _rows(text: str, where: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2):
            yield f"{where} line {number}", row
    except csv.Error as error:
        raise TraceError(str(error), where, "not a CSV file") from error


def _number(row: Mapping[str, str | None], name: str, place: str) -> float:
    """Return a number of a row: NaN if it is empty, as in the tables, or not there."""
    text = row.get(name) or "nan"
    try:
        found = float(text)
    except ValueError:
        found = math.inf
    if math.isinf(found):
        raise TraceError(f"'{text[:40]}' is not a number", place, "correct the line")
    return found


def _time(row: Mapping[str, str | None], name: str, place: str) -> float:
    text = row.get(name) or ""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise TraceError(f"'{text[:40]}' is not a time", place, "it is written like 2024-01-31T12:00:00+00:00") from None


FORMATS = (
    TextFormat(lambda text: is_lens(text.first), lambda text: lens(text.content, text.where)),
    TextFormat(lambda text: is_wetlinks(text.first), lambda text: wetlinks(text.content, text.where)),
)
