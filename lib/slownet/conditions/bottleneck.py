"""Options of the queueing disciplines that are a bottleneck: of the rate, and of the queue in front of it.

Sizes are in bytes of whole Ethernet frames without their checksum, rates in bit/s.
"""

from __future__ import annotations

from dataclasses import dataclass

from slownet.conditions.queueing import AQM, Queue, Red
from slownet.conditions.row import Option, Shown, same_burst

TOKENS_S = 0.001  # what a token bucket may make good after its timer fired late


@dataclass(frozen=True)
class Sizes:
    """How much waits: at `rate` bit/s, a round trip of `rtt` seconds and full frames of `frame` bytes."""

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
        """Bytes of a token bucket: those that were stated, or what keeps the rate where a timer is late."""
        return burst or max(2 * self.frame, round(self.rate / 8 * TOKENS_S))

    def thresholds(self, aqm: str) -> Red:
        """RED's. Floyd's advice (tc-red(8)): the upper threshold twice the lower or more, room for a burst above it."""
        own = Red.parse(aqm)
        upper = own.most if own else max(self.octets // 2, 6 * self.frame)
        return Red(own.least if own else max(upper // 3, self.frame), upper)


def rate(bits: float | None, word: str, shown: str = "") -> Option:
    """word: as the discipline has it, "rate" or "bandwidth"; shown: where `tc -json` has it, in bytes a second."""
    number = round(bits or 0)
    return Option((word, f"{number}bit"), {shown: Shown(number // 8)} if shown else {})


def line_overhead(octets: int | None) -> Option:
    """netem takes it after the rate, and takes none as 0."""
    return Option((f"{octets}",) if octets else (), {"rate.packetoverhead": Shown(octets or 0)})


def bucket_overhead(octets: int | None) -> Option:
    """A token bucket has a word for it, and takes none as 0."""
    return Option(("overhead", f"{octets}") if octets else (), {"overhead": Shown(octets or 0)})


def burst(octets: int, overhead: int | None) -> Option:
    """The size of a token bucket. The kernel adds a frame's overhead to it and shows the sum."""
    return Option(("burst", f"{octets}b"), {"burst": Shown(octets + (overhead or 0), same_burst)})


def bucket_limit(octets: int, tokens: int) -> Option:
    """tc does not show it where it is given in bytes."""
    return Option(("limit", f"{max(octets, tokens)}b"))


def limit(number: int) -> Option:
    """In what the discipline counts in: packets or bytes."""
    return Option(("limit", f"{number}"), {"limit": Shown(number)}, first=True)


def red(sizes: Sizes, aqm: str) -> Option:
    """RED's limit and thresholds, with room for a burst above the upper one."""
    frame, thresholds = sizes.frame, sizes.thresholds(aqm)
    lower, upper = thresholds.least, thresholds.most
    most = max(sizes.octets, upper + 4 * frame)
    words = ["limit", f"{most}", "min", f"{lower}", "max", f"{upper}", "avpkt", f"{frame}"]
    words += ["burst", f"{(2 * lower + upper) // (3 * frame) + 1}"]
    words += ["probability", "1"] if Red.parse(aqm) else []
    return Option(tuple(words), {"limit": Shown(most), "min": Shown(lower), "max": Shown(upper)}, first=True)


def marks(kind: str, ecn: bool | None) -> bool:
    """Whether an AQM marks instead of dropping; the kernel's own default unless it was stated."""
    return ecn if ecn is not None else AQM[kind]


def ecn(kind: str, stated: bool | None) -> Option:
    """RED has a word for marking alone; the others have one for each."""
    on = marks(kind, stated)
    word = ("ecn",) if on else () if kind == "red" else ("noecn",)
    return Option(word, {"ecn": Shown(on)})
