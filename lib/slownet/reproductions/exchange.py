"""Requests and answers over one connection, each written in one piece or several (`programs.request_writer`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.model.errors import ToolError, nearest
from slownet.net import strace
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.reproductions.program import python
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.program import nanoseconds, read_json

PATTERNS = (
    "write-write-read", "write-read-write-read", "write-write-write", "one-write", "nodelay", "cork", "full-segment-first",
)  # fmt: skip
HEADERS = 96
"""Bytes kept of each captured packet."""
STALL_MS = 30.0
"""An exchange that took longer waited for a delayed ACK, whose minimum is 40 ms (TCP_DELACK_MIN, HZ / 25)."""
DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS = 40.0, 44.1
"""Minimum and maximum time of a delayed ACK: TCP_DELACK_MIN, plus up to one tick because the kernel's timer wheel rounds up
(4 ms at the 250 Hz of stock Debian), plus a tenth of a millisecond for the programs if the CPU is free."""


@dataclass(frozen=True)
class Exchange(Metrics):
    """The results of exchanges over one connection.

    command: the client's command.
    raw: its output.
    pattern: one of `PATTERNS`.
    each: messages per exchange: 1 unless the pattern waits only for the last answer.
    times_ms: time of each exchange in order, from its first write to its last answer.
    files: evidence added by `witnessed`: ``{"strace.txt": ..., "pcap": ...}``.
    """

    command: tuple[str, ...]
    raw: str
    pattern: str
    each: int
    times_ms: tuple[float, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def stalls_ms(self) -> tuple[float, ...]:
        """The times of the exchanges that waited for a delayed ACK, in ms."""
        return tuple(time for time in self.times_ms if time > STALL_MS)

    @property
    def quick(self) -> int:
        """The number of exchanges before the first one that stalled: until then the peer sent its ACKs at once."""
        return quick(self.times_ms)

    def metrics(self) -> dict[str, Metric]:
        """Return ``exchange_ms`` per message, ``stall_ms`` over the stalled exchanges, ``stalls`` and ``quick_exchanges``."""
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

    def facts(self) -> dict[str, object]:
        """Return the number of messages."""
        return {"messages": len(self.times_ms) * self.each}


def quick(times_ms: Sequence[float]) -> int:
    """Return how many times come before the first one that includes a delayed ACK."""
    return next((number for number, time in enumerate(times_ms) if time > STALL_MS), len(times_ms))


def exchange(host: Host, address: str, pattern: str, *, port: int = 5000, count: int = 100, timeout: float = 600.0) -> Exchange:
    """Send messages from a host to a listener, and wait for the answers.

    host: the host that sends.
    address, port: the listener's IP address and TCP port.
    pattern: how the messages are written: one of `PATTERNS`.
    count: the number of messages.
    timeout: seconds for the whole test.
    returns: times in ms.
    Raises ToolError: the pattern is unknown, nothing listens, or the output is not understood.
    """
    command = _command(address, port, pattern, count)
    return parse(run(host, command, timeout=timeout).stdout, command)


def witnessed(measured: Exchange, host: Host, address: str, *, port: int = 5000, count: int = 4) -> Exchange:
    """Repeat a pattern under strace and tcpdump, and add both files to the record.

    The measurement itself is not traced, because that would slow it down if CPU time is charged.

    measured: the record.
    host, address, port: as for `exchange`.
    count: the number of messages to trace.
    returns: the record with ``files``.
    Raises ToolError: the pattern failed, tcpdump lost packets, or the output of strace is not understood.
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
        raise ToolError(f"unknown pattern '{pattern}'", fix=nearest(pattern, PATTERNS))
    return python("request_writer", "talk", address, port, pattern, count)


def parse(text: str, command: Sequence[str] = ("exchange",)) -> Exchange:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "pattern", "each", "times_ns")
    times = nanoseconds(record, "times_ns", text, least=1)
    return Exchange(tuple(command), text, record["pattern"], record["each"], times)
