"""Walks from an operation's last packet back to its first one, across hosts.

On a clock where computing takes no time, what a host sends was caused by what arrived there at that instant. The kernel answers
in the same nanosecond: an ACK, a segment that an ACK lets go. A program that was woken reads the clock a few times, and each
reading costs a microsecond. Where nothing arrived, a timer fired, and the walk goes on from what the host had last done for the
operation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from slownet.waits.pacing import Pacing
from slownet.waits.packets import FIN, SYN, Ends, Packet
from slownet.waits.trace import AT_ONCE_NS, Host, Trace

# The turn of a request that had waited on a host until another one had been answered, as for a connection of a pool.
#
# What an answer of a database was for, packets show by what its receiver sent at that instant: an answer to another client,
# and the next question. If as many clients were answered as answers came, none of these was for the request that asks next.
# So it is also where all requests came at once.


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


PIECE = 4
"""Bytes of a message that is looked for in another one: a short one is all of the message."""


@dataclass(frozen=True)
class Trip:
    """A packet that crossed the network.

    then: what its receiver sent because of it; None for the operation's last one.
    """

    packet: Packet
    then: Packet | None = None


@dataclass(frozen=True)
class Stay:
    """A time on a host, until it sent a packet.

    kind: "kernel", "program", "pushed" (a message for a subscriber), "ack" (delayed), "again" (a segment that was sent before),
    "queue" (until an earlier packet had left the queue), "paced" (until the pacing rate allowed it), "forward" (a router),
    "timer", "other" (until another request had its turn), "unknown" (the arrival was not captured).
    since: the packet that arrived, or was sent, at its begin.
    """

    host: str
    begin: int
    end: int
    kind: str
    until: Packet | None
    since: Packet | None = None


Part = Trip | Stay


class Walk:
    """The way back through a trace.

    begin: the ns at which the operation began; free: whether computing took no time on the clock of the captures.
    """

    def __init__(self, trace: Trace, client: str, begin: int, free: bool = True) -> None:
        self._trace, self._client, self._begin, self._free = trace, client, begin, free
        self._openers = _openers(trace)
        after_ns = 0 if free else AT_ONCE_NS
        self._wakes = {name: _Wakes(host) for name, host in trace.hosts.items()}
        self._forwards = {name: _Forwards(host) for name, host in trace.hosts.items()}
        self._before = {
            name: _Before(host, self._openers, self._wakes[name].opening, after_ns) for name, host in trace.hosts.items()
        }
        self._parts: list[Part] = []
        self._seen: set[tuple[int, bool]] = set()
        self._requests: list[tuple[str, Ends, Packet, int]] = []

    def back(self, last: Packet, arrived: bool) -> list[Part]:
        """Return the parts in order, from the operation's begin to the packet that ended it."""
        packet: Packet | None = last
        then: Packet | None = None
        while packet is not None:
            self._seen.add((id(packet), arrived))
            if arrived:
                if packet.sender and packet.sent >= 0:
                    self._parts.append(Trip(packet, then))
                    arrived = False
                    continue
                packet, arrived = self._unknown(packet)
                continue
            then = packet
            packet, arrived = self._cause(packet)
        self._parts.reverse()
        return self._parts

    def _unknown(self, packet: Packet) -> tuple[Packet | None, bool]:
        """Go on from what a host did before something arrived whose path was not captured."""
        host = self._trace.hosts[packet.receiver]
        before = self._latest(host, packet, packet.arrived - 1)
        begin = self._begin if before is None else max(self._begin, _time(*before))
        self._parts.append(Stay(host.name, begin, packet.arrived, "unknown", packet))
        return before if before and _time(*before) >= self._begin else (None, False)

    def _cause(self, packet: Packet) -> tuple[Packet | None, bool]:
        """Return what caused a host to send a packet, and whether that arrived there or was sent by it."""
        if packet.sent <= self._begin and packet.sender == self._client:
            return None, False
        host = self._trace.hosts[packet.sender]
        self._open(host, packet)
        found, kind = self._why(host, packet)
        begin = self._begin if found is None else _time(*found)
        if found is not None and self._is_turn(host, packet, found[0]):
            return self._wait(packet), True
        if kind == "pushed" and found is not None and _passes_on(packet, found[0]):  # so it answers no earlier message
            self._requests = [each for each in self._requests if each[:2] != (host.name, packet.connection)]
        if found is not None:  # the way goes on beside the request, on its connection: then it did not decide
            self._requests = [each for each in self._requests if begin >= each[2].arrived or each[1] != found[0].connection]
        if self._requests and (request := self._cut(begin)) is not None:
            return request, True
        if begin < self._begin:
            found, begin = None, self._begin
        if packet.sent > begin:
            self._parts.append(Stay(host.name, begin, packet.sent, kind, packet, found[0] if found else None))
        if found is None:
            return None, False
        if found[1] and self._requests and found[0] is self._requests[-1][2]:
            self._requests.pop()
        return found

    def _open(self, host: Host, packet: Packet) -> None:
        """Note the request that a packet answers: before it had arrived, the host did not work for it."""
        connection = packet.connection
        if not packet.is_tcp or self._openers.get(connection) in (host.name, None):
            return
        if packet.repeated or (not packet.length and not packet.flags & FIN):
            return
        if self._requests and self._requests[-1][:2] == (host.name, connection):
            return
        asked = self._wakes[host.name].latest(packet)
        if asked is None or not asked.length or asked.arrived < self._begin or any(each[2] is asked for each in self._requests):
            return
        self._requests.append((host.name, connection, asked, len(self._parts)))

    def _cut(self, begin: int) -> Packet | None:
        """Return the open request if the walk has come to what was before it: until then, the host worked for another one."""
        number = next((number for number, each in enumerate(self._requests) if begin < each[2].arrived), None)
        if number is None:
            return None
        host, _, request, since = self._requests[number]
        until = max((_begin(each) for each in self._parts[since:]), default=begin)
        for place in range(len(self._parts) - 1, since - 1, -1):
            part = self._parts[place]
            if _begin(part) >= request.arrived and isinstance(part, Stay | Trip) and _where(part) == host:
                until = _begin(part)
                del self._parts[place + 1 :]
                break
        else:
            until = _begin(self._parts[since - 1]) if since else begin
            del self._parts[since:]
        del self._requests[number:]
        self._parts.append(Stay(host, request.arrived, until, "other", None, request))
        return request

    def _is_turn(self, host: Host, packet: Packet, came: Packet) -> bool:
        """Return whether the open request had waited on a host for what arrived, which was for another one."""
        if not self._requests or self._requests[-1][0] != host.name:
            return False
        return is_turn(host, packet, came, self._requests[-1][2], self._openers, self._wakes[host.name].latest)

    def _wait(self, packet: Packet) -> Packet:
        """Let the open request have waited until a packet was sent; return what brought it."""
        host, _, request, _ = self._requests.pop()
        self._parts.append(Stay(host, request.arrived, packet.sent, "other", None, request))
        return request

    def _why(self, host: Host, packet: Packet) -> tuple[tuple[Packet, bool] | None, str]:
        """Return what caused a packet, and the kind of the time until it was sent."""
        if not host.made(packet) and (passed := self._forwards[host.name].of(packet)) is not None:
            return (passed, True), "forward"
        if packet.is_pure_ack:
            data = self._wakes[host.name].latest(packet)
            return ((data, True), "kernel" if data.arrived == packet.sent else "ack") if data else (None, "timer")
        woke = self._woke(host, packet)
        if woke is not None and woke.arrived == packet.sent:
            return (woke, True), "kernel"
        paced = self._paced(host, packet) if self._free or woke is None else None
        if woke is not None and not packet.repeated and (paced is None or not woke.is_pure_ack):
            other = self._pushed(host, packet) if woke.is_pure_ack else None  # an ACK lets the kernel send in its instant
            return (other or woke, True), "pushed" if other else "program"
        if (left := self._left(host, packet)) is not None:
            return (left, False), "queue"
        if paced is not None:
            return (paced, False), "paced"
        if (pushed := self._pushed(host, packet)) is not None:
            return (pushed, True), "pushed"
        before = self._latest(host, packet, packet.sent, packet.order)
        return before, "again" if packet.repeated else "timer"

    def _woke(self, host: Host, packet: Packet) -> Packet | None:
        """Return what arrived last, of what may concern a packet, when it was sent or some readings of the clock before.

        An ACK that took no time on its way let nothing go that would have waited, if a program was woken as well.
        """
        instant: Packet | None = None
        for number in range(host.arrived_by(packet.sent) - 1, -1, -1):
            each = host.received[number]
            if packet.sent - each.arrived > (0 if packet.repeated else AT_ONCE_NS):
                break
            if not self._may_precede(each, packet):
                continue
            same = each.connection == packet.connection
            if same and (not packet.repeated or each.arrived == packet.sent):
                if each.is_pure_ack and each.sent == each.arrived and not packet.repeated:
                    instant = instant or each
                    continue
                return self._read(host, each, packet) or each
            if not same and not packet.repeated and self._may_concern(host, each, packet):
                rival = self._same_instant(host, number, packet)
                return rival or each
        return instant

    def _read(self, host: Host, ack: Packet, packet: Packet) -> Packet | None:
        """Return what a program answered, if an ACK arrived before it had: what an ACK lets go, the kernel sends at once."""
        if not ack.is_pure_ack or packet.repeated or ack.arrived == packet.sent:
            return None
        read = self._wakes[host.name].latest(packet)
        if read is None or packet.sent - read.arrived > AT_ONCE_NS or not read.length or not self._may_precede(read, packet):
            return None
        return read

    def _pushed(self, host: Host, packet: Packet) -> Packet | None:
        """Return a message that a host passed on at once, on a connection that another host had opened to be told of it.

        So get subscribers, replicas and consumers of queues what publishers, writers and producers send to a server. The end of
        a connection is one, too: FTP confirms a transfer on another connection when it has come.
        """
        if not packet.is_tcp or not packet.length or packet.repeated:
            return None
        for number in range(host.arrived_by(packet.sent) - 1, -1, -1):
            each = host.received[number]
            if packet.sent - each.arrived > AT_ONCE_NS:
                return None
            says = each.is_tcp and (each.length or each.flags & FIN)
            if says and each.connection != packet.connection and self._may_precede(each, packet):
                return each
        return None

    def _same_instant(self, host: Host, number: int, packet: Packet) -> Packet | None:
        """Return what arrived on the packet's own connection in the same instant as another packet."""
        instant = host.received[number].arrived
        while number and host.received[number - 1].arrived == instant:
            number -= 1
            each = host.received[number]
            takes_time = not each.is_pure_ack or each.sent < each.arrived
            if each.connection == packet.connection and takes_time and self._may_precede(each, packet):
                return each
        return None

    def _may_precede(self, arrived: Packet, packet: Packet) -> bool:
        """Return whether what arrived came before a packet was sent, and is not on the way already."""
        return arrived.precedes(packet) and (id(arrived), True) not in self._seen

    def _may_concern(self, host: Host, arrived: Packet, packet: Packet) -> bool:
        """Return whether what arrived on another connection may have woken the program that sent a packet."""
        if arrived.is_pure_ack and id(arrived) not in self._wakes[host.name].opening:
            return False
        if arrived.is_ping and not packet.is_ping:
            return False
        of_arrived, of_packet = self._openers.get(arrived.connection), self._openers.get(packet.connection)
        return of_arrived in (host.name, None) or of_packet in (host.name, None)

    def _left(self, host: Host, packet: Packet) -> Packet | None:
        """Return the packet that left the queue at the instant when this one was sent: TCP keeps few bytes in a queue."""
        number = bisect_right(host.departures, packet.sent) - 1
        while number >= 0 and host.departures[number] == packet.sent:
            left = host.left[number]
            if left.length and left.connection == packet.connection and (id(left), False) not in self._seen:
                return left
            number -= 1
        return None

    def _paced(self, host: Host, packet: Packet) -> Packet | None:
        """Return the segment after which a pacing rate held a packet back."""
        if not packet.is_tcp or not packet.length or not host.made(packet):
            return None
        before = self._before[host.name].pacing(packet.connection).before(packet)
        return None if before is None or (id(before), False) in self._seen else before

    def _latest(self, host: Host, packet: Packet, ns: int, order: int = -1) -> tuple[Packet, bool] | None:
        """Return what a host last received or sent by a time that may concern a packet, and whether it arrived."""
        before = self._before[host.name]
        place = host.arrived_by(ns)
        came = next((each for each in before.received(packet, place) if self._may_precede(each, packet)), None)
        limit = came.arrived if came else -1
        for each in before.sent(packet, order if order >= 0 else host.sent_by(ns)):
            if each.sent <= limit:
                break
            if each is not packet and (id(each), False) not in self._seen:
                return each, False
        return (came, True) if came else None


