"""Limits on the senders of a measurement, which the kernel sums up for each connection.

Linux counts for each connection how long it had something to send, and how long of that only the other end's receive window
kept it from sending (tcp_info: tcpi_busy_time, tcpi_rwnd_limited). Connections that end are announced with these times; the
others are asked for before and afterwards, so that nothing is asked while data flows. Only where the CPU is free: elsewhere the
clock would charge for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from slownet.lab.host import native
from slownet.model.sample import Limited
from slownet.net.sock_diag import Connection, SockDiag

BULK = 64 * 1024
"""Bytes from which a connection counts: smaller ones fit into the first windows."""
HALF = 0.5
"""The part of the busy time from which the receive window is what limits."""


@dataclass(frozen=True)
class Sender:
    """A connection, seen from the end that sent.

    Attributes
    ----------
    host : str
        The host that sent.
    busy_s, waited_s : float
        Seconds in which there was something to send, and those of them in which only the receive window forbade it.
    sent : int
        Bytes, with those that were sent again.
    """

    host: str
    busy_s: float
    waited_s: float
    sent: int

    @classmethod
    def of(cls, host: str, found: Connection) -> Sender:
        """Return what sock_diag reports of a host's connection."""
        return cls(host, found.busy_us / 1e6, found.receive_limited_us / 1e6, found.bytes_sent)


def limited(senders: Iterable[Sender]) -> Limited | None:
    """Say whether receive windows limited what was sent.

    Returns
    -------
    dict
        ``share`` of the busy time, and the ``host`` that sent most; None unless the windows of connections that carried at
        least `BULK` bytes limited them for at least `HALF` of the time.
    """
    bulk = [each for each in senders if each.sent >= BULK and each.busy_s > 0]
    busy = sum(each.busy_s for each in bulk)
    share = sum(each.waited_s for each in bulk) / busy if busy else 0.0
    if share < HALF:
        return None
    most = max(bulk, key=lambda each: each.sent)
    return {"by": "receive window", "share": round(share, 4), "host": most.host}


@contextmanager
def watched(nodes: Iterable[Any], log: list[Sender]) -> Iterator[None]:
    """Add to the log what the connections of these nodes did within the block."""
    if not native.cpu_is_free():
        yield
        return
    with ExitStack() as stack:
        asked = [(each.name, stack.enter_context(SockDiag(each))) for each in nodes if each.inNamespace]
        for _, asking in asked:
            asking.begin()
        try:
            yield
        finally:
            for name, asking in asked:
                now = {each.cookie: each for each in asking.since_begin()}
                log += [Sender.of(name, each) for each in now.values() if each.bytes_sent]
