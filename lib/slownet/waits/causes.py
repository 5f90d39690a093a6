"""Gives each part of the deciding path its cause."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from ipaddress import ip_address
from itertools import pairwise

from slownet.net.sock_diag import UNLIMITED, Connection
from slownet.waits import behind, paths
from slownet.waits.account import CLOCK_IS_READ, OR_A_TIMER, Cause, Step
from slownet.waits.client_operation import NAMES
from slownet.waits.flows import APPLICATION, FIRST_WINDOW, HANDSHAKE, KEPT_OF_WINDOW, RECOVERY, SEND_BUFFER, SLOW_START
from slownet.waits.pacing import PACING, RTO_MIN_NS, rate
from slownet.waits.packets import ACK, FIN, RST, SYN, UDP, Ends, Packet
from slownet.waits.trace import AT_ONCE_NS, Host, Trace
from slownet.waits.walk import Part, Stay, Trip

# Tells a program's full send buffer from a congestion window, by what the kernel knows of a connection at its end.
#
# In packets, a window that does not open and a full buffer look alike: as much is in flight in each round trip, and an ACK
# lets the next segment go. But slow start doubles the window that limits it, until that is twice the flight, and later a
# window opens only while it limits (RFC 7661; include/net/tcp.h, tcp_is_cwnd_limited). So the buffer is what limits flights
# that do not grow, if the kernel knows that the window ended larger than these.
#
# After a loss it may end hardly larger than a small buffer. But congestion avoidance adds 0.53 segments a round trip at
# least, as long as CUBIC's own curve is below that (RFC 9438, 4.3): a flight that stays the same for longer is the buffer's.
#
# Where computing takes time, what was in flight is not that of an instant, and slow start may show two flights alike, one at
# the end of its round trip and one at the next one's begin; not three.

DOUBLES = 1.75
"""By which factor a flight is larger a round trip later where slow start limits it, at least: two, less some small segments."""
LARGER = 1.25
"""By which factor the window is larger than a flight, at least, that it does not limit."""
LARGEST = 0.8
"""After slow start: the least part of the largest flight of a flight that the buffer may have limited."""
ALIKE = 3
"""Flights, at least, that are like the largest one where computing takes time and the buffer limits them."""
SAME = 6
"""The fewest flights of one size that congestion avoidance cannot send: it would have opened the window by three segments."""
RENO, CUBIC = 0.53, 0.4
"""Segments that congestion avoidance adds in each round trip at least, and the constant C (RFC 9438, 4.3 and 5)."""
Way = tuple[str, bytes, int, bytes, int]
"""A host, address and port of its end, and of the other one."""


def totals(trace: Trace) -> dict[Way, Connection]:
    """Return what hosts' kernels know of connections; of several with the same ends, of the last."""
    return {way: each for name, host in trace.hosts.items() for way, each in _ways(name, host)}


def _ways(name: str, host: Host) -> Iterator[tuple[Way, Connection]]:
    for each in host.kernel.connections:
        with suppress(ValueError):  # a lab may have written anything
            (local, port), (remote, to) = each.local, each.remote
            yield (name, ip_address(local).packed, port, ip_address(remote).packed, to), each


def full_buffers(flights: Sequence[int], known: Connection, *, round_trip_ns: float = 0.0, free: bool = True) -> list[bool]:
    """Return for each wait for an ACK whether the send buffer limited what was in flight.

    Parameters
    ----------
    flights : sequence of int
        The segments in flight at the waits that no receive window explains, a round trip after each other.
    known : Connection
        What the sender's kernel knows of it at its end.
    round_trip_ns : float
        The shortest round trip.
    free : bool
        Whether computing takes no time.

    Returns
    -------
    list of bool
        The first of several is like the second one: it has none before it.
    """
    largest = max(flights, default=0)
    if known.cwnd < LARGER * largest:
        same = known.cwnd > largest and flights.count(largest) >= SAME and _grows(largest, round_trip_ns)
        return [same and known.ssthresh < UNLIMITED and each == largest for each in flights]
    if not free:
        near = [each >= LARGEST * largest for each in flights]
        return near if sum(near) >= ALIKE else [False] * len(flights)
    least = 0.0 if known.ssthresh >= UNLIMITED else LARGEST * largest
    later = [least <= flight < DOUBLES * before for before, flight in pairwise(flights)]
    first = [later[0] if later else flight < FIRST_WINDOW <= known.cwnd for flight in flights[:1]]
    return [*first, *later]


