"""Any client program, timed as a whole: from its start to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, series

CLOCK_DIGITS = 1
"""Round to a tenth of a millisecond. Below that, times vary with how often programs read the clock, even if the CPU is free."""


@dataclass(frozen=True)
class Timed(Metrics):
    """The duration of a program.

    command: the command.
    raw: its output, of all times that it ran.
    times_ms: the time of each, in order.
    """

    command: tuple[str, ...]
    raw: str
    times_ms: tuple[float, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return ``time_ms``."""
        return {"time_ms": series(self.times_ms)}


def timed(
    host: Host, argv: Sequence[str], *, times: int = 1, env: Mapping[str, str] | None = None, timeout: float = 3600.0
) -> Timed:
    """Run a program, one time after the other.

    host: the host to run it on.
    argv: the program and its arguments.
    times: how often.
    env: more environment variables.
    timeout: seconds for each time.
    returns: times in ms.
    Raises ToolError: the program is missing, takes too long or fails.
    """
    done = [run(host, argv, timeout, env=env) for _ in range(times)]
    return Timed(
        tuple(argv), "".join(each.raw for each in done), tuple(round(1000 * each.seconds, CLOCK_DIGITS) for each in done)
    )
