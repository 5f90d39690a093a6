"""When the claims of a run are judged, and how often each of these looks may be wrong. Pure.

Looking again and again until a claim is decided would make wrong verdicts more frequent. So the looks share what all of them
together may be wrong at, 1 % for a truth on a margin's edge: the sum of their shares bounds it, whatever the noise is and
however few the boots are (Bonferroni). How much is spent by when follows the power family of Kim and DeMets ("Design and
analysis of group sequential tests based on the type I error spending rate function", 1987) with exponent 1: as much of it as
of the repetitions. For 30 of them:

    after boots         3      4      6      9     14     20     30    in all
    share, %         0.10   0.033  0.067  0.10   0.167  0.20   0.333     1

Where the spread between boots is known beforehand the first look takes half, for most claims are decided there, and the other
looks share the rest in the same way. Where nothing is random there is one look: the margin alone decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from slownet.records.charging import FIRST_SHARE, Charging

ALL = 0.01
"""What all looks together may be wrong at."""
USUAL = (3, 4, 6, 9, 14, 20, 30)
"""Boots after which claims are judged; beyond them, half as many again each time."""


@dataclass(frozen=True)
class Schedule:
    """The looks of a run: after how many boots, and what each may be wrong at."""

    looks: tuple[int, ...]
    """Rising; empty where all repetitions together are too few for a verdict."""
    first: int
    """The first one, also where it is never reached."""
    first_share: float = 0.0
    """What the first look takes beforehand; the shares of the others are as the repetitions since the look before."""

    @classmethod
    def of(cls, charging: Charging, is_random: bool, is_exact: bool, most: int) -> Schedule:
        """The schedule of a run with ``most`` boots.

        ``is_random``: whether a link draws by chance; ``is_exact``: whether every boot gives the same numbers.
        """
        first = charging.first_look(is_random)
        if most < charging.verdict_from(is_random):
            return cls((), first)
        if is_exact:
            return cls((1,), 1)
        known = charging.verdict_from(is_random) == 1
        return cls(_looks(first, most), min(first, most), FIRST_SHARE if known and most > first else 0.0)

    def next(self, boots: int) -> int:
        """After how many boots the first look is that has not been passed yet; 0 for none."""
        return next((at for at in self.looks if at > boots), 0)

    def share(self, boots: int, is_last: bool = False) -> float:
        """What the look after so many boots may be wrong at; the last one of a run takes all that is left.

        A look that falls between two of the schedule takes the share of the later one.
        """
        boots = min(boots, self.looks[-1]) if self.looks else boots
        before = max((at for at in self.looks if at < boots), default=0)
        at = next((at for at in self.looks if at >= boots), 0)
        if is_last or not at:
            return ALL - self._spent(before)
        return self._spent(at) - self._spent(before)

    def _spent(self, boots: int) -> float:
        """What all looks up to the one after so many boots may be wrong at together."""
        if not boots or not self.looks:
            return 0.0
        first, last = (self.looks[0], self.looks[-1]) if self.first_share else (0, self.looks[-1])
        return self.first_share + (ALL - self.first_share) * (boots - first) / (last - first) if last > first else ALL


def _looks(first: int, most: int) -> tuple[int, ...]:
    found = [at for at in (1, 2, *USUAL) if first <= at < most]
    while found and found[-1] >= USUAL[-1] and math.ceil(1.5 * found[-1]) < most:
        found.append(math.ceil(1.5 * found[-1]))
    return (*found, most)
