"""The operation that an account is about: whose packets, from which to which."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from slownet.model.errors import ExperimentError, ToolError, nearest
from slownet.model.options import FROM, Option
from slownet.waits.account import Beside
from slownet.waits.packets import FIN, RST, Ends, Packet
from slownet.waits.trace import AT_ONCE_NS, Host, Trace

NAMES = (53, 853, 5353)
"""Ports of name servers: DNS, over TLS or QUIC, and by multicast."""


@dataclass
class Connection:
    """A connection of the client: its first packet, and the last one that it waited for.

    ended: when one of its ends first closed or reset it; -1 if none did. other_end: what the server closed it with, after the
    client.
    """

    first: Packet
    last: Packet | None = None
    closed: bool = False
    answered: bool = False
    reset: bool = False
    after_close: Packet | None = None
    server_name: str = ""
    before_last: Packet | None = None
    sent_last: int = 0
    ended: int = -1
    other_end: Packet | None = None

    @property
    def end(self) -> int:
        """When the client had what it waited for."""
        return self.last.arrived if self.last is not None else self.first.sent

    @property
    def server(self) -> tuple[bytes, int]:
        """Address and port of the other end."""
        return self.first.target, self.first.dport

    @property
    def names(self) -> bool:
        """True for a name lookup's."""
        return self.first.dport in NAMES


@dataclass(frozen=True)
class Operation:
    """An operation: who began it, when, which packet ended it, as text, and what ended earlier."""

    client: str
    begin: int
    last: Packet
    words: str
    beside: tuple[Beside, ...] = ()


def find(
    trace: Trace, client: str | None = None, whole: bool = False, between: tuple[int, int] = (0, sys.maxsize),
    is_of_request: Callable[[Packet], bool] = lambda packet: False,
) -> Operation:  # fmt: skip
    """Return the operation of a client: all that it did, or the last of several like it.

    Parameters
    ----------
    trace : Trace
        The captures.
    client : str, optional
        The host that began it; by default the one that was the first to send.
    whole : bool
        Whether connections to the same server, one after the other, are one operation. Otherwise the last of them is it.
    between : tuple of int
        When it began, and had ended, in ns, if that is known: a server's end of a connection that came just before was waited
        for, and what the client had sent earlier belongs to it only if it is a message.
    is_of_request : callable
        Returns whether a packet of QUIC is known to carry a part of a request or answer.

    Raises
    ------
    ExperimentError
        The client is not a host.
    ToolError
        It received nothing.
    """
    if client is not None and client not in trace.hosts:
        raise ExperimentError(f"no capture of a host '{client}'", Option("from"), nearest(client, list(trace.hosts)))
    opened = {name: _connections(trace, trace.hosts[name], between) for name in ([client] if client else trace.hosts)}
    host = trace.hosts[client or _client(trace, opened)]
    connections = opened[host.name]
    for each in connections:
        _end_of_answers(host, each, is_of_request)
    if not any(each.last for each in connections):
        what = f"no answer came to {host.name}" if connections else f"{host.name} asked nothing"
        raise ToolError(f"{what}: there is nothing to account for", fix=f"name another host with {FROM}")
    chosen, begin, own = _chosen(host, connections, whole)
    if not own:  # the capture ends before the last one is answered
        while not connections[-1].last:
            connections = connections[:-1]
        chosen, begin, own = _chosen(host, connections, whole)
    begin = max(begin, between[0])
    deciding = max((each for each in own if not each.names), key=lambda each: each.end, default=None) or max(
        own, key=lambda each: each.end
    )
    assert deciding.last is not None
    server = deciding.server_name or deciding.first.ends().partition(" > ")[2]
    beside = [
        Beside(
            connection=each.first.ends(),
            source=host.name,
            target=each.server_name,
            slack_ns=deciding.end - each.end,
            begin_ns=each.first.sent,
            end_ns=each.end,
        )
        for each in own
        if each is not deciding and not each.names
    ]
    return Operation(
        host.name,
        begin,
        deciding.last,
        chosen.words(host.name, server),
        tuple(sorted(beside, key=lambda each: each.slack_ns)),
    )


