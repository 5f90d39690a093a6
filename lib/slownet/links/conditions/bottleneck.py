"""tc options of a bottleneck: its rate and the queue in front of it.

Sizes are in bytes of whole Ethernet frames without their checksum, rates in bit/s.
"""

from __future__ import annotations

from dataclasses import dataclass

from slownet.links.conditions.field_row import Option, Shown, same_burst
from slownet.links.conditions.queueing import AQM, Queue, Red

TOKENS_S = 0.001  # the lateness of its timer that a token bucket can make up for


@dataclass(frozen=True)
class Sizes:
    """The size of a queue at `rate` bit/s, a round trip of `rtt` seconds and full frames of `frame` bytes."""

    queue: Queue
    rate: float
    rtt: float
    frame: int

    @property
    def packets(self) -> int:
        """Whole frames that fit."""
        return self.queue.packets(self.rate, self.rtt, self.frame)

    @property
    def octets(self) -> int:
        """Bytes that fit."""
        return self.queue.bytes(self.rate, self.rtt, self.frame)

    def tokens(self, burst: int | None) -> int:
        """Return the bytes of a token bucket: as stated, or enough to keep the rate when the timer is late."""
        return burst or max(2 * self.frame, round(self.rate / 8 * TOKENS_S))

    def thresholds(self, aqm: str) -> Red:
        """Return RED's thresholds. Floyd's advice (tc-red(8)): upper at least twice lower, with room for a burst above."""
        own = Red.parse(aqm)
        upper = own.most if own else max(self.octets // 2, 6 * self.frame)
        return Red(own.least if own else max(upper // 3, self.frame), upper)


def rate(bits: float | None, word: str, shown: str = "") -> Option:
    """Return the rate. word: the discipline's, "rate" or "bandwidth"; shown: its key in `tc -json`, in bytes per second."""
    # tc takes bits and keeps bytes: what it shows is rounded down to whole bytes, which is 8 bit/s at most.
    number = round(bits or 0)
    return Option((word, f"{number}bit"), {shown: Shown(number // 8)} if shown else {})


def line_overhead(octets: int | None) -> Option:
    """Return netem's overhead: it follows the rate, and is 0 when absent."""
    return Option((f"{octets}",) if octets else (), {"rate.packetoverhead": Shown(octets or 0)})


def bucket_overhead(octets: int | None) -> Option:
    """Return a token bucket's overhead: it has a keyword, and is 0 when absent."""
    return Option(("overhead", f"{octets}") if octets else (), {"overhead": Shown(octets or 0)})


def burst(octets: int, overhead: int | None) -> Option:
    """Return the size of a token bucket. The kernel adds a frame's overhead to it and shows the sum."""
    return Option(("burst", f"{octets}b"), {"burst": Shown(octets + (overhead or 0), same_burst)})


def bucket_limit(octets: int, tokens: int) -> Option:
    """Return a token bucket's limit; tc does not show one that is given in bytes."""
    return Option(("limit", f"{max(octets, tokens)}b"))


def limit(number: int) -> Option:
    """Return a limit in the discipline's unit, packets or bytes."""
    return Option(("limit", f"{number}"), {"limit": Shown(number)}, first=True)


def red(sizes: Sizes, aqm: str) -> Option:
    """Return RED's limit and thresholds, with room for a burst above the upper one."""
    frame, thresholds = sizes.frame, sizes.thresholds(aqm)
    lower, upper = thresholds.least, thresholds.most
    # RED compares the average with its thresholds, not the queue. A burst may exceed the upper one for a moment; a limit just
    # there would drop it, as a plain queue does.
    most = max(sizes.octets, upper + 4 * frame)
    words = ["limit", f"{most}", "min", f"{lower}", "max", f"{upper}", "avpkt", f"{frame}"]
    words += ["burst", f"{(2 * lower + upper) // (3 * frame) + 1}"]
    words += ["probability", "1"] if Red.parse(aqm) else []
    return Option(tuple(words), {"limit": Shown(most), "min": Shown(lower), "max": Shown(upper)}, first=True)


def marks(kind: str, ecn: bool | None) -> bool:
    """Return whether an AQM marks instead of dropping; the kernel's default unless stated."""
    return ecn if ecn is not None else AQM[kind]


def ecn(kind: str, stated: bool | None) -> Option:
    """Return the ECN option: RED only has a keyword for marking, the others also have one for not marking."""
    on = marks(kind, stated)
    word = ("ecn",) if on else () if kind == "red" else ("noecn",)
    return Option(word, {"ecn": Shown(on)})
