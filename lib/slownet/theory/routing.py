"""The duration of loss after a link between two routers has failed, by the routing protocol and its timers.

A link that loses its carrier is noticed at once. One that loses packets in silence is noticed when nothing has been heard from
the neighbour for as long as the protocol waits: the wait begins with the last message before the failure, so that it ends
earlier by that message's age. Where the protocol's standard makes a timer random, theory gives an interval.

Sources: RFC 2328 (OSPF; 9.5 and 10.5: hellos and the inactivity timer, C.3: their values), RFC 5880 (BFD; 6.8.4: detection
time, 6.8.7: intervals are shortened at random by up to a quarter), RFC 4271 (BGP; 4.4 and 6.5: KEEPALIVE and Hold Timer,
9.2.1.1: the MinRouteAdvertisementInterval, 10: jitter of a quarter), RFC 2453 (RIP; 3.8: timers). Defaults: FRR 10.3
(bgpd/bgpd.h, bfdd/bfd.h, lib/libospf.h, ripd/ripd.c) and BIRD 2 (proto/bgp/config.Y, proto/ospf/ospf.h).
"""

from __future__ import annotations

from dataclasses import dataclass

from slownet.model.errors import SlownetError

OSPF_HELLO_S, OSPF_DEAD_S = 10.0, 40.0
"""HelloInterval and RouterDeadInterval: FRR's and BIRD's defaults, and RFC 2328's example for a local network."""
BFD_INTERVAL_MS, BFD_MULTIPLIER = 300.0, 3
"""FRR's defaults."""
FRR_HOLD_S, BIRD_HOLD_S = 180.0, 240.0
KEEPALIVES = 3
"""KEEPALIVEs in a hold time (RFC 4271, 4.4), also FRR's and BIRD's default."""
JITTER = 0.25
"""By which part a timer of BGP or BFD is shortened at most, at random."""
RIP_UPDATE_S, RIP_TIMEOUT_S = 30.0, 180.0
FRR_RIP_JITTER_S = 7.0
"""By how much FRR's updates are early or late: a quarter of the interval, rounded; RFC 2453 has 5 s."""
FRR_ROUTES_MS = 60.0 + 50.0
"""FRR's ospfd calculates at once, and again 50 ms later (``timers throttle spf 0 50 5000``); bgpd collects changes for 50 ms,
and zebra for 10 ms, before the kernel gets them."""
BIRD_TICKS_MS = 2 * 1000.0
"""BIRD's OSPF looks for changes once a second: the router that notices the failure, and then the one that gets its message."""


@dataclass(frozen=True)
class Interval:
    """The least and the most of a time, in ms."""

    least_ms: float
    most_ms: float

    def later(self, by_ms: float) -> Interval:
        """Return the interval whose most is later.

        by_ms: by how much, in ms.
        """
        return Interval(self.least_ms, self.most_ms + by_ms)


def ospf(hello_s: float = OSPF_HELLO_S, dead_s: float = OSPF_DEAD_S) -> Interval:
    """Compute how long after a silent failure OSPF notices it.

    hello_s, dead_s: HelloInterval and RouterDeadInterval, in seconds.
    returns: the RouterDeadInterval less the age of the last hello. The router whose neighbour was silent first is enough: both
        need to state a link for it to be used (RFC 2328, 16.1).
    Raises SlownetError: an interval is not above 0, or the second not above the first.
    """
    return _silence(1000 * dead_s, 1000 * hello_s, "ospf", "dead_s above hello_s")


def bfd(interval_ms: float = BFD_INTERVAL_MS, multiplier: int = BFD_MULTIPLIER) -> Interval:
    """Compute how long after a silent failure BFD notices it, in asynchronous mode with the same interval in both directions.

    interval_ms: desired Min TX Interval and Required Min RX Interval, in ms.
    multiplier: detect Mult, above 1.
    returns: as many intervals as Detect Mult, less the age of the last packet: at most one interval.
    Raises SlownetError: the interval is not above 0, or the multiplier not above 1.
    """
    return _silence(multiplier * interval_ms, interval_ms, "bfd", "an interval above 0, and a multiplier above 1")


def bgp(hold_s: float = FRR_HOLD_S, jitter: float = 0.0) -> Interval:
    """Compute how long after a silent failure a speaker of BGP notices it.

    hold_s: the negotiated hold time, in seconds.
    jitter: the largest fraction of it that the Hold Timer is shortened by. RFC 4271 lets it have its whole length, as FRR does;
        BIRD shortens it as it does other timers, by `JITTER`.
    returns: the Hold Timer less the age of the last KEEPALIVE: at most a third of the hold time.
    Raises SlownetError: the hold time is not above 0, or the jitter not from 0 to below 1.
    """
    if not 0 <= jitter < 1:
        raise SlownetError(f"jitter is {jitter:g}", "in bgp", "give 0 to below 1")
    found = _silence(1000 * hold_s, 1000 * hold_s / KEEPALIVES, "bgp", "hold_s above 0")
    return Interval(found.least_ms - 1000 * jitter * hold_s, found.most_ms)


def rip(update_s: float = RIP_UPDATE_S, timeout_s: float = RIP_TIMEOUT_S, jitter_s: float = FRR_RIP_JITTER_S) -> Interval:
    """Compute how long after a silent failure RIP has the route over another neighbour.

    update_s, timeout_s: the distance between two updates and the timeout of a route, in seconds.
    jitter_s: by how much an update is early or late at most, in seconds.
    returns: the timeout less the age of the last update, and the wait for the other neighbour's next one: a longer route is not
        taken before (RFC 2453, 3.9.2).
    Raises SlownetError: a time is not above 0, or the timeout not above two updates.
    """
    apart = 1000 * (update_s + jitter_s)
    return _silence(1000 * timeout_s, apart, "rip", "timeout_s above update_s").later(apart)


def news(mrai_s: float, since_s: float, jitter: float = JITTER) -> Interval:
    """Compute how long a speaker of BGP keeps a change to itself that comes soon after another one.

    mrai_s: the MinRouteAdvertisementInterval, in seconds; 0 means none, FRR's default.
    since_s: seconds since the last advertisement to that neighbour.
    jitter: the largest fraction that the interval is shortened by.
    returns: what is left of the interval, 0 if it is over.
    Raises SlownetError: a time is below 0, or the jitter not from 0 to below 1.
    """
    if min(mrai_s, since_s) < 0 or not 0 <= jitter < 1:
        raise SlownetError(
            f"mrai_s is {mrai_s:g}, since_s {since_s:g}, jitter {jitter:g}", "in news", "give 0 or more, below 1"
        )
    least, most = (max(0.0, 1000 * (each - since_s)) for each in (mrai_s * (1 - jitter), mrai_s))
    return Interval(least, most)


def _silence(limit_ms: float, apart_ms: float, where: str, fix: str) -> Interval:
    """Return when a limit is over that begins with the last of messages, from a failure between two of them on."""
    if not 0 < apart_ms < limit_ms:
        raise SlownetError(f"{limit_ms:g} ms of silence between messages {apart_ms:g} ms apart", f"in {where}", f"give {fix}")
    return Interval(limit_ms - apart_ms, limit_ms)
