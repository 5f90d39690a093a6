"""The time in which Linux's TCP notices that its full-size segments are lost because the path's MTU is smaller.

Sources: RFC 1191 (path MTU discovery by ICMP), RFC 2923, 2.1 (black holes), RFC 4821 (probing by TCP), RFC 6298 (timeouts),
RFC 8985, 7 (tail loss probes); Linux: ip-sysctl on ``tcp_mtu_probing``, ``tcp_base_mss`` and ``tcp_retries1``,
net/ipv4/tcp_timer.c (retransmits_timed_out).
"""

from __future__ import annotations

from collections.abc import Iterator

from slownet.model.errors import SlownetError
from slownet.theory.fallback import FIRST_RTO_MS
from slownet.theory.timers import PROBE_ADDS_MS, RTO_MIN_MS, TICK_MS, fires_at, ticks, timeout_ms

RETRIES1 = 3
"""Linux's default of ``tcp_retries1``: a black hole is suspected after the time that so many retransmissions would take."""
SUSPECTED_MS = RTO_MIN_MS * (2 ** (RETRIES1 + 1) - 1)
"""That time, counted from the first timeout: of timeouts that begin with the shortest and double, whatever the connection's."""
BASE_MSS = 1024
"""Linux's default of ``tcp_base_mss``: the segment size, with TCP's options, from which probing begins."""
FOR_HEADERS = 40
"""Bytes of the headers of IPv4 and TCP, by which the MSS in a SYN is smaller than an MTU."""
MEASURED_LATER_MS = 0.1
"""By how much the handshake may show a longer round trip than the link's: the packets' own time, and the hosts'."""
_PHASES = 512  # ticks after which the kernel's slots of up to 16 s repeat


def probing_begins_ms(rtt_ms: float) -> tuple[float, float]:
    """Compute when a sender with ``tcp_mtu_probing=1`` sends smaller segments, after its first flight was lost as a whole.

    Parameters
    ----------
    rtt_ms : float
        The round-trip time in ms, which the handshake has shown, and no packet since.

    Returns
    -------
    (float, float)
        Milliseconds after the first flight, at least and at most, by where in the kernel's slots the flight was sent.

    Raises
    ------
    SlownetError
        The round-trip time is not above 0, or as long as the handshake's own timeout.

    Notes
    -----
    First comes the tail loss probe, after two round trips. The first timeout counts from it; each one after that is twice as
    long. At each but the first the kernel compares the time since the first one with `SUSPECTED_MS`. Timeouts of 210 ms reach
    that with the fourth only because the kernel's timers are late, those of 201 ms with the fifth, and of 900 ms with the
    third: so the slots of the timers are part of the computation.
    """
    if not 0 < rtt_ms < FIRST_RTO_MS:
        what = f"give more than 0, and less than the handshake's timeout of {FIRST_RTO_MS:g}"
        raise SlownetError(f"rtt_ms is {rtt_ms:g}", "in probing_begins_ms", what)
    passed = [each for measured in (rtt_ms, rtt_ms + MEASURED_LATER_MS) for each in _ticks_until(measured)]
    return (min(passed) - 1) * TICK_MS, max(passed) * TICK_MS  # the flight is sent at any time within its tick


def _ticks_until(rtt_ms: float) -> Iterator[int]:
    """Yield the ticks until probing begins, for each tick of the kernel's slots in which the flight may be sent."""
    timeout = ticks(timeout_ms(rtt_ms))
    probe = min(ticks(2 * rtt_ms + PROBE_ADDS_MS), timeout)
    for sent in range(_PHASES):
        for wheel_ahead in (False, True):
            first = fires_at(fires_at(sent, probe, in_timer=wheel_ahead), timeout)
            for suspected in (SUSPECTED_MS, SUSPECTED_MS + 1):  # the kernel's stamps are whole ms
                now, length = first, timeout
                while (now - first) * TICK_MS < suspected:
                    length *= 2
                    now = fires_at(now, length)
                yield now - sent