def _grows(window: int, round_trip_ns: float) -> bool:
    """Return whether congestion avoidance opens a window by 0.53 segments in each round trip, until it is what it was.

    It was so after 0.3 W / 0.53 round trips; by CUBIC's curve after the cube root of 0.3 W / 0.4 seconds (RFC 9438, 4.2).
    """
    lost = (1 - KEPT_OF_WINDOW) * window
    return lost / RENO * round_trip_ns / 1e9 <= float((lost / CUBIC) ** (1 / 3))


MS = 1_000_000
CORKED_NS = 12 * MS
"""TCP_CORK holds a segment that is not full for the retransmission timeout, a round trip and 200 ms, and ticks."""
QUIC_ACK_NS = 30 * MS
"""The longest that QUIC delays an ACK: 25 ms unless the two ends state another time (RFC 9000, 18.2), and a tick."""
GIVES_UP_NS = 60_000 * MS
"""Linux waits for more than a minute after its last SYN (tcp_syn_retries, 6); limits of programs are shorter."""
WINDOW_UPDATE = 100
"""Bytes: a message of SSH or of HTTP/2 that only opens a window is smaller, encrypted, too."""
UPDATES = {13 * frames + cover for frames in (1, 2) for cover in (0, 21, 22, 29)} | {26 + 2 * each for each in (21, 22, 29)}
"""Bytes of one or two WINDOW_UPDATE frames (RFC 9113, 6.9: 13 each), plain, in a record of TLS 1.2 or of 1.3, or in two."""
BULK = 2 * 1448
"""Bytes sent at once that make a packet part of a long message."""
MOST_TURNS = 64
"""Times of a host's answers to others that are kept."""
LOOK_BACK = 4096
"""Packets of a host that are searched for lost ones."""
FEW_PACED = 2
"""Times between segments that may be the kernel's computing, where that takes any, and look like those of a pacing rate."""
SSH = 22
COOKIE_REQUEST = b"\x22\x02"
"""The option of a SYN that asks for a cookie of TCP Fast Open: its kind, 34, and its length without one (RFC 7413, 4.1.1)."""
Asked = Callable[[Packet], str]