class _Before:
    """Finds what a host received and sent before a packet that may concern it, without going through all packets of a transfer.

    Each list has places among all packets that the host received, or sent, in order.
    """

    def __init__(self, host: Host, openers: Mapping[Ends, str], opening: Set[int], after_ns: int) -> None:
        self._host, self._openers, self._after_ns = host, openers, after_ns
        self._came: dict[Ends, array[int]] = defaultdict(_places)
        self._asked: dict[Ends, array[int]] = defaultdict(_places)
        self._wakes: dict[tuple[bool, bool], array[int]] = defaultdict(_places)
        self._went: dict[Ends, array[int]] = defaultdict(_places)
        self._made: dict[bool, array[int]] = defaultdict(_places)
        self._pacing: dict[Ends, Pacing] = {}
        for place, each in enumerate(host.received):
            connection = each.connection
            self._came[connection].append(place)
            if not each.is_pure_ack:
                self._asked[connection].append(place)
            elif id(each) not in opening:
                continue
            self._wakes[self._is_own(each), not each.is_tcp and each.is_ping].append(place)
        for place, each in enumerate(host.sent):
            if not each.is_pure_ack:
                self._went[each.connection].append(place)
                if self._is_own(each):
                    self._made[not each.is_tcp and each.is_ping].append(place)

    def _is_own(self, packet: Packet) -> bool:
        """Return whether the host opened a packet's connection, or may have."""
        return self._openers.get(packet.connection) in (self._host.name, None)

    def pacing(self, connection: Ends) -> Pacing:
        """Return the pacing of what the host sent on a connection."""
        if connection not in self._pacing:
            sent = (self._host.sent[place] for place in self._went[connection])
            self._pacing[connection] = Pacing(self._host, [each for each in sent if each.length], self._after_ns)
        return self._pacing[connection]

    def received(self, packet: Packet, end: int) -> Iterator[Packet]:
        """Yield what arrived before a place that may concern a packet, the last one first: what may have woken its program.

        For a segment that is sent again it is anything on its connection.
        """
        if packet.repeated:
            yield from _backwards(self._host.received, end, self._came[packet.connection])
            return
        of = [self._asked[packet.connection], self._wakes[True, False]]
        of += [self._wakes[False, False]] if self._is_own(packet) else []
        if packet.is_ping:
            of += [self._wakes[True, True], *([self._wakes[False, True]] if self._is_own(packet) else [])]
        for each in _backwards(self._host.received, end, *of):
            if each.connection != packet.connection or each.is_settings or not (each.is_pure_ack or each.is_control):
                yield each

    def sent(self, packet: Packet, end: int) -> Iterator[Packet]:
        """Yield what the host sent before a place on a packet's connection or on one of its own, the last one first."""
        of = [self._went[packet.connection], self._made[False], *([self._made[True]] if packet.is_ping else [])]
        return (each for each in _backwards(self._host.sent, end, *of) if not each.is_control)


