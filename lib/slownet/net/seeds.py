"""Which seeds netem is told, so that no two measurements of a run draw from the same stream.

The same seed gives the same losses. Measured again with it, a cell says nothing new: an interval would shrink without new
chance. So the first block of the first boot takes the seed that was asked for, and each further block and boot one that is
`STRIDE` more. Within a stride there is room for all that a block tells: the directions of a link take a seed and the one after
it (`slownet.net.plan`), a schedule that states a seed again goes on in steps of two (`slownet.conditions.schedule`).

The kernel keeps 32 bits of a seed (``prandom_seed_state``: ``seed >> 32 ^ seed << 10 ^ seed``). Below 2^32 different seeds
are different streams, so the stride is a million: it leaves 4294 blocks of small seeds, 30 boots of 143 blocks each.

What leaves something to chance and names no seed: netem takes its first one from the kernel's random numbers when it is made,
which differ from boot to boot even where the CPU is free (at TDF inf three labs lost 22, 19 and 25 of 60 packets at 20 %).
Told none later on it keeps what it has, so after a seeded condition an unseeded one went on in that seed's stream, with the
same draws in each boot. Where the CPU is free, and a run shall give the same numbers again, the framework therefore tells a
seed of its own (`FREE`), which advances like any other. Correlated draws take no seed: they stay the kernel's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from slownet.conditions.link import Condition

STRIDE = 1_000_000
APART = 10_000
"""Between the links of a network whose conditions name no seed: room for a schedule of 5000 steps."""
FREE = 500_000
"""The seed that the first link is told where the CPU is free and a condition names none: far from those that people write."""
LIMIT = 2**63 - 1
"""A condition's seed is less than this: the other direction's is one more."""


@dataclass(frozen=True)
class Seeds:
    """What becomes of a condition's seed in one block: ``turn`` is how many blocks of the run come before it, in all boots.

    ``own``: the seed of a condition that draws by chance and names none; None leaves that to the kernel.
    """

    turn: int = 0
    own: int | None = None

    def of(self, condition: Condition, link: int = 0) -> Condition:
        """The condition with the seed that is told. ``link``: which of the network's it is, from 0, for those without one."""
        if condition.seed is not None:
            return self._shifted(condition, condition.seed)
        if self.own is None or not condition.random or condition.seedless:
            return condition
        return self._shifted(condition, self.own + link * APART)

    def asked(self, condition: Condition, link: int = 0) -> Condition:
        """The condition as it was stated, from the one that is told: without a seed that it was given here."""
        unseeded = dataclasses.replace(condition, seed=None)
        return unseeded if self.of(unseeded, link) == condition else condition

    def _shifted(self, condition: Condition, seed: int) -> Condition:
        return dataclasses.replace(condition, seed=(seed + self.turn * STRIDE) % LIMIT)


ASKED = Seeds()
"""As they are asked for."""
