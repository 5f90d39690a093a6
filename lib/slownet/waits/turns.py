"""The turn of a request that had waited on a host until another one had been answered, as for a connection of a pool.

What an answer of a database was for, packets show by what its receiver sent at that instant: an answer to another client, and
the next question. If as many clients were answered as answers came, none of these was for the request that asks next. So it is
also where all requests came at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from slownet.waits.packets import Ends, Packet
from slownet.waits.trace import AT_ONCE_NS, Host


def is_turn(
    host: Host, packet: Packet, came: Packet, request: Packet, openers: Mapping[Ends, str],
    asked: Callable[[Packet], Packet | None],
) -> bool:  # fmt: skip
    """Return whether a host began with a request when it sent a packet: what had just arrived was for another one.

    Parameters
    ----------
    host : Host
        That sends the packet.
    packet : Packet
        What it sends for the request.
    came : Packet
        What arrived at that instant, on a connection that the host had opened.
    request : Packet
        The request, which arrived before.
    openers : mapping
        The host that opened each connection.
    asked : callable
        Returns the last message that an answer may be to.
    """
    if openers.get(came.connection) != host.name or not came.length or packet.repeated:
        return False
    if packet.sent - came.arrived > AT_ONCE_NS or request.arrived > came.arrived or packet.connection == request.connection:
        return False
    served = set(_served(host, packet, came, request, openers, asked))
    return bool(served) and len(served) >= len(set(_answers(host, packet, came, openers)))


def _served(
    host: Host, packet: Packet, came: Packet, request: Packet, openers: Mapping[Ends, str],
    asked: Callable[[Packet], Packet | None],
) -> Iterator[Ends]:  # fmt: skip
    """Yield the connections of others that the host answered at that instant."""
    for number in range(host.sent_by(packet.sent + AT_ONCE_NS) - 1, -1, -1):
        each = host.sent[number]
        if each.sent < came.arrived:
            return
        if not each.length or each.connection == request.connection or openers.get(each.connection) in (host.name, None):
            continue
        question = asked(each)
        if question is not None and question.length and question.arrived < came.arrived - AT_ONCE_NS:
            yield each.connection


def _answers(host: Host, packet: Packet, came: Packet, openers: Mapping[Ends, str]) -> Iterator[Ends]:
    """Yield the host's own connections that brought something at that instant."""
    for number in range(host.arrived_by(packet.sent + AT_ONCE_NS) - 1, -1, -1):
        each = host.received[number]
        if each.arrived < came.arrived - AT_ONCE_NS:
            return
        if each.length and openers.get(each.connection) == host.name:
            yield each.connection
