"""Times at which a link lets packets go: what came since the last one leaves together, as on a medium that is shared.

A crude picture of Wi-Fi, DOCSIS or LTE (`tc-netem(8)`, slot).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slownet.errors import ConditionError
from slownet.units import duration, show_duration, size

SHAPES = "5ms, 2ms 10ms (each slot as long as chance decides between them), 5ms 20 packets, or 5ms 30kB"
_TIME = r"(?:\d+\.\d+|\d+|\.\d+) ?(?:ns|us|ms|s|min|h)"
_SHAPE = re.compile(rf"({_TIME})(?: ({_TIME}))?(?: (\d+) packets?)?(?: (\d+ ?(?:[kKMG]i?)?B))?", re.ASCII)
MOST = 2**31 - 1  # struct tc_netem_slot has 32 bits with a sign


@dataclass(frozen=True)
class Slot:
    """From one slot to the next it takes `least` to `most` seconds; a slot lets so many packets and bytes go, None is all."""

    least: float
    most: float
    packets: int | None = None
    octets: int | None = None

    @classmethod
    def parse(cls, text: str | Slot) -> Slot:
        """From `"5ms"`, `"2ms 10ms"`, `"5ms 20 packets"` or `"2ms 10ms 20 packets 30kB"`. Raises UnitError, ConditionError."""
        if isinstance(text, Slot):
            return text
        found = _SHAPE.fullmatch(str(text).strip())
        if found is None:
            raise ConditionError(f"'{text}' is no slot", fix=f"write it like {SHAPES}")
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
                f"slot '{text}' does not go from a time above 0 to a longer one", fix=f"write it like {SHAPES}"
            )
        if any(limit is not None and not 0 < limit <= MOST for limit in (slot.packets, slot.octets)):
            raise ConditionError(f"slot '{text}' lets go nothing or too much", fix=f"give 1 to {MOST}, or leave it out")
        return slot

    @property
    def varies(self) -> bool:
        """Whether chance decides when the next one comes."""
        return self.least < self.most

    def __str__(self) -> str:
        span = show_duration(self.least) + (f" to {show_duration(self.most)}" if self.varies else "")
        packets = "1 packet" if self.packets == 1 else f"{self.packets} packets" if self.packets else ""
        limits = [each for each in (packets, f"{self.octets} B" if self.octets else "") if each]
        return span + (f" for {' and '.join(limits)}" if limits else "")
