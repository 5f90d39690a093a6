"""Recordings in steps: for so long the link has this rate, and in TheaterQ's files this delay, loss and queue.

Pensieve's files, which FCC's and Norway's measurements were made into, have lines of a time in seconds and a rate in Mbit/s; a
line's rate holds from the time of the line before, and the first line only shows when the recording begins
(https://github.com/hongzimao/pensieve, sim/fixed_env.py). TheaterQ's have lines KEEP,LATENCY,RATE,LOSS,LIMIT in us, ns, bit/s,
parts of 2^32 - 1 and packets, or, extended, KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY[,ROUTE_ID]
(https://github.com/cs7org/TheaterQ). Both begin again at their end.

"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.queueing import TOKENS_S, Queue
from slownet.links.conditions.schedule import Change, Schedule, Step, Track
from slownet.links.traces.mahimahi import CAVEAT, FRAME, paced
from slownet.links.traces.recording_file import text_of
from slownet.links.traces.trace_format import Mark, Text, TextFormat, quantile
from slownet.model.errors import TraceError

LONGEST_S = 7 * 24 * 3600.0
WHOLE = 2**32 - 1
"""TheaterQ's 100 %."""
SEVERAL = re.compile(r"[\d.eE+-]+([ \t,]+[\d.eE+-]+)+", re.ASCII)
"""A line of several numbers."""
SIMPLE, EXTENDED = (5,), (8, 9)
"""The number of columns of TheaterQ's lines."""


@dataclass(frozen=True)
class Piece:
    """A time when nothing changes."""

    seconds: float
    rate: float
    """bit/s of frames; 0 where nothing passes."""
    delay: float | None = None
    jitter: float = 0.0
    loss: float = 0.0
    limit: int | None = None


@dataclass(frozen=True)
class Steps:
    """A recording of one direction."""

    pieces: tuple[Piece, ...]

    @property
    def seconds(self) -> float:
        """The length of the recording."""
        return math.fsum(each.seconds for each in self.pieces)

    @property
    def rate(self) -> float:
        """The mean rate in bit/s."""
        return math.fsum(each.rate * each.seconds for each in self.pieces) / self.seconds

    def track(self, way: str) -> Track:
        """Return the steps for one direction of a link, "up" or "down"."""
        at, steps = 0.0, []
        for each in self.pieces:
            steps.append(Step(at, _change(each, way)))
            at += each.seconds
        return Track(tuple(steps), self.seconds if len(steps) > 1 else None)

    def facts(self) -> dict[str, object]:
        """Return the recording's rates, and its delays if it has any."""
        rates, delays = [each.rate for each in self.pieces], [each.delay for each in self.pieces if each.delay is not None]
        found: dict[str, object] = {
            "kind": "rates over time", "duration_s": self.seconds, "steps": len(self.pieces), "mean_rate_bit_s": self.rate,
            "min_rate_bit_s": min(rates), "max_rate_bit_s": max(rates),
        }  # fmt: skip
        return found | (of_delays(delays) if delays else {"caveat": CAVEAT})


@dataclass(frozen=True)
class BothWays:
    """Steps of both directions, of equal lengths: `up` is what the user sends, so the user's end is the link's first one."""

    up: Steps
    down: Steps

    def schedule(self) -> Schedule:
        """Return a schedule that plays both directions in step, again and again."""
        return schedule(self.up, self.down)

    def rtts(self) -> list[float]:
        """Return the round trip of each step, in seconds."""
        return [
            (there.delay or 0.0) + (back.delay or 0.0) for there, back in zip(self.up.pieces, self.down.pieces, strict=True)
        ]

    def facts(self) -> dict[str, object]:
        """Return what `Steps` has of the way down, and the rates of the way up."""
        rates_up = {name.replace("rate", "rate_up"): each for name, each in self.up.facts().items() if "rate_" in name}
        return self.down.facts() | {"kind": "rates over time, both directions"} | rates_up


def of_delays(delays: Sequence[float]) -> dict[str, object]:
    """Return facts of one-way delays in seconds."""
    return {"min_delay_s": min(delays), "delay_p50_s": quantile(delays, 0.5), "max_delay_s": max(delays)}


