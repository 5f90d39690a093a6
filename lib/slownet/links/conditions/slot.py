"""Slots: a link releases packets at intervals, all that arrived since the last one together, as on a shared medium.

It is a crude model of Wi-Fi, DOCSIS or LTE (`tc-netem(8)`, slot).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slownet.model.errors import ConditionError
from slownet.model.units import duration, show_duration, size

SHAPES = "5ms, 2ms 10ms (each slot of random length between them), 5ms 20 packets, or 5ms 30kB"
_TIME = r"(?:\d+\.\d+|\d+|\.\d+) ?(?:ns|us|ms|s|min|h)"
_SHAPE = re.compile(rf"({_TIME})(?: ({_TIME}))?(?: (\d+) packets?)?(?: (\d+ ?(?:[kKMG]i?)?B))?", re.ASCII)
MOST = 2**31 - 1  # struct tc_netem_slot has signed 32-bit numbers


@dataclass(frozen=True)
class Slot:
    """The times at which a link releases packets.

    least, most: shortest and longest time from one slot to the next, in seconds.
    packets, octets: packets and bytes that a slot releases at most; None is all.
    """

    least: float
    most: float
    packets: int | None = None
    octets: int | None = None

    @classmethod
    def parse(cls, text: str | Slot) -> Slot:
        """Read a slot.

        text: such as "5ms", "2ms 10ms", "5ms 20 packets" or "2ms 10ms 20 packets 30kB".
        Raises UnitError, ConditionError.
        """
        if isinstance(text, Slot):
            return text
        found = _SHAPE.fullmatch(str(text).strip())
        if found is None:
            raise ConditionError(f"'{text}' is not a slot", fix=f"write it like {SHAPES}")
        least, most, packets, octets = found.groups()
        shortest = duration(least)
        slot = cls(
            shortest,
            duration(most) if most else shortest,
            int(packets) if packets else None,
            size(octets) if octets else None,
        )
        if not 0 < slot.least <= slot.most:
            raise ConditionError(
                f"slot '{text}' needs a time above 0, and its second time no shorter", fix=f"write it like {SHAPES}"
            )
        if any(limit is not None and not 0 < limit <= MOST for limit in (slot.packets, slot.octets)):
            raise ConditionError(f"slot '{text}' has a limit out of range", fix=f"give 1 to {MOST}, or leave it out")
        return slot

    @property
    def varies(self) -> bool:
        """True if its length is random."""
        return self.least < self.most

    def __str__(self) -> str:
        span = show_duration(self.least) + (f" to {show_duration(self.most)}" if self.varies else "")
        packets = "1 packet" if self.packets == 1 else f"{self.packets} packets" if self.packets else ""
        limits = [each for each in (packets, f"{self.octets} B" if self.octets else "") if each]
        return span + (f" for {' and '.join(limits)}" if limits else "")
