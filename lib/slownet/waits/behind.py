"""Packets that arrived at a host's interface, where a capture shows them, and that its kernel dropped behind it."""

from __future__ import annotations

from collections.abc import Iterator

from slownet.net.kernel_record import KernelRecord
from slownet.waits.packets import ACK, SYN, Packet
from slownet.waits.trace import Host, Trace

FULL_QUEUE = "ListenOverflows"
FULL_BUFFER = "RcvbufErrors"
ELSEWHERE = ("InDelivers", "ForwDatagrams", "ReasmReqds", "InHdrErrors", "InAddrErrors", "InNoRoutes", "InUnknownProtos")
"""Counters of IPv4's packets that are counted in InReceives and that no filter dropped; fragments join in others."""


def filtered(record: KernelRecord) -> int:
    """Return how many of IPv4's packets filters of a host dropped that were for itself."""
    counted = record.counters
    elsewhere = sum(counted.get(name, 0) for name in ELSEWHERE) - counted.get("ReasmOKs", 0)
    return max(0, counted.get("InReceives", 0) - elsewhere)


def dropped(record: KernelRecord) -> int:
    """Return how many datagrams may have been dropped behind a host's interface: by filters, and by full buffers."""
    return filtered(record) + record.counters.get(FULL_BUFFER, 0)


def notes(trace: Trace) -> Iterator[str]:
    """Yield a line for each host whose kernel dropped what had arrived."""
    for name, host in trace.hosts.items():
        counted = host.kernel.counters
        parts = [f"{count:,} by a filter" for count in [filtered(host.kernel)] if count]
        parts += [f"{count:,} for a full buffer of a datagram socket" for count in [counted.get(FULL_BUFFER, 0)] if count]
        parts += [f"{count:,} for a full queue of new connections" for count in [counted.get(FULL_QUEUE, 0)] if count]
        if parts:
            yield f"{name} dropped packets that had arrived: {', '.join(parts)}"


def full_queue(trace: Trace, packet: Packet, before: Packet | None) -> str:
    """Return the host whose queue of connections was full when a SYN, or its answer, had to be sent again; empty if none was.

    The SYN had arrived there; or the answer had brought an ACK, which found no place in the queue.
    """
    to = before.receiver if before is not None and before.flags & SYN else ""
    name = packet.sender if packet.flags & ACK else to
    host: Host | None = trace.hosts.get(name)
    return name if host is not None and host.kernel.counters.get(FULL_QUEUE) else ""