def _places() -> array[int]:
    return array("q")


def _backwards(packets: Sequence[Packet], end: int, *of: array[int]) -> Iterator[Packet]:
    """Yield the packets at the places of several lists that are before one, the last one first."""
    at = [bisect_left(each, end) for each in of]
    while any(at):
        place, number = max((each[at[number] - 1], number) for number, each in enumerate(of) if at[number])
        at[number] -= 1
        yield packets[place]


class _Wakes:
    """The arrivals at a host that may wake a program, by connection."""

    def __init__(self, host: Host) -> None:
        self._by: dict[Ends, tuple[list[int], list[Packet]]] = {}
        self.opening: set[int] = set()
        """The third parts of handshakes, which wake servers, by `id`."""
        opened: set[Ends] = set()
        for each in host.received:
            if each.flags & SYN and each.is_tcp:
                opened.add(each.connection)
            if not each.is_pure_ack:
                times, packets = self._by.setdefault(each.connection, ([], []))
                times.append(each.arrived)
                packets.append(each)
            elif each.connection in opened:
                opened.discard(each.connection)
                self.opening.add(id(each))

    def latest(self, packet: Packet) -> Packet | None:
        """Return the last one on the connection of a packet before it was sent."""
        times, packets = self._by.get(packet.connection, ([], []))
        number = bisect_right(times, packet.sent) - 1
        while number >= 0 and not packets[number].precedes(packet):
            number -= 1
        return packets[number] if number >= 0 else None