class Causes:
    """Names the causes of the parts of one operation.

    asked: returns a packet's message; free: whether computing takes no time.
    """

    def __init__(self, trace: Trace, parts: Sequence[Part], asked: Asked, free: bool, window: tuple[int, int]) -> None:
        self._trace, self._parts, self._asked, self._free = trace, parts, asked, free
        self._ways = paths.Ways(trace, *window)
        self._known = totals(trace)
        self._held: dict[Way, array[int]] = {}
        self._messages: list[list[Packet]] = []
        self._places: list[int] = []
        self._then: list[Packet | None] = []
        for packet, then in ((each.packet, each.then) for each in parts if isinstance(each, Trip)):
            if not self._messages or packet.passing != self._messages[-1][-1].passing:
                self._messages.append([])
                self._then.append(None)
            self._messages[-1].append(packet)
            self._then[-1] = then
            self._places.append(len(self._messages) - 1)
        self._trips = [each[0] for each in self._messages]
        self._given: dict[int, tuple[Cause, str]] = {}
        for number, packet in enumerate(self._trips):
            self._released(number, packet)
        self._name_full_buffers()

    def steps(self) -> list[Step]:
        """Return the steps in order."""
        found: list[Step] = []
        trip = 0
        for part in self._parts:
            if isinstance(part, Trip):
                for step in self._trip(self._places[trip], part.packet):
                    if found and step.hops and _goes_on(found[-1], step):
                        found[-1] = found[-1]._replace(end_ns=step.end_ns)
                    else:
                        found.append(step)
                trip += 1
            else:
                found.append(self._stay(part, self._places[trip] if trip < len(self._places) else len(self._trips)))
        return found

    def _trip(self, number: int, packet: Packet) -> list[Step]:
        """Return the steps of a message on one of its hops: the queue, its own bytes, and the way."""
        message = self._messages[number]
        cause, detail = self._given.get(number) or self._cause(message[0])
        found = self._ways.split(packet)
        distance, own, queued = found.distance, found.own, found.queued
        sender, receiver, size, ends = packet.sender, packet.receiver, packet.length, packet.ends()
        at, steps = packet.sent, []
        bytes_ahead = paths.ahead(self._trace, packet) if queued else 0
        if queued and self._free and self._ways.is_late(packet, found, bytes_ahead):
            steps.append(Step(at, at + queued, Cause.COMPUTING, sender, sender, CLOCK_IS_READ, connection=ends))
        elif queued:
            text = f"{bytes_ahead:,} bytes ahead" if bytes_ahead else "on the way, or a delay that varies"
            steps.append(Step(at, at + queued, Cause.QUEUE, sender, receiver, text, size=size, connection=ends))
        if own:
            begin, text = at + queued, f"{packet.size:,} bytes"
            steps.append(Step(begin, begin + own, Cause.SERIALISATION, sender, receiver, text, size=size, connection=ends))
        if len(message) > 1:
            sender, receiver = message[0].sender, message[-1].receiver
        hops = tuple((each.sender, each.receiver) for each in message) if len(message) > 1 else ()
        begin, first = at + queued + own, packet is message[0]
        asked = self._asked(packet)
        steps.append(Step(begin, begin + distance, cause, sender, receiver, detail, asked, size, ends, first, hops))
        return steps

    def _released(self, number: int, ack: Packet) -> None:
        """Name what an ACK on the path let go, and give that cause to the ACK and to what it acknowledges."""
        if (then := self._then[number]) is None:
            return
        if not ack.is_pure_ack:
            if found := self._opens_a_window(number, ack, then):
                self._give(number, found)
            return
        if not _answers(then, ack):
            return
        if number and self._trips[number - 1].is_tcp and self._trips[number - 1].flags & SYN:
            return  # the third part of a handshake
        found = _window(then, ack)
        self._give(number, found)
        if self._known and found[0] is Cause.WINDOW and then.edge >= 0 and then.phase != RECOVERY:
            way = then.sender, then.source, then.sport, then.target, then.dport
            if way in self._known:
                self._held.setdefault(way, array("q")).append(number)

    def _name_full_buffers(self) -> None:
        """Give the waits for ACKs that no window explains, as far as the kernel knows it, to the send buffer.

        Not those of a connection that is paced, as BBR's window is larger than what it sends.
        """
        stays = (each for each in self._parts if isinstance(each, Stay))
        paced = Counter(each.until.connection for each in stays if self._is_paced(each) and each.until)
        most = 0 if self._free else FEW_PACED
        for way, numbers in self._held.items():
            waited = [then for number in numbers if (then := self._then[number])]
            if paced[waited[0].connection] > most:
                continue
            flights, round_trip = [then.segments for then in waited], self._ways.round_trip(waited[0])
            full = full_buffers(flights, self._known[way], round_trip_ns=round_trip, free=self._free)
            for number, then, is_full in zip(numbers, waited, full, strict=True):
                if is_full and not _fills_the_first_window(then):
                    self._give(number, (Cause.WINDOW, f"{SEND_BUFFER}, {then.flight:,} bytes in flight"))

    def _is_paced(self, stay: Stay) -> bool:
        """Return whether a pacing rate held a segment back, longer than what computing may take."""
        return stay.kind == "paced" and (self._free or stay.end - stay.begin > AT_ONCE_NS)

    def _give(self, number: int, cause: tuple[Cause, str]) -> None:
        self._given[number] = cause
        if number and self._trips[number - 1].length and _answers(self._trips[number], self._trips[number - 1]):
            self._given[number - 1] = cause

    def _opens_a_window(self, number: int, small: Packet, then: Packet) -> tuple[Cause, str] | None:
        """Return the cause if a small message stands between two parts of one long one: it opens a window above TCP."""
        if not number or not 0 < small.length <= WINDOW_UPDATE:
            return None
        before = self._trips[number - 1]
        if not _answers(then, small) or not _answers(small, before):
            return None
        if small.protocol == UDP and (lost := self._lost(before, small)):
            return Cause.RETRANSMISSION, f"QUIC's, {lost} lost"
        if min(self._at_once(before), self._at_once(then)) < BULK:
            return None
        if small.protocol == UDP:
            short = all(each.data[:1] and not each.data[0] & 0x80 for each in (before, small, then))
            return (Cause.WINDOW, "QUIC's congestion or flow control") if short else None
        if SSH in (small.sport, small.dport):
            return Cause.WINDOW, "SSH's"
        if "WINDOW_UPDATE" in self._asked(small) or small.length in UPDATES:
            return Cause.WINDOW, "HTTP/2's"
        return None

    def _at_once(self, packet: Packet) -> int:
        """Return the bytes of a connection that a host sent together with a packet."""
        sent, found = self._trace.hosts[packet.sender].sent, 0
        for step, start in ((-1, packet.order), (1, packet.order + 1)):
            number = start
            while 0 <= number < len(sent) and abs(sent[number].sent - packet.sent) <= AT_ONCE_NS and found < BULK:
                found += sent[number].length if sent[number].connection == packet.connection else 0
                number += step
        return found

    def _lost(self, before: Packet, small: Packet) -> int:
        """Return how many datagrams were lost that had been sent with, or just before, one that was acknowledged."""
        sent = self._trace.hosts[before.sender].sent
        found, number = 0, before.order + 1
        while number < len(sent) and sent[number].sent <= before.sent + AT_ONCE_NS:
            number += 1
        for each in reversed(sent[max(0, number - LOOK_BACK) : number]):
            if each.sent < before.sent - (small.arrived - before.sent):
                break
            found += each.connection == before.connection and not each.receiver
        return found

    @cached_property
    def _quic(self) -> set[Ends]:
        """The connections of QUIC."""
        return {each.connection for host in self._trace.hosts.values() for each in host.sent if each.is_quic}

    def _probes(self, packet: Packet) -> str:
        """Return what was lost if a timer of QUIC made a host ask again (RFC 9002, 6.2); empty if nothing was.

        That is of what it had sent last. What its receiver's kernel has dropped was captured there all the same.
        """
        sent, last, lost = self._trace.hosts[packet.sender].sent, None, 0
        for number in range(packet.order - 1, max(-1, packet.order - LOOK_BACK), -1):
            each = sent[number]
            if last is not None and each.sent < last.sent - AT_ONCE_NS:
                break
            if each.connection == packet.connection:
                last, lost = last or each, lost + (not each.receiver)
        if lost or last is None:
            return f"{lost} lost" if lost else ""
        receiver = self._trace.hosts[last.receiver]
        return f"{receiver.name} had dropped one" if behind.dropped(receiver.kernel) else ""

    def _cause(self, packet: Packet) -> tuple[Cause, str]:
        """Return the cause of a trip by what the packet carries."""
        if packet.is_neighbours:
            return Cause.NEIGHBOUR, "ARP" if packet.protocol == 0 else "neighbour discovery"
        if packet.protocol == UDP and (name := _name(packet)):
            return name
        if packet.protocol == UDP and packet.data[:1] and packet.data[0] & 0xC0 == 0xC0:
            return Cause.TLS, "QUIC's handshake"
        if not packet.is_tcp:
            return Cause.EXCHANGE, ""
        if packet.flags & SYN:
            return _opening(packet)
        if packet.is_pure_ack:
            return Cause.HANDSHAKE, "ACK"
        if packet.flags & RST and not packet.length:
            return Cause.HANDSHAKE, "refused"
        if flight := _tls_flight(packet):
            return Cause.TLS, flight
        if name := _name(packet):
            return name
        return Cause.EXCHANGE, "end" if packet.flags & FIN and not packet.length else ""

    def _stay(self, stay: Stay, trip: int) -> Step:
        cause, detail = self._on_host(stay, trip)
        connection = stay.until.ends() if stay.until is not None else stay.since.ends() if stay.since is not None else ""
        turns = self._turns(stay) if cause is Cause.TIMER else ()
        return Step(stay.begin, stay.end, cause, stay.host, stay.host, detail, connection=connection, turns=turns)

    def _turns(self, stay: Stay) -> tuple[int, ...]:
        """Return when a host answered others while nothing arrived for an operation."""
        host, own = self._trace.hosts[stay.host], stay.until.connection if stay.until is not None else None
        found = {
            each.sent
            for each in host.sent[host.sent_by(stay.begin) : host.sent_by(stay.end - AT_ONCE_NS)]
            if each.is_tcp and each.length and each.connection != own and not each.opens and host.made(each)
        }
        return tuple(sorted(found)[-MOST_TURNS:])

    def _on_host(self, stay: Stay, trip: int) -> tuple[Cause, str]:
        """Return the cause of a time on a host; `trip`: the number of the message that follows."""
        packet = stay.until
        if stay.kind == "other":
            return Cause.WAITING, "the host worked for a request that had come before"
        if packet is None or stay.kind == "unknown":
            return Cause.REMAINDER, "no capture shows where it was sent"
        if stay.kind == "queue":
            return Cause.SERIALISATION, "until an earlier segment had left the queue"
        if self._is_paced(stay) and stay.since is not None:
            mbit = rate(self._trace.hosts[stay.host], stay.since, packet) / 1e6
            return Cause.WINDOW, f"{PACING}, {mbit:.3g} Mbit/s"
        if stay.kind == "ack" and stay.end - stay.begin > AT_ONCE_NS:
            return self._late_ack(packet, trip)
        if stay.kind == "again":
            full = behind.full_queue(self._trace, packet, stay.since) if packet.flags & SYN else ""
            return Cause.RETRANSMISSION, _again(packet, stay) + (f", {full}'s queue of connections was full" if full else "")
        return self._timer(packet, stay, trip)

    def _late_ack(self, ack: Packet, trip: int) -> tuple[Cause, str]:
        then = self._then[trip] if trip < len(self._then) else None
        if then is not None and _answers(then, ack):
            cause, detail = _window(then, ack)
            if cause is Cause.NAGLE:
                return Cause.NAGLE, "the ACK was delayed"
            if detail.startswith("receive"):
                return Cause.WINDOW, "receive window: until the program had read"
        return Cause.DELAYED_ACK, ""

    def _timer(self, packet: Packet, stay: Stay, trip: int) -> tuple[Cause, str]:
        took = stay.end - stay.begin
        if took <= AT_ONCE_NS:
            return Cause.COMPUTING, CLOCK_IS_READ if self._free else ""
        before = stay.since if stay.since is not None and stay.since.sender == stay.host else None
        if before and packet.dport in NAMES and before.dport in NAMES:
            return Cause.NAME, "no answer came"
        if before and packet.is_neighbours and before.is_neighbours:
            return Cause.NEIGHBOUR, "no answer came"
        if not self._free:
            return Cause.COMPUTING, f"{OR_A_TIMER}: this clock charges for CPU, and cannot tell"
        if packet.is_tcp and packet.edge < 0 and packet.length <= 1 and packet.flight == 0:
            return Cause.WINDOW, "receive window: closed, and probed"
        if 0 <= took - RTO_MIN_NS - self._ways.round_trip(packet) <= CORKED_NS and 0 < packet.length < packet.mss:
            return Cause.TIMER, "as long as TCP_CORK holds a segment"
        if before and before.is_opening and before.repeated and took >= GIVES_UP_NS:
            return Cause.RETRANSMISSION, "SYN, until connect gave up"
        if packet.protocol == UDP and packet.connection in self._quic and (found := self._timer_of_quic(packet, took, trip)):
            return found
        if before and before.connection == packet.connection:
            return Cause.TIMER, "between two messages that it sent"
        return Cause.TIMER, "nothing arrived meanwhile"

    def _timer_of_quic(self, packet: Packet, took: int, trip: int) -> tuple[Cause, str] | None:
        if took <= QUIC_ACK_NS and self._given.get(trip, ("", ""))[1].startswith("QUIC's"):
            return Cause.DELAYED_ACK, "QUIC's"
        lost = self._probes(packet)
        return (Cause.RETRANSMISSION, f"QUIC's probe, {lost}") if lost else None


