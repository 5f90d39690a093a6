"""``ping``: the round-trip time of a link, which the articles' authors verified in the same way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, counts, numeric
from slownet.net import icmp_echo
from slownet.net.icmp_echo import Echoes, Reply, Rtt
from slownet.net.process import Host
from slownet.tools.numbers import Metric, metric, series
from slownet.tools.register import tool

__all__ = ["Ping", "Reply", "Rtt", "parse", "ping"]


@dataclass(frozen=True)
class Ping(Echoes, Metrics):
    """The results of ``ping``: those of `slownet.net.icmp_echo.Echoes`, as metrics, too."""

    def metrics(self) -> dict[str, Metric]:
        """Return ``rtt_ms`` over the replies, in order, and ``lost_percent`` of the packets sent."""
        metrics = {}
        if self.rtt_ms is not None:  # first, because that is what a run is about where nothing else is stated
            sd, times = _sample_sd(self.rtt_ms.mdev, self.received), [reply.ms for reply in self.replies]
            if self.duplicates and len(times) == self.received:  # ping's own summary counts duplicates, too
                metrics["rtt_ms"] = series(times)
            else:
                metrics["rtt_ms"] = metric(self.rtt_ms.avg, sd, self.received, times, ordered=True)
        sd = _sample_sd(100 * math.sqrt(self.loss * (1 - self.loss)), self.sent)
        return metrics | {"lost_percent": metric(100 * self.loss, sd, self.sent)}

    def facts(self) -> dict[str, float]:
        """Return the mean time between two packets, ``sent_every_ms``, and the configured one, if it is longer."""
        if not self.is_paced or self.every_ms is None or self.asked_ms is None:
            return {}
        return {"sent_every_ms": round(self.every_ms, 3), "stated_interval_ms": self.asked_ms}


@tool(from_zero=("interval",), without=("check",))
def ping(
    host: Host,
    address: str,
    count: int = 5,
    interval: float = 0.2,
    timeout: float | None = None,
    check: bool = True,
) -> Ping:
    """Ping an address from a host.

    Parameters
    ----------
    host : Host
        The host that ``ping`` runs on.
    address : str
        The IPv4 address, or a name that the host resolves.
    count : int
        The number of packets.
    interval : float
        Seconds between two packets. Where that is less than 10 ms from the next one, iputils' ``ping`` waits up to 10 ms for a
        reply that is on its way before it sends again (MININTERVAL in its ping_common.c): so over a round trip of 20 ms an
        interval of 2 ms is one of 10 ms. The record's `facts` and the report then state the time that passed.
    timeout : float, optional
        Seconds for the whole test; by default derived from ``count`` and ``interval``.
    check : bool
        Whether it is an error if no packet is answered. Single lost packets are not: a link may be set to lose some.

    Returns
    -------
    Ping
        Round-trip times in ms, and each reply.

    Raises
    ------
    ToolError
        The address is unknown or unreachable, nothing answers, or the output is not understood.
    """
    counts("ping", count=count)
    numeric("ping", interval=interval, timeout=0 if timeout is None else timeout)
    result = Ping(**vars(icmp_echo.echo(host, address, count, interval, timeout)))
    if check and result.problem:
        raise ToolError(result.problem, f"from host '{host.name}' to {address}", raw=result.raw)
    return result


def parse(text: str, command: Sequence[str] = ("ping",)) -> Ping:
    """Parse the output of iputils' ``ping`` in the C locale, as `slownet.net.icmp_echo.parse` does. Raises ToolError."""
    return Ping(**vars(icmp_echo.parse(text, command)))


def _sample_sd(population_sd: float, n: int) -> float:
    return population_sd * math.sqrt(n / (n - 1)) if n > 1 else 0.0
