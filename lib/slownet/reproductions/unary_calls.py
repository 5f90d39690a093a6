"""Unary calls of gRPC's Python client with messages of a size, at a pace (`slownet.reproductions.programs.call_timer`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.reproductions.program import python
from slownet.tools.numbers import Metric, series
from slownet.tools.program import nanoseconds, read_json


@dataclass(frozen=True)
class Calls(Metrics):
    """The times of calls.

    command: the command.
    raw: its output.
    times_ms: the time of each call, in order.
    skipped: how many of the first are left out of the metric.
    """

    command: tuple[str, ...]
    raw: str
    times_ms: tuple[float, ...]
    skipped: int = 0

    def metrics(self) -> dict[str, Metric]:
        """Return the mean time of a call as ``call_ms``, without the first ones."""
        return {"call_ms": series(self.times_ms[self.skipped :])}


def calls(host: Host, address: str, *, size: int, every_s: float, count: int = 5, skipped: int = 0) -> Calls:
    """Call a server that runs ``calls serve``, over one connection.

    host: the client's host.
    address: the server's IP address.
    size: bytes of each message; the answer has none.
    every_s: seconds from the beginning of one call to that of the next.
    count: how many calls are measured.
    skipped: how many are made before, in the same way.
    returns: times in ms.
    Raises ToolError: gRPC is not installed, the server does not answer, or the output is not understood.
    """
    command = python("call_timer", "ask", address, size, skipped + count, every_s)
    return parse(run(host, command).stdout, command, skipped)


def parse(text: str, command: Sequence[str] = ("calls",), skipped: int = 0) -> Calls:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    found = nanoseconds(read_json(text, command, "call"), "call", text, least=1 + skipped)
    return Calls(tuple(command), text, found, skipped)