class _Forwards:
    """Packets that arrived at a host for others, by the fields that forwarding keeps."""

    def __init__(self, host: Host) -> None:
        self._by: dict[tuple[object, ...], list[Packet]] = {}
        for each in host.received:
            if not host.wants(each) and not each.is_neighbours:
                self._by.setdefault(each.passing, []).append(each)

    def of(self, sent: Packet) -> Packet | None:
        """Return what arrived and was forwarded as a packet; None for one of the host's own."""
        came = [each for each in self._by.get(sent.passing, ()) if each.precedes(sent)]
        return came[-1] if came else None


def _openers(trace: Trace) -> dict[Ends, str]:
    """Return the host that opened each connection: that sent the SYN, or the first packet that was seen."""
    found: dict[Ends, str] = {}
    first: dict[Ends, tuple[int, str]] = {}
    for name, host in trace.hosts.items():
        for each in filter(host.made, host.sent):
            if each.is_opening:
                found[each.connection] = name
            elif each.connection not in first or each.sent < first[each.connection][0]:
                first[each.connection] = each.sent, name
    return {connection: name for connection, (_, name) in first.items()} | found


def _passes_on(packet: Packet, came: Packet) -> bool:
    """Return whether a message has the content of one that arrived, as far as it is known: of TLS none is.

    A broker passes on what a publisher sent; a database that answers because another session has released a lock does not.
    """
    if packet.tls or came.tls:
        return True
    return any(came.data[at : at + PIECE] in packet.data for at in range(0, len(came.data), PIECE))


def _time(packet: Packet, arrived: bool) -> int:
    return packet.arrived if arrived else packet.sent


def _begin(part: Part) -> int:
    return part.packet.sent if isinstance(part, Trip) else part.begin


def _where(part: Part) -> str:
    return part.packet.sender if isinstance(part, Trip) else part.host
