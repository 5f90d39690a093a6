"""CellReplay's recordings of mobile networks: base delays, and the packets that can pass, of one direction.

A line of the delays holds a time in ms, the delay of a lone packet in ms, and the times, in ms after that packet, at which
others of a short train arrived; between two lines the delay is interpolated. The other file is one of Mahimahi's, but each of
its lines is for 1400 bytes (https://github.com/williamsentosa95/cellreplay, src/frontend/cellular_queue.cc). Sentosa,
Chandrasekaran, Godfrey and Hassanieh, "CellReplay: towards accurate record-and-replay for cellular networks", NSDI 2025.

A link has one bottleneck, so what a short train saw is left out: as with Mahimahi's files, the rate is that of a full network.
The delays are those of lone packets, which such files do not have.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.links.conditions.link import ETHERNET
from slownet.links.traces import mahimahi
from slownet.links.traces.mahimahi import LONGEST_MS, Opportunities
from slownet.links.traces.recording_file import text_of
from slownet.links.traces.stepped import Piece, Steps, of_delays
from slownet.links.traces.trace_format import Text, TextFormat
from slownet.model.errors import TraceError

OPPORTUNITY = 1400
"""Bytes of IP packets that a line of the other file lets pass."""
BIN_MS = 100
FEWEST = 3
"""Lines of delays, as CellReplay asks for."""
_LINE = re.compile(r"\d+( \d+){2,} ?", re.ASCII)
"""A line of delays."""
Delays = Sequence[tuple[int, int]]
"""Times and one-way delays, in ms."""


@dataclass(frozen=True)
class LoneDelays:
    """The one-way delays of lone packets, in seconds, every 100 ms."""

    delays: tuple[float, ...]

    def facts(self) -> dict[str, object]:
        """Return the length of the recording and its delays."""
        return {"kind": "CellReplay's delays", "duration_s": len(self.delays) * BIN_MS / 1000, **of_delays(self.delays)}


def delays(text: str, where: str = "trace") -> Delays:
    """Read the file of delays. Raises TraceError, with the line."""
    found: list[tuple[int, int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{where} line {number}"
        words = line.split()
        if len(words) < 2 or not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
            raise TraceError(
                f"'{line[:40]}' is not a line of delays", place, "it holds a time and a delay in whole ms, then more times"
            )
        at, delay = int(words[0]), int(words[1])
        if found and at < found[-1][0]:
            raise TraceError(f"{at} ms after {found[-1][0]} ms", place, "the times of a trace must not decrease")
        found.append((at, delay))
    if len(found) < FEWEST or not 0 < found[-1][0] - found[0][0] <= LONGEST_MS:
        raise TraceError("there are too few lines, or they last longer than a week", where, f"give {FEWEST} lines or more")
    return [(at - found[0][0], delay) for at, delay in found]


def load(delay_file: str | Path, opportunity_file: str | Path) -> Steps:
    """Read both files of one direction; the second begins again at its end. Raises TraceError."""
    return combined(delays(text_of(delay_file), str(delay_file)), mahimahi.load(opportunity_file))


def combined(base: Delays, opportunities: Opportunities) -> Steps:
    """Return the steps, of 100 ms, of delays and of what can pass."""
    packets = opportunities.packets(BIN_MS / 1000)
    seconds = opportunities.seconds / len(packets)
    rates = [8 * count * (OPPORTUNITY + ETHERNET) / seconds for count in packets]
    return Steps(tuple(_pieces(base, rates)))


def lone(base: Delays) -> list[float]:
    """Return the delay of a lone packet in each step of 100 ms, in seconds."""
    return [piece.delay or 0.0 for piece in _pieces(base, [0.0])]


def _pieces(base: Delays, rates: Sequence[float]) -> Iterator[Piece]:
    times = [at for at, _ in base]
    for number in range(max(1, -(-times[-1] // BIN_MS))):
        middle = min((number + 0.5) * BIN_MS, times[-1])
        after = min(max(bisect_right(times, middle), 1), len(times) - 1)
        (early, first), (late, last) = base[after - 1], base[after]
        delay = first + (last - first) * min(1.0, (middle - early) / max(1, late - early))
        yield Piece(BIN_MS / 1000, rates[number % len(rates)], delay / 1000)


def _read(text: Text) -> LoneDelays:
    return LoneDelays(tuple(lone(delays(text.content, text.where))))


FORMATS = (TextFormat(lambda text: _LINE.fullmatch(text.first) is not None, _read),)