def _looked_up(host: Host, begin: int) -> int:
    """Return when a host began to look for the neighbour whose answer let its first packet go; else when it sent that."""
    answers = (each for each in host.received if each.is_neighbours and each.arrived == begin)
    if (answer := next(answers, None)) is None:
        return begin
    earlier = (each.arrived for each in host.received if each.is_neighbours and each.source == answer.source)
    since = max((each for each in earlier if each < begin), default=-1)
    asked = [each.sent for each in host.sent if each.is_neighbours and since < each.sent < answer.arrived]
    return min(asked, default=begin)


def _client(trace: Trace, opened: Mapping[str, list[Connection]]) -> str:
    """Return the first host that asked something: it opened a connection and got an answer. `opened`: those of each host."""
    if not any(host.sent for host in trace.hosts.values()):
        raise ToolError("no host has sent anything", fix="measure something that uses the network")
    asked = [
        (not each.last, not each.first.sport, not _asks(each.first), each.first.sent, name)
        for name, connections in opened.items()
        for each in connections
    ]
    if not asked:
        raise ToolError("no host asked anything", fix=f"name a host with {FROM}")
    return min(asked)[-1]


def _asks(packet: Packet) -> bool:
    """Return whether a host that is first seen to send a packet may have begun something with it, not ended it."""
    return not packet.is_tcp or packet.is_opening or (packet.length > 0 and not packet.flags & (FIN | RST))


def _connections(trace: Trace, host: Host, between: tuple[int, int]) -> list[Connection]:
    """Return the connections that a host opened, in order. Pings count if there is nothing else."""
    found: dict[Ends, Connection] = {}
    answers: set[Ends] = set()
    events = sorted(  # no two have the same first four
        [
            (each.sent, _frame(each), 1, each.order, each)
            for each in host.sent
            if host.made(each) and (each.sent >= between[0] or not each.is_pure_ack)
        ]
        + [(each.arrived, each.frame_arrived, 0, number, each) for number, each in enumerate(host.received) if host.wants(each)]
    )
    asked = {each.connection for each in host.received if each.is_opening}
    opened = {each.connection for each in host.sent if each.is_opening} - asked
    for _, _, sends, _, packet in events:
        key = packet.connection
        if packet.is_neighbours or len(packet.source) not in (4, 16) or key in asked:
            continue
        if sends:
            _sent(found, answers, key, packet)
        elif key in found:
            _came(found[key], packet)
        elif key not in opened:
            answers.add(key)
    owners = {address: name for name, each in trace.hosts.items() for address in each.addresses}
    for each in found.values():
        _end_of_datagrams(each)
        if each.after_close is not None and not each.reset:  # it had closed its own direction only
            each.last = each.after_close
        if each.other_end is not None and between[1] - each.other_end.arrived <= AT_ONCE_NS:
            each.last = each.other_end
        each.server_name = owners.get(each.first.target, each.first.receiver)
    order = sorted(_begun(trace, found.values()), key=lambda each: each.first.sent)
    return [each for each in order if each.first.sport] or order


def _begun(trace: Trace, connections: Iterable[Connection]) -> list[Connection]:
    """Return the connections without those that were opened before the captures and had ended when one was opened in them.

    So end those of a program that was stopped just before, while a queue still holds their segments. The client asks
    nothing on them; where it did, and was answered, it had kept the connection.
    """
    openings = (next((each for each in host.sent if each.is_opening), None) for host in trace.hosts.values())
    first = min((each.sent for each in openings if each is not None), default=-1)
    return [
        each for each in connections
        if each.first.is_opening or not 0 <= each.ended < first or (each.answered and _asks(each.first))
    ]  # fmt: skip


def _frame(sent: Packet) -> int:
    """Return the place of a packet among those that arrived when it was sent; the last place for one that waited."""
    return sent.frame if sent.frame and sent.left == sent.sent else sys.maxsize


