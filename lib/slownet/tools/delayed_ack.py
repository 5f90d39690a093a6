"""How long a peer's kernel keeps an acknowledgement back, from crafted segments (slownet.packets.crafted)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slownet.measured import Metrics
from slownet.tools.exchange import STALL_MS, quick
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.process import Host
from slownet.tools.program import nanoseconds, read_json
from slownet.tools.tool import run

FIRST_PORT = 40000
"""The connection's own port: a number that is the same every time, and free because this end has no socket."""


@dataclass(frozen=True)
class DelayedAck(Metrics):
    """Times in ms, in order: from each request's first segment to its ACK, from its second one to its ACK and answer.

    ``resets``: how often the kernel would have broken the connection.
    """

    command: tuple[str, ...]
    raw: str
    kind: str
    first_ms: tuple[float, ...]
    second_ms: tuple[float, ...]
    answer_ms: tuple[float, ...]
    resets: int

    @property
    def delayed_ms(self) -> tuple[float, ...]:
        """The first segments' ACKs that were kept back."""
        return tuple(time for time in self.first_ms if time > STALL_MS)

    @property
    def quick(self) -> int:
        """Segments that were acknowledged before the first delayed ACK."""
        return quick(self.first_ms)

    def metrics(self) -> dict[str, Metric]:
        """``ack_ms`` of first segments, ``delayed_ack_ms`` of those kept back, ``answer_ms``, and counts: ``delayed``,
        ``quick_acks`` before the first that was."""
        count = len(self.first_ms)
        metrics = {"delayed": metric(len(self.delayed_ms), 0.0, count), "quick_acks": metric(self.quick, 0.0, count)}
        series = {"ack_ms": self.first_ms, "delayed_ack_ms": self.delayed_ms, "answer_ms": self.answer_ms}
        means = {name: metric(mean(values), sample_sd(values), len(values)) for name, values in series.items() if values}
        return metrics | means

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {"resets_suppressed": self.resets}


def delayed_ack(host: Host, address: str, kind: str = "answered", *, port: int = 5000, count: int = 50) -> DelayedAck:
    """Sends crafted segments from a host to a listener on the same cable.

    Parameters
    ----------
    kind
        ``"answered"``: requests in two small segments, the second held back until the first is acknowledged;
        ``"silent"``: small segments of a request that does not end.

    Raises
    ------
    ToolError
        Nobody listens, nftables or scapy is missing, or the output is not understood.
    """
    words = [address, str(port), str(FIRST_PORT), kind, str(count)]
    command = [sys.executable, "-m", "slownet.packets.crafted", *words]
    return parse(run(host, command, timeout=600).stdout, command)


def parse(text: str, command: Sequence[str] = ("crafted",)) -> DelayedAck:
    """Reads what the program printed. Raises ToolError with the line that is not understood."""
    record = read_json(text, command, "kind", "first_ns", "second_ns", "answer_ns", "resets")
    first = nanoseconds(record, "first_ns", text, least=1)
    second, answer = nanoseconds(record, "second_ns", text), nanoseconds(record, "answer_ns", text)
    return DelayedAck(tuple(command), text, record["kind"], first, second, answer, record["resets"])
