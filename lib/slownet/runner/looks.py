"""The schedule of looks (when the claims of a run are judged) and the error probability of each. Pure.

Judging repeatedly until a claim is decided would make wrong verdicts more frequent. So the looks share a total error
probability of 1 % for a truth on the edge of a margin: the sum of their shares bounds it, whatever the noise and however few
the boots (Bonferroni). The spending function is that of the power family of Kim and DeMets ("Design and analysis of group
sequential tests based on the type I error spending rate function", 1987) with exponent 1: the share spent is proportional to
the repetitions. For 30 repetitions:

    after boots         3      4      6      9     14     20     30    in all
    share, %         0.10   0.033  0.067  0.10   0.167  0.20   0.333     1

If the spread between boots is known beforehand, the first look takes half of the total, because most claims are decided there,
and the other looks share the rest in the same way. If nothing is random, there is one look: the margin alone decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from slownet.judge.records.charging import FIRST_SHARE, Charging

ALL = 0.01
"""Error probability of all looks together."""
USUAL = (3, 4, 6, 9, 14, 20, 30)
"""Boots after which claims are judged; beyond these, each look comes after 1.5 times as many boots."""


@dataclass(frozen=True)
class Schedule:
    """The looks of a run: after how many boots they come, and the error probability of each."""

    looks: tuple[int, ...]
    """Increasing; empty if all repetitions together are too few for a verdict."""
    first: int
    """Boots before the first look, even if it is never reached."""
    first_share: float = 0.0
    """Fixed share of the first look; the others' shares are proportional to the repetitions since the look before."""

    @classmethod
    def of(cls, charging: Charging, least: int, is_exact: bool, most: int) -> Schedule:
        """Return the schedule of a run with at most ``most`` boots.

        ``least``: boots required for a verdict; ``is_exact``: whether every boot gives the same numbers.
        """
        first = charging.first_look(least)
        if most < least:
            return cls((), first)
        if is_exact:
            return cls((least,), least)
        known = least == 1
        return cls(_looks(first, most), min(first, most), FIRST_SHARE if known and most > first else 0.0)

    def next(self, boots: int) -> int:
        """Return the number of boots at the next look; 0 if none exists."""
        return next((at for at in self.looks if at > boots), 0)

    def share(self, boots: int, is_last: bool = False) -> float:
        """Return the error probability of the look after that many boots; the last look of a run takes the whole rest.

        A look between two scheduled ones takes the share of the later one.
        """
        boots = min(boots, self.looks[-1]) if self.looks else boots
        before = max((at for at in self.looks if at < boots), default=0)
        at = next((at for at in self.looks if at >= boots), 0)
        if is_last or not at:
            return ALL - self._spent(before)
        return self._spent(at) - self._spent(before)

    def _spent(self, boots: int) -> float:
        """Return the total error probability of all looks up to the one after that many boots."""
        if not boots or not self.looks:
            return 0.0
        first, last = (self.looks[0], self.looks[-1]) if self.first_share else (0, self.looks[-1])
        return self.first_share + (ALL - self.first_share) * (boots - first) / (last - first) if last > first else ALL


def _looks(first: int, most: int) -> tuple[int, ...]:
    found = [at for at in (1, 2, *USUAL) if first <= at < most]
    while found and found[-1] >= USUAL[-1] and math.ceil(1.5 * found[-1]) < most:
        found.append(math.ceil(1.5 * found[-1]))
    return (*found, most)