def pensieve(text: str, where: str = "trace") -> Steps:
    """Read a recording of Pensieve's. Raises TraceError, with the line."""
    pieces: list[Piece] = []
    before: float | None = None
    for place, words in _lines(text, where, str.split):
        if len(words) != 2:
            raise TraceError(f"{len(words)} numbers", place, "a line holds a time in s and a rate in Mbit/s")
        time, rate = (_number(each, place) for each in words)
        if before is not None:
            if time <= before:
                raise TraceError(f"{time:g} s after {before:g} s", place, "the times of a trace must increase")
            pieces.append(Piece(time - before, rate * 1e6))
        before = time
    return _steps(pieces, where)


def theaterq(text: str, where: str = "trace") -> Steps:
    """Read a recording of TheaterQ's, simple or extended; what is duplicated is left out. Raises TraceError, with the line."""
    pieces = []
    for place, words in _lines(text, where, lambda line: line.split(",")):
        if len(words) not in SIMPLE + EXTENDED:
            raise TraceError(f"{len(words)} numbers", place, "a line holds KEEP,LATENCY,RATE,LOSS,LIMIT")
        keep, latency, *rest = (_number(each.strip(), place) for each in words)
        jitter, rate, loss, limit = rest[:4] if len(words) in EXTENDED else (0.0, *rest)
        if not keep or not rate or not limit or loss > WHOLE:
            raise TraceError("KEEP, RATE or LIMIT is 0, or LOSS above 4294967295", place, "correct the line")
        pieces.append(Piece(keep / 1e6, rate, latency / 1e9, jitter / 1e9, loss / WHOLE, int(limit)))
    return _steps(pieces, where)


def load(path: str | Path) -> Steps:
    """Read a file of either kind: TheaterQ's have commas. Raises TraceError."""
    return parse(text_of(path), str(path))


def parse(text: str, where: str = "trace") -> Steps:
    """Read a text of either kind. Raises TraceError, with the line."""
    first = next((line for line in text.splitlines() if line[:1].isdigit()), "")
    return (theaterq if "," in first else pensieve)(text, where)


def schedule(up: Steps | str | Path | None = None, down: Steps | str | Path | None = None) -> Schedule:
    """Return a schedule that plays recordings (files or read ones) in step; the rest of the link's condition stays.

    A link has one size of queue for both directions: that of the last step of either. Raises TraceError, ConditionError.
    """
    given = [(way, each) for way, each in (("up", up), ("down", down)) if each is not None]
    if not given:
        raise TraceError("no trace is given", "schedule of steps", 'schedule("FILE.up", "FILE.down")')
    return Schedule(tuple((each if isinstance(each, Steps) else load(each)).track(way) for way, each in given))


def _change(piece: Piece, way: str) -> Change:
    rate = max(piece.rate, paced(piece.seconds, 1))  # where nothing passes, one frame: a bucket cannot have the rate 0
    # A token bucket, because netem's own rate dooms a packet that waits to the rate at which it came.
    fields: dict[str, Any] = {f"rate_{way}": rate, "burst": max(FRAME, round(rate / 8 * TOKENS_S))}
    if piece.delay is not None:
        loss = Chance(piece.loss) if piece.loss else None
        fields |= {way: piece.delay, f"jitter_{way}": piece.jitter, f"loss_{way}": loss}
    if piece.limit is not None:
        fields["queue"] = Queue(piece.limit, "packets")
    return Change(tuple(fields.items()))


def _lines(text: str, where: str, split: Callable[[str], list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines that hold numbers, and the place of each."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and (line.strip()[0].isdigit() or line.strip()[0] in "+-."):
            yield f"{where} line {number}", split(line.strip())


def _number(text: str, place: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise TraceError(f"'{text[:40]}' is not a number from 0", place, "correct the line")
    return found


def _steps(pieces: Sequence[Piece], where: str) -> Steps:
    if not pieces:
        raise TraceError("the trace has no length", where, "it needs a line more")
    found = Steps(tuple(pieces))
    if found.seconds > LONGEST_S:
        raise TraceError("the trace is longer than a week", where, "cut it into parts")
    return found


def _fits(text: Text) -> bool:
    return SEVERAL.fullmatch(text.first) is not None or text.first.startswith(("#", "KEEP"))


FORMATS = (TextFormat(_fits, lambda text: parse(text.content, text.where), Mark.NUMBERS),)
