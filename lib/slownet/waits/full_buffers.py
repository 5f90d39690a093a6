"""Tells a program's full send buffer from a congestion window, by what the kernel knows of a connection at its end.

In packets, a window that does not open and a full buffer look alike: as much is in flight in each round trip, and an ACK lets
the next segment go. But slow start doubles the window that limits it, until that is twice the flight, and later a window opens
only while it limits (RFC 7661; include/net/tcp.h, tcp_is_cwnd_limited). So the buffer is what limits flights that do not grow,
if the kernel knows that the window ended larger than these.

After a loss it may end hardly larger than a small buffer. But congestion avoidance adds 0.53 segments a round trip at least, as
long as CUBIC's own curve is below that (RFC 9438, 4.3): a flight that stays the same for longer is the buffer's.

Where computing takes time, what was in flight is not that of an instant, and slow start may show two flights alike, one at the
end of its round trip and one at the next one's begin; not three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from ipaddress import ip_address
from itertools import pairwise

from slownet.net.sock_diag import UNLIMITED, Connection
from slownet.waits.flows import FIRST_WINDOW, KEPT_OF_WINDOW
from slownet.waits.trace import Host, Trace

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
