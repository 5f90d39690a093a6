"""The queue in front of a bottleneck: its size and its management (AQM)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from slownet.model.errors import ConditionError, UnitError, nearest
from slownet.model.units import duration, show_duration, size

# In packets: room for an initial window (RFC 6928), or an idle link would drop parts of a request or its answer.
LEAST_BDP = 10

# Each AQM, and whether it marks instead of dropping (ECN) by the kernel's default.
AQM = {"fq_codel": True, "cake": True, "red": False, "pie": False}


@dataclass(frozen=True)
class Queue:
    """The size of a queue.

    Attributes
    ----------
    amount : float
        In `unit`.
    unit : str
        "packets", "bytes", "seconds" or "bdp" (bandwidth-delay products).
    """

    amount: float
    unit: str

    @classmethod
    def parse(cls, text: str | Queue) -> Queue:
        """Read the size of a queue.

        Parameters
        ----------
        text : str or Queue
            Such as "100 packets", "64kB", "50ms", "bdp" or "0.5 bdp".

        Returns
        -------
        Queue

        Raises
        ------
        ConditionError
            The text is not a size, or the size is 0.
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

        Parameters
        ----------
        rate : float
            bit/s.
        rtt : float
            Round trip in seconds.
        frame : int
            Bytes of a frame.

        Returns
        -------
        int
        """
        if self.unit == "packets":
            return int(self.amount)
        return max(1, math.ceil(round(self.bytes(rate, rtt, frame) / frame, 6)))

    def bytes(self, rate: float, rtt: float, frame: int) -> int:
        """Return how many bytes fit.

        Parameters
        ----------
        rate : float
            bit/s.
        rtt : float
            Round trip in seconds.
        frame : int
            Bytes of a frame.

        Returns
        -------
        int
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

    Attributes
    ----------
    least, most : int
        Below `least` no packet is dropped or marked, from `most` on every one is.
    """

    least: int
    most: int

    @classmethod
    def parse(cls, text: str) -> Red | None:
        """Read the thresholds from an AQM's text.

        Parameters
        ----------
        text : str
            Such as "red 30kB 35kB".

        Returns
        -------
        Red or None
            None if the text has no thresholds.

        Raises
        ------
        UnitError, ConditionError
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

    Parameters
    ----------
    text : str
        "fq_codel", "cake", "pie", "red", or "red" with two thresholds.

    Returns
    -------
    str
        The text with single spaces.

    Raises
    ------
    UnitError, ConditionError
        It is not such a text; the error suggests the nearest one.
    """
    name, *rest = str(text).split() or [""]
    if name not in AQM or (rest and name != "red"):
        raise ConditionError(f"no AQM '{text}'", fix=nearest(str(text), AQM))
    Red.parse(text)
    return " ".join([name, *rest])