def _sent(
    found: dict[Ends, Connection],
    answers: set[Ends],
    key: Ends,
    packet: Packet,
) -> None:
    if key not in found and key not in answers:
        found[key] = Connection(packet)
    if key in found:
        each = found[key]
        each.closed = each.closed or bool(packet.is_tcp and packet.flags & (FIN | RST))
        each.reset = each.reset or bool(packet.is_tcp and packet.flags & RST)
        each.before_last, each.sent_last = each.last, packet.sent
        _may_end(each, packet, packet.sent)


def _came(each: Connection, packet: Packet) -> None:
    """Note what arrived: the client waited for it unless it had closed the connection, or it only acknowledges.

    Where nothing is answered, as of an upload, it waited for the last acknowledgement.
    """
    _may_end(each, packet, packet.arrived)
    if each.closed and each.answered:
        each.after_close = packet if packet.length else each.after_close
        each.other_end = packet if packet.is_tcp and packet.flags & FIN else each.other_end
        return
    each.answered = each.answered or bool(packet.length)
    if packet.is_tcp:
        if not packet.is_pure_ack or not each.answered:
            each.last = packet
    elif each.last is None or packet.length >= each.last.length or packet.arrived - each.last.arrived > AT_ONCE_NS:
        each.last = packet  # of datagrams that came at once the longest: small ones acknowledge


def _may_end(each: Connection, packet: Packet, ns: int) -> None:
    if packet.is_tcp and packet.flags & (FIN | RST) and each.ended < 0:
        each.ended = ns


def _end_of_datagrams(each: Connection) -> None:
    """Take what arrived before the client's last datagram as QUIC's end: what comes after that closes the connection."""
    if each.first.is_quic and each.sent_last and each.before_last is not None:
        each.last = each.before_last


def _chosen(host: Host, connections: list[Connection], whole: bool) -> tuple[_Last, int, list[Connection]]:
    """Return which operation is accounted for, its begin, and its connections that were answered."""
    chosen = _Last(connections[0].first.sent) if whole else _last_of_several(connections)
    begin = _looked_up(host, chosen.begin)
    return chosen, begin, [each for each in connections if each.first.sent >= begin and each.last]


def _end_of_answers(host: Host, each: Connection, is_of_request: Callable[[Packet], bool]) -> None:
    """Let a connection of QUIC end with the last packet that is known to be of an answer: the handshake may end after it."""
    if each.first.is_quic and each.last is not None:
        came = (one for one in reversed(host.received) if one.connection == each.first.connection and host.wants(one))
        each.last = next(filter(is_of_request, came), each.last)


@dataclass(frozen=True)
class _Last:
    """The last of several operations that are alike.

    begin: its begin in ns; of: how many there are, 0 if there is only one; connections: how many each has.
    """

    begin: int
    of: int = 0
    connections: int = 1

    def words(self, source: str, target: str) -> str:
        """Return which operation it is."""
        if not self.of:
            return f"what {source} asked of {target}"
        several = f" times {self.connections}" if self.connections > 1 else ""
        return f"the last of {self.of}{several} connections from {source} to {target}"


def _last_of_several(connections: list[Connection]) -> _Last:
    """Return the last of several operations that are alike.

    Connections that overlap in time belong to one operation. Two are alike if they ask the same servers equally often; what is
    asked of others between them belongs to the later one.
    """
    groups: list[list[Connection]] = []
    end = -1
    for each in connections:
        if each.names:
            continue
        if not groups or each.first.sent >= end:
            groups.append([])
        groups[-1].append(each)
        end = max(end, each.end)
    if not groups:
        return _Last(connections[0].first.sent)
    servers = [Counter(each.server for each in group) for group in groups]
    alike = [group for group, asked in zip(groups, servers, strict=True) if asked == servers[-1]]
    if len(alike) < 2:
        return _Last(connections[0].first.sent)
    before = max(each.end for each in alike[-2])
    return _Last(min(each.first.sent for each in connections if each.first.sent >= before), len(alike), len(alike[-1]))