def _goes_on(before: Step, step: Step) -> bool:
    """Return whether a step is the next hop of the message of the one before it."""
    return before.hops == step.hops and before.connection == step.connection and not step.trip


def _answers(one: Packet, other: Packet) -> bool:
    """Return whether one packet answers another one on its connection."""
    return one.connection == other.connection and one.source == other.target and one.sport == other.dport


def _window(then: Packet, ack: Packet) -> tuple[Cause, str]:
    """Return why a segment had waited for an ACK."""
    if then.repeated:
        return Cause.RETRANSMISSION, "fast" if then.sent == ack.arrived else "until the ACK from which the timer ran"
    small = then.held and not then.flags & FIN and then.segments < FIRST_WINDOW
    if small and (then.phase == SLOW_START or not then.side.nodelay):  # ssh sets TCP_NODELAY only after its login
        return Cause.NAGLE, "a small segment waits for the ACK of an earlier small one"
    if then.edge < 0:
        return Cause.WINDOW, f"receive window, {then.flight:,} bytes in flight"
    segments = max(1, then.segments)
    return Cause.WINDOW, f"{then.phase}, {segments} segment{'s' * (segments != 1)} in flight"


def _fills_the_first_window(then: Packet) -> bool:
    """Return whether all that had been sent before a segment was the first window: that limits, whatever the buffer."""
    return then.segments == FIRST_WINDOW and then.flight == then.highest - 1


