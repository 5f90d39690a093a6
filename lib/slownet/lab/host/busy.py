"""The load of this machine's processors on the real clock, where nothing charges CPU time.

A time t that a tool measures consists of waiting for links, t_w, and of what the machine adds. The first is the same in every
boot; the second varies, with the speed of the CPU and with what else runs. Its share is bounded from above by two counts.

1. *CPU time.* Whatever computes for a request, a program or the kernel, keeps at least one processor busy meanwhile. So the
   CPU time on the request's way is at most the busy time of all processors together. That of a whole measurement, with the
   start of the tool and all that other programs do, is more than that of its requests; the bound errs on the safe side. Time
   that a hypervisor takes away (steal) and waiting for a disk (iowait) count as busy.
2. *Lateness.* A sleeping processor wakes some time after the packet or the timer that it waits for. That counts as idle. Over
   a link it is what a ping takes beyond the configured delay s, which is seen whenever a link is set. If that ping took v, and
   a time t contains k round trips over the link, then k (v - s) of it is late; and since t >= k v, that is at most (v - s) / v
   of it.
3. *Wake-ups between programs* of this machine, without a delay between them. Each begins a stretch of work, and takes no
   longer than that: so they are at most as long as the CPU time, and busy counts twice.

So the machine's share of a time is at most `2 busy / time of the requests + (v - s) / v`, and never more than 1. How much
these vary is stated where they are used (`slownet.judge.records.charging`). Without a verified delay nothing is known of
what is late: the share is 1.

Linux counts idle time exactly where ticks stop while a processor is idle (CONFIG_NO_HZ_IDLE, as in Debian's kernels): it
notes when a processor becomes idle and when it stops being so, interrupts included. Other counts are samples at each tick.
Busy is the larger of "not idle" and of these samples, and a unit of /proc/stat (10 ms) is added for rounding.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
UNIT_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE, IOWAIT, GUEST = 3, 4, 8
"""Places in a line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""


@dataclass(frozen=True)
class Counts:
    """The counters of /proc/stat for all processors together, in units."""

    processors: int
    idle: int
    sampled: int
    """All but idle time; iowait is in it, guests' time is in user."""

    @classmethod
    def read(cls, text: str) -> Counts:
        """Return them from the text of /proc/stat. Raises ValueError, IndexError."""
        lines = [line.split() for line in text.splitlines() if line.startswith("cpu")]
        values = [int(each) for each in lines[0][1:]]
        sampled = sum(values[:GUEST]) - values[IDLE]
        return cls(len(lines) - 1, values[IDLE], sampled)

    def busy_s(self, later: Counts, elapsed_s: float) -> float:
        """Return an upper limit of the seconds that processors were busy between two counts.

        Parameters
        ----------
        later : Counts
            The second count.
        elapsed_s : float
            The time between them, at least.

        Returns
        -------
        float
            Up to the number of processors times the elapsed time, and a unit.
        """
        not_idle = self.processors * elapsed_s - (later.idle - self.idle) * UNIT_S
        sampled = (later.sampled - self.sampled) * UNIT_S
        return max(not_idle, sampled, 0.0) + UNIT_S


def counts() -> Counts | None:
    """Return what the kernel counts now; None if it does not give it."""
    try:
        return Counts.read(STAT.read_text(encoding="ascii"))
    except (OSError, ValueError, IndexError):
        return None


class Meter:
    """Adds up how busy the machine is while programs run: `running` is entered beside each of them."""

    def __init__(self) -> None:
        self._running = 0
        self._began: tuple[float, Counts | None] = (0.0, None)
        self._known = True
        self.elapsed_s, self._busy_s = 0.0, 0.0

    @property
    def busy_s(self) -> float | None:
        """Seconds that processors were busy, at most; None if the kernel does not give it, or if no program ran."""
        return self._busy_s if self._known and self.elapsed_s > 0 else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count for a ``with`` block; blocks that overlap count once."""
        if not self._running:
            self._began = time.monotonic(), counts()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._add()

    def _add(self) -> None:
        began, before = self._began
        now = counts()
        elapsed = time.monotonic() - began
        self.elapsed_s += elapsed
        if before is None or now is None:
            self._known = False
        else:
            self._busy_s += before.busy_s(now, elapsed)

    def take(self) -> tuple[float, float | None]:
        """Return the elapsed and the busy seconds, and begin again; of programs that still run, what follows counts later."""
        if self._running:
            self._add()
            self._began = time.monotonic(), counts()
        found = self.elapsed_s, self.busy_s
        self.elapsed_s, self._busy_s, self._known = 0.0, 0.0, True
        return found
