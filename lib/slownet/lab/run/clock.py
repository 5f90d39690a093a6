"""The lab's clock: real, or virtual with a time dilation factor (TDF)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slownet.lab.host.counter import PROCESS, PROCESSOR
from slownet.model.errors import LabError, nearest
from slownet.model.options import CLOCK, CPU, TDF, Option
from slownet.model.units import duration, whole_number

if TYPE_CHECKING:
    from slownet.model.facts import ClockFacts

INF = math.inf
TDF_INF = "inf"
"""The infinite TDF in options and records."""
WORK, TIME, FREE = "work", "time", "free"
"""The charging of CPU on a virtual clock: retired instructions, CPU time, or nothing."""
INSTRUCTIONS = "instructions"
"""The charging of the exact clock, which counts them itself."""
EXACT = "exact"
LIMIT = Option("limit")
KINDS = ("real", "virtual", EXACT)
OF_ONE_SPEED = ("real", EXACT)
"""Clocks without a time dilation factor."""
SPEED, MOST_SPEED = 3, 20
"""Instructions in a nanosecond of the exact clock, unless asked for others, and at most."""
IDLE_POLL_US = 200
"""The time before a timer at which an idle lab begins to poll: a sleeping process wakes about 0.1 ms late, on every
crossing of a delayed link."""
LIMIT_S = 30 * 86_400
"""Idling for that long on the virtual clock takes about ten seconds of CPU."""
EXACT_LIMIT_S = 6 * 3600
"""The same for the exact clock, where idling takes a thousandth of that time."""


@dataclass(frozen=True)
class Clock:
    """A lab's clock. `kind` is one of `KINDS`; `tdf` is how many times faster the CPU looks from inside (inf: free).

    `counter`: the scope of the instruction counter that the virtual clock charges by (`slownet.lab.host.counter`); empty if it
    charges CPU time.

    `limit_s`: how long a command may print nothing, in seconds of the virtual clock: one that waits forever would keep the host
    busy forever. A command that may still get input, from a terminal or an open standard input, has no limit.

    `speed`: how many instructions the exact clock counts in a nanosecond.
    """

    kind: str = "real"
    tdf: float = 1
    limit_s: int | None = None
    counter: str = ""
    speed: int = SPEED

    @property
    def is_exact(self) -> bool:
        """True if it counts instructions in an emulated machine."""
        return self.kind == EXACT

    @property
    def silence_s(self) -> int:
        """The limit that the lab is given; 0 for none."""
        if self.kind == "real":
            return 0
        return (EXACT_LIMIT_S if self.is_exact else LIMIT_S) if self.limit_s is None else self.limit_s

    @property
    def cpu(self) -> str | None:
        """The charging of CPU, as in records: "work", "time", "free" or "instructions"; None on the real clock."""
        if self.kind == "real":
            return None
        if self.is_exact:
            return INSTRUCTIONS
        return FREE if self.tdf == INF else WORK if self.counter else TIME

    @property
    def is_apart(self) -> bool:
        """True if the time of a lab does not depend on what else the machine does, so that labs may run side by side."""
        return self.kind != "real"

    @property
    def cpu_is_free(self) -> bool:
        """True if CPU is free, so that times depend on the network alone."""
        return self.cpu == FREE

    def arguments(self, processor: int) -> list[str]:
        """Return the kernel arguments of a lab on that processor."""
        # The virtual clock skips what an idle lab would sleep, so that no process can wake late and nothing has to be polled.
        if self.kind == "real":
            return [f"idle-poll={IDLE_POLL_US}"]
        words = ["skip-idle", f"tdf={self.tdf_text}"]
        if self.tdf == INF:
            words.append("tdf-agent=1")  # the process of init.c, which talks to the host
        if self.cpu == WORK:
            words.append(f"work-clock={processor if self.counter == PROCESSOR else PROCESS}")
        return words

    @property
    def tdf_text(self) -> str:
        return TDF_INF if self.tdf == INF else str(int(self.tdf))

    @property
    def tdf_json(self) -> int | str | None:
        """The TDF as in records: a whole number, `TDF_INF`, or None where the clock is not virtual."""
        if self.kind != "virtual":
            return None
        return TDF_INF if self.tdf == INF else int(self.tdf)

    @property
    def facts(self) -> ClockFacts:
        """The clock as in records: {"clock", "tdf", "cpu"}."""
        return {"clock": self.kind, "tdf": self.tdf_json, "cpu": self.cpu}

    def __str__(self) -> str:
        return in_words(self.kind, self.tdf_json, self.cpu, self.speed if self.is_exact else None)


def in_words(kind: str, tdf: int | str | None, cpu: str | None, speed: int | None = None) -> str:
    """Describe a clock of a record for people: "virtual clock, TDF 3, work charged", "exact clock, 3 instructions/ns"."""
    parts = [f"{kind} clock", f"TDF {tdf}" if tdf is not None else "", "work charged" if cpu == WORK else ""]
    parts.append(f"{speed} instructions/ns" if speed else "")
    return ", ".join(filter(None, parts))


def _speed(text: str) -> int:
    """Return the speed of an exact clock. Raises LabError."""
    speed = whole_number(text)
    if speed is None or not 1 <= speed <= MOST_SPEED:
        what = f"invalid number of instructions in a nanosecond, '{text}'"
        raise LabError(what, CLOCK.set(EXACT), f"write {EXACT}:N with a whole number from 1 to {MOST_SPEED}")
    return speed


def check_cpu(text: str) -> str | None:
    """Return "work" or "time", or None for "auto". Raises LabError."""
    if text not in (WORK, TIME, "auto"):
        raise LabError(f"unknown way to charge the CPU '{text}'", where=CPU, fix=nearest(text, [WORK, TIME, "auto"]))
    return None if text == "auto" else text


def check_kind(text: str) -> str:
    """Return "real", "virtual" or "exact". Raises LabError."""
    if text not in KINDS:
        raise LabError(f"unknown clock '{text}'", where=CLOCK, fix=nearest(text, KINDS))
    return text


@dataclass(frozen=True)
class ClockRequest:
    """The requested clock, as on the command line; the place decides what is None.

    `clock`: one of `KINDS`; after the exact one ``:N``, the number of instructions that it counts in a nanosecond; `tdf`: a
    factor, as `check_tdf` takes it; `cpu`: what is charged, as `check_cpu` takes it.
    """

    clock: str | None = None
    tdf: str | None = None
    cpu: str | None = None

    @property
    def names_a_clock(self) -> bool:
        """True if a clock was requested, by its name or by the factor that only one of them has."""
        return self.clock is not None or self.tdf is not None

    @property
    def cpu_may_be_free(self) -> bool:
        """True if neither a factor nor what is charged was requested: then the CPU of a virtual clock may be free."""
        return self.tdf is None and self.cpu is None

    @property
    def kind(self) -> str | None:
        """The clock. Raises LabError if it does not exist."""
        return check_kind(self.clock.partition(":")[0]) if self.clock is not None else None

    @property
    def speed(self) -> int | None:
        """The instructions of the exact clock in a nanosecond; None if the place decides. Raises LabError."""
        kind, colon, number = (self.clock or "").partition(":")
        if colon and kind != EXACT:
            what = "only the exact clock has a number of instructions in a nanosecond"
            raise LabError(what, CLOCK.set(self.clock), f"write {kind}, or {EXACT}:{number}")
        return _speed(number) if colon else None

    @property
    def factor(self) -> float | None:
        """The time dilation factor; None if it is to be measured. Raises LabError if it is not one."""
        return check_tdf(self.tdf) if self.tdf is not None else None

    @property
    def charged(self) -> str | None:
        """The requested charging of CPU; None if the place decides. Raises LabError if it does not exist."""
        return check_cpu(self.cpu) if self.cpu is not None else None

    @property
    def takes_a_lab(self) -> bool:
        """True if only a lab has such a clock."""
        return self.kind in ("virtual", EXACT) or self.tdf is not None or self.charged is not None

    def check(self) -> None:
        """Raise LabError if a part is invalid, or if parts contradict each other."""
        kind, factor, charged = self.kind, self.factor, self.charged
        if self.tdf is not None and kind in OF_ONE_SPEED:
            what = f"a time dilation factor ({self.tdf}) has no meaning on the {kind} clock"
            raise LabError(what, TDF, "leave out one of them")
        if charged is not None and (kind in OF_ONE_SPEED or factor == INF):
            where = f"the {kind} clock" if kind in OF_ONE_SPEED else "a virtual clock with free CPU"
            what = f"{where} does not charge {'CPU time' if charged == TIME else charged}"
            raise LabError(what, CPU, f"leave out {CPU}")
        _ = self.speed  # raises LabError for a number that is none, or of another clock

    def or_real(self) -> ClockRequest:
        """Return the request of an interactive command: for the real clock, unless a virtual one is asked for."""
        return self if self.names_a_clock or self.cpu is not None else replace(self, clock="real")

    def __str__(self) -> str:
        parts = [f"{self.clock} clock" if self.clock else "", f"TDF {self.tdf}" if self.tdf else ""]
        return ", ".join(filter(None, parts)) or "the default clock"


ANY_CLOCK = ClockRequest()
"""A request that leaves everything to the place."""


def check_limit(text: str) -> int:
    """Parse a duration of at least one second into whole seconds. Raises LabError, UnitError."""
    seconds = math.ceil(duration(text, str(LIMIT)))
    if seconds < 1:
        raise LabError(f"a limit of {text} is too short", where=LIMIT, fix="give a second or more")
    return seconds


def check_tdf(text: str) -> float | None:
    """Parse a TDF: a whole number from 1, inf, or None for "auto". Raises LabError."""
    if text == "auto":
        return None
    if text == TDF_INF:
        return INF
    number = whole_number(text) or 0
    if 0 < number < 10**6:
        return number
    raise LabError(
        f"invalid time dilation factor '{text}'", where=TDF, fix="write a whole number from 1 to 999999, inf or auto"
    )
