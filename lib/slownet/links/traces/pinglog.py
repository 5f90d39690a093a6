"""Turns a plain log of `ping` into a schedule or a condition: `ping -D -i 0.2 HOST > home.txt`.

`schedule` makes a link's delay and loss follow the log second by second. `condition` uses the log as a sample: delays are
drawn from its distribution, and losses come in bursts of the same mean length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median

from slownet.links.conditions.field_row import Fields
from slownet.links.conditions.impairment import Chance, GilbertElliott
from slownet.links.conditions.link import Condition
from slownet.links.conditions.schedule import Change, Schedule, Step, Track
from slownet.links.traces.drawn_delays import drawn_from
from slownet.links.traces.ping_runs import HOW, Run, is_fping, is_windows, of_fping, of_ping, of_windows
from slownet.links.traces.recording_file import text_of
from slownet.links.traces.trace_format import PERCENTILES, Mark, TextFormat, quantile
from slownet.model.errors import TraceError
from slownet.model.units import duration

MOST = 10_000_000
"""Pings of a log: at the usual one a second, four months."""


@dataclass(frozen=True)
class Pinged:
    """One ping: seconds after the first one, and its round trip in seconds, None if it was lost."""

    at: float
    rtt: float | None


@dataclass(frozen=True)
class PingLog:
    """A log of pings in the order they were sent, made by `parse` or `load`."""

    pings: tuple[Pinged, ...]
    where: str = "log"

    @cached_property
    def rtts(self) -> list[float]:
        """Round trips of the answered pings, in seconds."""
        return [each.rtt for each in self.pings if each.rtt is not None]

    @cached_property
    def lost(self) -> list[bool]:
        """True if each ping was lost."""
        return [each.rtt is None for each in self.pings]

    @property
    def loss(self) -> float:
        """The share of pings that was lost."""
        return sum(self.lost) / len(self.lost)

    @property
    def interval(self) -> float:
        """The median time between two pings, in seconds."""
        return median(after.at - before.at for before, after in pairwise(self.pings))

    @property
    def seconds(self) -> float:
        """The length of the log in seconds, until the next ping would have been sent."""
        return self.pings[-1].at + self.interval

    @cached_property
    def bursts(self) -> GilbertElliott | None:
        """Gilbert and Elliott's model of the losses, per ping; None if none was lost."""
        return GilbertElliott.fitted(self.lost) if any(self.lost) else None

    def schedule(self, every: str = "1s", *, repeat: bool = False) -> Schedule:
        """Return a schedule of the log's delay and loss; the rest of the link's condition stays.

        every: the time that is averaged into one step; each direction's delay is half of the mean round trip. A step whose
        pings were all lost cuts the link. repeat: start over at the end; otherwise the last step lasts. When the delay
        decreases, later packets may overtake earlier ones. Raises UnitError, TraceError.
        """
        length = duration(every)
        if not length:
            raise TraceError("steps must be longer than 0", self.where, 'write it like every="1s"')
        steps = []
        for number, group in groupby(self.pings, key=lambda each: int(each.at / length + 1e-9)):
            pings = list(group)
            rtts = [each.rtt for each in pings if each.rtt is not None]
            loss = each_way(1 - len(rtts) / len(pings))
            fields: Fields = {"loss": Chance(loss) if loss else None}
            if rtts:
                fields |= dict.fromkeys(("up", "down"), sum(rtts) / len(rtts) / 2)
            steps.append(Step(number * length, Change(tuple(fields.items()))))
        again = max(self.seconds, steps[-1].at + length) if repeat else None
        return Schedule((Track(tuple(steps), again),))

    def condition(self) -> Condition:
        """Return a condition with the log's distribution of round trips, its loss, and its mean burst length.

        The loss of round trips is divided between the directions. Raises ConditionError.
        """
        loss = None
        if self.bursts:
            mean_loss = each_way(self.bursts.mean)
            loss = GilbertElliott(min(1.0, mean_loss * self.bursts.r / (1 - mean_loss)), self.bursts.r)
        return Condition(**drawn_from(self.rtts), loss=loss)

    def facts(self) -> dict[str, object]:
        """Return the log's numbers, and the model of its losses."""
        found: dict[str, object] = {
            "kind": "log of pings", "duration_s": self.seconds, "interval_s": self.interval, "pings": len(self.pings),
            "lost": sum(self.lost), "loss_share": self.loss, "min_rtt_s": min(self.rtts),
            "mean_rtt_s": math.fsum(self.rtts) / len(self.rtts), "max_rtt_s": max(self.rtts),
            **{f"rtt_p{each}_s": quantile(self.rtts, each / 100) for each in PERCENTILES},
        }  # fmt: skip
        if model := self.bursts:
            found["bursts"] = f"gemodel {100 * model.p:.4g}% {100 * model.r:.4g}% ({model} pings)"
        return found


def each_way(loss: float) -> float:
    """Return the loss of each direction, independent of the other, that makes the share `loss` of round trips fail."""
    return 1 - math.sqrt(1 - loss)


def parse(text: str, where: str = "log", *, interval: float | None = None) -> PingLog:
    """Read the output of ping, of one run or more: of iputils, busybox, BSD and macOS in the C locale, of Windows, of fping.

    Its last lines may be missing. interval: seconds between two pings, for a log without times (without `-D`); by default from
    ping's summary, or ping's default of 1 s. Raises TraceError with the line that is not understood.
    """
    read = of_fping if is_fping(text) else of_windows if is_windows(text) else of_ping
    return joined(read(text, where), where, interval=interval)


def joined(runs: Sequence[Run], where: str, *, interval: float | None = None) -> PingLog:
    """Return the log of runs that follow each other.

    A run with times of day begins at its first one; any other when the run before it has ended. Raises TraceError.
    """
    if (answered := sum(len(each.answers) for each in runs)) < 2:
        raise TraceError(f"too few pings were answered ({answered})", where, HOW)
    if (count := sum(len(each.numbers) for each in runs)) > MOST:
        raise TraceError(f"{count} pings", where, f"a log has at most {MOST}: cut it into parts")
    pings: list[Pinged] = []
    zero: float | None = None
    begin = 0.0
    for run in runs:
        start, times = replace(run, pace=interval or run.pace).times()
        if start is not None:
            zero = start - begin if zero is None else zero
            begin = max(begin, start - zero)  # a clock that was set back makes no ping earlier
        answers = (run.answers.get(number) for number in run.numbers)
        pings += [Pinged(begin + at, each[0] if each else None) for at, each in zip(times, answers, strict=True)]
        begin = pings[-1].at + (times[-1] - times[-2] if len(times) > 1 else interval or run.pace or 1.0)
    return PingLog(tuple(pings), where)


def load(path: str | Path, *, interval: str | None = None) -> PingLog:
    """Read a log's file. Raises TraceError, UnitError."""
    return parse(text_of(path), str(path), interval=None if interval is None else duration(interval))


FORMATS = (TextFormat(lambda text: not text.is_json, lambda text: parse(text.content, text.where), Mark.REST),)
