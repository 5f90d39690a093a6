"""How much waits in front of a bottleneck, and who manages it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from slownet.errors import ConditionError, UnitError, nearest
from slownet.units import duration, show_duration, size

# An initial window (RFC 6928) fits, or a request and its answer would be dropped by an empty link.
LEAST_BDP = 10

# Who manages the queue, and whether the kernel's own default is to mark instead of drop (ECN).
AQM = {"fq_codel": True, "cake": True, "red": False, "pie": False}


@dataclass(frozen=True)
class Queue:
    """A size in one of the units "packets", "bytes", "seconds" or "bdp" (that many bandwidth-delay products)."""

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | Queue) -> Queue:
        """From `"100 packets"`, `"64kB"`, `"50ms"`, `"bdp"` or `"0.5 bdp"`. Raises ConditionError."""
        if isinstance(text, Queue):
            return text
        words = text.strip() if isinstance(text, str) else repr(text)
        if found := re.fullmatch(r"(\d+) ?(?:packets?|p)", words, re.ASCII):
            queue = cls(int(found[1]), "packets")
        elif found := re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)? ?bdp", words, re.ASCII):
            queue = cls(float(found[1] or 1), "bdp")
        else:
            queue = cls._sized(words)
        if queue.amount == 0:
            raise ConditionError(
                f"queue '{text}' holds nothing, and the kernel then sends nothing", fix="give 1 packet or more"
            )
        return queue

    @classmethod
    def _sized(cls, words: str) -> Queue:
        for read, unit in ((duration, "seconds"), (size, "bytes")):
            try:
                return cls(read(words), unit)
            except UnitError:
                continue
        raise ConditionError(f"'{words}' is no size of a queue", fix="write it like 100 packets, 64kB, 50ms or bdp")

    def packets(self, rate: float, rtt: float, frame: int) -> int:
        """Whole frames that fit: of `frame` bytes each, at `rate` bit/s and a round trip of `rtt` seconds."""
        if self.unit == "packets":
            return int(self.amount)
        return max(1, math.ceil(round(self.bytes(rate, rtt, frame) / frame, 6)))

    def bytes(self, rate: float, rtt: float, frame: int) -> int:
        """Bytes that fit, at `rate` bit/s, a round trip of `rtt` seconds and frames of `frame` bytes."""
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
    """Thresholds of a RED queue, in bytes that wait on average: below the first none is hit, from the second on all are."""

    least: int
    most: int

    @classmethod
    def parse(cls, text: str) -> Red | None:
        """From `"red 30kB 35kB"`; None if the text has no thresholds. Raises UnitError, ConditionError."""
        words = text.split()
        if words[0] != "red" or len(words) == 1:
            return None
        if len(words) != 3:
            raise ConditionError(f"aqm '{text}' has not two thresholds", fix="write red, or red 30kB 35kB")
        red = cls(size(words[1]), size(words[2]))
        if not 0 < red.least < red.most:
            raise ConditionError(f"aqm '{text}' has its lower threshold not below the upper", fix="write it like red 30kB 35kB")
        return red


def aqm(text: str) -> str:
    """An AQM that the kernel has, with its parameters if it has any. Raises ConditionError with the nearest."""
    name, *rest = str(text).split() or [""]
    if name not in AQM or (rest and name != "red"):
        raise ConditionError(f"no AQM '{text}'", fix=nearest(str(text), AQM))
    Red.parse(text)
    return " ".join([name, *rest])
