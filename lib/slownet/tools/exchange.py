"""Requests and answers over one connection, written in one piece or in several (slownet.programs.exchange)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import ToolError, nearest
from slownet.measured import Metrics
from slownet.tools import strace
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.process import Host
from slownet.tools.program import nanoseconds, python, read_json
from slownet.tools.tcpdump import Capture
from slownet.tools.tool import run

PATTERNS = (
    "write-write-read", "write-read-write-read", "write-write-write", "one-write", "nodelay", "cork", "full-segment-first",
)  # fmt: skip
HEADERS = 96
"""Bytes kept of each packet of the evidence."""
STALL_MS = 30.0
"""Above this an exchange waited for a delayed ACK, whose minimum is 40 ms (TCP_DELACK_MIN, HZ / 25)."""
DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS = 40.0, 44.1
"""How long a delayed ACK takes at least and at most: TCP_DELACK_MIN, up to a tick more because the kernel's timer wheel rounds
up (4 ms at the 250 Hz of stock Debian), and a tenth of a millisecond for the programs, where the CPU is free."""


@dataclass(frozen=True)
class Exchange(Metrics):
    """What a client measured: times in ms, in order, from the first write of ``each`` messages to the last answer.

    ``each`` is 1 but for a pattern that waits for no answer before the last. ``files`` is the evidence, if asked for:
    ``{"strace.txt": ..., "pcap": ...}``.
    """

    command: tuple[str, ...]
    raw: str
    pattern: str
    each: int
    times_ms: tuple[float, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def stalls_ms(self) -> tuple[float, ...]:
        """The times that hold a wait for a delayed ACK."""
        return tuple(time for time in self.times_ms if time > STALL_MS)

    @property
    def quick(self) -> int:
        """Exchanges before the first that stalled: the peer acknowledged at once until then."""
        return quick(self.times_ms)

    def metrics(self) -> dict[str, Metric]:
        """``exchange_ms`` a message, ``stall_ms`` over those that stalled, and two counts: ``stalls``, ``quick_exchanges``."""
        count = len(self.times_ms)
        each = [time / self.each for time in self.times_ms]
        metrics = {
            "exchange_ms": metric(mean(each), sample_sd(each), count),
            "stalls": metric(len(self.stalls_ms), 0.0, count),
            "quick_exchanges": metric(self.quick, 0.0, count),
        }
        if self.stalls_ms:
            metrics["stall_ms"] = metric(mean(self.stalls_ms), sample_sd(self.stalls_ms), len(self.stalls_ms))
        return metrics

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {"messages": len(self.times_ms) * self.each}


def quick(times_ms: Sequence[float]) -> int:
    """How many times there are before the first that holds a delayed ACK."""
    return next((number for number, time in enumerate(times_ms) if time > STALL_MS), len(times_ms))


def exchange(host: Host, address: str, pattern: str, *, port: int = 5000, count: int = 100, timeout: float = 600.0) -> Exchange:
    """Sends ``count`` messages from a host to a listener in one of the ``PATTERNS``.

    Raises
    ------
    ToolError
        No such pattern, no listener, or output that is not understood.
    """
    command = _command(address, port, pattern, count)
    return parse(run(host, command, timeout=timeout).stdout, command)


def witnessed(measured: Exchange, host: Host, address: str, *, port: int = 5000, count: int = 4) -> Exchange:
    """The record with evidence: the same pattern once more, ``count`` messages under strace and tcpdump.

    They are taken apart from the measurement, which tracing would disturb where CPU is charged.
    """
    command = _command(address, port, measured.pattern, count)
    with owner.temporary("exchange") as directory:
        trace = Path(directory, "strace")
        capture = Capture(host, f"{host.name}-eth0", Path(directory, "pcap"), filter=f"tcp port {port}", snaplen=HEADERS)
        with capture:
            run(host, strace.traced(command, trace))
        if capture.dropped:
            raise ToolError(f"tcpdump lost {capture.dropped} packets", f"host '{host.name}'")
        calls = trace.read_text(errors="replace")
        strace.parse(calls)
        return replace(measured, files={"strace.txt": calls, "pcap": capture.path.read_bytes()})


def _command(address: str, port: int, pattern: str, count: int) -> list[str]:
    if pattern not in PATTERNS:
        raise ToolError(f"no pattern '{pattern}'", fix=nearest(pattern, PATTERNS))
    return python("exchange", "talk", address, port, pattern, count)


def parse(text: str, command: Sequence[str] = ("exchange",)) -> Exchange:
    """Reads what the program printed. Raises ToolError with the line that is not understood."""
    record = read_json(text, command, "pattern", "each", "times_ns")
    times = nanoseconds(record, "times_ns", text, least=1)
    return Exchange(tuple(command), text, record["pattern"], record["each"], times)