def _opening(packet: Packet) -> tuple[Cause, str]:
    """Return the cause of a SYN or SYN-ACK: with TCP Fast Open (RFC 7413) a SYN carries the question, once it has a cookie."""
    if packet.length:
        return Cause.EXCHANGE, "in the SYN, by TCP Fast Open"
    if packet.flags & ACK:
        return Cause.HANDSHAKE, "SYN-ACK"
    return Cause.HANDSHAKE, "SYN, which asks for a cookie" if COOKIE_REQUEST in packet.options else "SYN"


def _again(packet: Packet, stay: Stay) -> str:
    """Return which kind of retransmission a timer sent."""
    if packet.flags & SYN:
        return "SYN-ACK" if packet.flags & ACK else "SYN"
    whole = packet.length + bool(packet.flags & FIN)
    last = stay.since
    if whole <= packet.flight and packet.flight > whole and _is_highest(packet):
        return "tail probe"
    if stay.end - stay.begin < RTO_MIN_NS:
        return "fast, after the reordering timer"
    first = last is None or not (last.repeated and last.sender == packet.sender)
    return "tail probe" if first and _is_highest(packet) else "timeout"


def _is_highest(packet: Packet) -> bool:
    """Return whether nothing after a segment had been sent."""
    return packet.highest == packet.end


def _name(packet: Packet) -> tuple[Cause, str] | None:
    """Return the cause of what a name server is asked, or answers, over any transport that has a port of its own."""
    if packet.dport in NAMES or packet.sport in NAMES:
        return (Cause.NAME, "question" if packet.dport in NAMES else "answer") if packet.length else None
    return None


def _tls_flight(packet: Packet) -> str:
    """Return which flight of a TLS handshake a segment belongs to; empty if to none."""
    if not packet.tls:
        return ""
    kinds = set(packet.tls)
    if HANDSHAKE in kinds and APPLICATION not in kinds:
        begins = packet.data[:1] == b"\x16" and len(packet.data) > 5
        return {1: "ClientHello", 2: "ServerHello"}.get(packet.data[5], "") if begins and packet.data[5] < 3 else "handshake"
    if 20 in kinds and APPLICATION not in kinds:
        return "Finished"
    if packet.of_hello:
        return "ServerHello, certificate, Finished"
    return ""
