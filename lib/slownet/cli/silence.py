"""Says once that a lab with free CPU computes in silence: its clock may hardly advance.

Where computing takes no time, what asks again and again without a pause (for the time, or whether there is input) takes a
microsecond each time. Two seconds are two million such questions then, and minutes here. A lab whose clock does not advance at
all is ended by its kernel.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from slownet.lab.run import foreground

QUIET_S = 120.0
LOOK_S = 5.0
BUSY = 0.1
"""The share of a processor that a lab takes at least which computes."""
LINE = (
    f"slownet: nothing was printed for {QUIET_S:.0f} s, and the lab computes: with free CPU, a program that asks for the time "
    "or for input again and again hardly advances the lab's clock: let it sleep in between, or charge the CPU with --tdf 1"
)


class Silence:
    """A context manager for the time that a command runs; `heard` is called whenever it prints."""

    def __init__(
        self, say: Callable[[str], object] = foreground.say, quiet_s: float = QUIET_S, look_s: float = LOOK_S,
        cpu: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        """say: prints the line. cpu: returns the seconds of CPU time of the lab's processes."""
        self._say, self._quiet_s, self._look_s, self._cpu = say, quiet_s, look_s, cpu or _cpu
        self._ended = threading.Event()
        self.heard()

    def heard(self) -> None:
        """Begin anew: something was printed."""
        self._last, self._before = time.monotonic(), None

    def __enter__(self) -> Silence:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    _before: tuple[float, float] | None

    def _watch(self) -> None:
        while not self._ended.wait(self._look_s):
            now, used = time.monotonic(), self._cpu()
            began, then = self._before = self._before or (now, used)
            if now - self._last > self._quiet_s and used - then > BUSY * (now - began):
                self._say(LINE)
                return


def _cpu() -> float:
    """Return the seconds of CPU time that the processes which this one started have taken."""
    from slownet.net.process import family  # not at the top: completion imports this module

    ticks = 0
    for pid in family(os.getpid()):
        if pid != os.getpid():
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
