"""The delay of a peer kernel's ACKs, measured with crafted segments (`slownet.reproductions.programs.crafted`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slownet.judge.measured import Metrics
from slownet.net.nft import Rule, filtering
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.reproductions.exchange import STALL_MS, quick
from slownet.reproductions.program import python
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.program import nanoseconds, read_json

FIRST_PORT = 40000
"""The local port of the connection: always the same, and free because this end has no socket."""


@dataclass(frozen=True)
class DelayedAck(Metrics):
    """The results of crafted segments, in order; times in ms.

    command: the command.
    raw: its output.
    kind: ``"answered"`` or ``"silent"``, see `delayed_ack`.
    first_ms: from each request's first segment to its ACK.
    second_ms, answer_ms: from each request's second segment to its ACK, and to the answer.
    resets: how often our own kernel would have reset the connection, whose end here has no socket: they are dropped.
    """

    command: tuple[str, ...]
    raw: str
    kind: str
    first_ms: tuple[float, ...]
    second_ms: tuple[float, ...]
    answer_ms: tuple[float, ...]
    resets: int = 0

    @property
    def delayed_ms(self) -> tuple[float, ...]:
        """The times of the first segments' ACKs that were delayed, in ms."""
        return tuple(time for time in self.first_ms if time > STALL_MS)

    @property
    def quick(self) -> int:
        """The number of first segments that were acknowledged at once, before the first delayed ACK."""
        return quick(self.first_ms)

    def metrics(self) -> dict[str, Metric]:
        """Return ``ack_ms`` of all first segments, ``delayed_ack_ms`` of the delayed ones, ``answer_ms``, and two counts.

        The counts are ``delayed``, and ``quick_acks`` before the first delayed one.
        """
        count = len(self.first_ms)
        metrics = {"delayed": metric(len(self.delayed_ms), 0.0, count), "quick_acks": metric(self.quick, 0.0, count)}
        series = {"ack_ms": self.first_ms, "delayed_ack_ms": self.delayed_ms, "answer_ms": self.answer_ms}
        means = {name: metric(mean(values), sample_sd(values), len(values)) for name, values in series.items() if values}
        return metrics | means

    def facts(self) -> dict[str, object]:
        """Return how many resets were suppressed."""
        return {"resets_suppressed": self.resets}


def delayed_ack(host: Host, address: str, kind: str = "answered", *, port: int = 5000, count: int = 50) -> DelayedAck:
    """Send crafted segments from a host to a listener on the same link.

    host: the host that sends.
    address, port: the listener's IP address and TCP port.
    kind: ``"answered"``: requests in two small segments, the second held back until the first is acknowledged; ``"silent"``:
        small segments of a request that does not end.
    count: the number of requests, or of segments if silent.
    returns: times in ms.
    Raises ToolError: nothing listens, nftables or scapy is missing, or the output is not understood.
    """
    command = python("crafted", address, port, FIRST_PORT, kind, count)
    ours = f"ip daddr {address} tcp sport {FIRST_PORT} tcp dport {port}"
    with filtering(host, Rule("output", f"{ours} tcp flags & rst == rst", "drop")) as dropped:
        done = run(host, command, timeout=600)
        (resets,) = dropped()
    return replace(parse(done.stdout, command), resets=resets)


def parse(text: str, command: Sequence[str] = ("crafted",)) -> DelayedAck:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "kind", "first_ns", "second_ns", "answer_ns")
    first = nanoseconds(record, "first_ns", text, least=1)
    second, answer = nanoseconds(record, "second_ns", text), nanoseconds(record, "answer_ns", text)
    return DelayedAck(tuple(command), text, record["kind"], first, second, answer)
