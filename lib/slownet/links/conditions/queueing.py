"""The bottleneck of a link: its rate, the queue in front of it, that queue's management (AQM), and their words for tc."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from slownet.links.conditions.field_row import Option, Shown, same_burst
from slownet.model.errors import ConditionError, UnitError, nearest
from slownet.model.units import duration, show_duration, size

# Sizes are in bytes of whole Ethernet frames without their checksum, rates in bit/s.

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
    """Return whether an AQM marks instead of dropping; the kernel's default unless given."""
    return ecn if ecn is not None else AQM[kind]


def ecn(kind: str, stated: bool | None) -> Option:
    """Return the ECN option: RED only has a keyword for marking, the others also have one for not marking."""
    on = marks(kind, stated)
    word = ("ecn",) if on else () if kind == "red" else ("noecn",)
    return Option(word, {"ecn": Shown(on)})


# In packets: room for an initial window (RFC 6928), or an idle link would drop parts of a request or its answer.
LEAST_BDP = 10

# Each AQM, and whether it marks instead of dropping (ECN) by the kernel's default.
AQM = {"fq_codel": True, "cake": True, "red": False, "pie": False}


@dataclass(frozen=True)
class Queue:
    """The size of a queue.

    amount: in `unit`.
    unit: "packets", "bytes", "seconds" or "bdp" (bandwidth-delay products).
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | Queue) -> Queue:
        """Read the size of a queue.

        text: such as "100 packets", "64kB", "50ms", "bdp" or "0.5 bdp".
        Raises ConditionError: the text is not a size, or the size is 0.
        """
        if isinstance(text, Queue):
            return text
        words = text.strip() if isinstance(text, str) else repr(text)
        if found := re.fullmatch(r"(\d{1,18}) ?(?:packets?|p)", words, re.ASCII):
            queue = cls(int(found[1]), "packets")
        elif found := re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)? ?bdp", words, re.ASCII):
            queue = cls(float(found[1] or 1), "bdp")
        else:
            queue = cls._sized(words)
        if queue.amount == 0:
            raise ConditionError(f"queue '{text}' is empty: the kernel would send nothing", fix="give 1 packet or more")
        return queue

    @classmethod
    def _sized(cls, words: str) -> Queue:
        for read, unit in ((duration, "seconds"), (size, "bytes")):
            try:
                return cls(read(words), unit)
            except UnitError:
                continue
        raise ConditionError(f"'{words}' is not a queue size", fix="write it like 100 packets, 64kB, 50ms or bdp")

    def packets(self, rate: float, rtt: float, frame: int) -> int:
        """Return how many whole frames fit.

        rate: bit/s.
        rtt: round trip in seconds.
        frame: bytes of a frame.
        """
        if self.unit == "packets":
            return int(self.amount)
        return max(1, math.ceil(round(self.bytes(rate, rtt, frame) / frame, 6)))

    def bytes(self, rate: float, rtt: float, frame: int) -> int:
        """Return how many bytes fit.

        rate: bit/s.
        rtt: round trip in seconds.
        frame: bytes of a frame.
        """
        if self.unit == "packets":
            return int(self.amount) * frame
        if self.unit == "bytes":
            return int(self.amount)
        if self.unit == "seconds":
            return max(frame, round(rate * self.amount / 8))
        return max(LEAST_BDP * frame, round(self.amount * rate * rtt / 8))

    def __str__(self) -> str:
        if self.unit == "seconds":
            return show_duration(self.amount)
        return "1 packet" if self == Queue(1, "packets") else f"{self.amount:g} {self.unit}"


@dataclass(frozen=True)
class Red:
    """Thresholds of a RED queue's average length, in bytes.

    least, most: below `least` no packet is dropped or marked, from `most` on every one is.
    """

    least: int
    most: int

    @classmethod
    def parse(cls, text: str) -> Red | None:
        """Read the thresholds from an AQM's text.

        text: such as "red 30kB 35kB".
        returns: none if the text has no thresholds.
        Raises UnitError, ConditionError.
        """
        words = text.split()
        if words[0] != "red" or len(words) == 1:
            return None
        if len(words) != 3:
            raise ConditionError(f"aqm '{text}' does not have two thresholds", fix="write red, or red 30kB 35kB")
        red = cls(size(words[1]), size(words[2]))
        if not 0 < red.least < red.most:
            raise ConditionError(f"aqm '{text}': its first threshold must be below its second", fix="write red 30kB 35kB")
        return red


def aqm(text: str) -> str:
    """Check the name of an AQM, and its parameters if it has any.

    text: "fq_codel", "cake", "pie", "red", or "red" with two thresholds.
    returns: the text with single spaces.
    Raises UnitError, ConditionError: it is not such a text; the error suggests the nearest one.
    """
    name, *rest = str(text).split() or [""]
    if name not in AQM or (rest and name != "red"):
        raise ConditionError(f"no AQM '{text}'", fix=nearest(str(text), AQM))
    Red.parse(text)
    return " ".join([name, *rest])
