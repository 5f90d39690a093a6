"""The conditions that a network's links were given, and the seeds that netem gets, so that no two draw the same numbers.

The same seed gives the same losses. Repeating a cell with it adds no information: the interval would shrink without new
random draws. So the first block of the first boot uses the given seed, and each further block and boot one that is
`STRIDE` more. A stride has room for all seeds of a block: the directions of a link use a seed and the next one
(`slownet.net.plan`), and a schedule that repeats a seed continues in steps of two (`slownet.links.conditions.schedule`).

The kernel keeps 32 bits of a seed (``prandom_seed_state``: ``seed >> 32 ^ seed << 10 ^ seed``). Below 2^32 different seeds
are different streams, so the stride is a million: it leaves 4294 blocks of small seeds, 30 boots of 143 blocks each.

For a random condition without a seed, a new netem takes one from the kernel's random numbers, which differ from boot to boot
even with a free CPU (at TDF inf three labs lost 22, 19 and 25 of 60 packets at 20 %). When it is later given no seed, it keeps
its stream: an unseeded condition after a seeded one continued that seed's stream, with the same draws in each boot. With a
free CPU, where a run should be repeatable, slownet therefore gives its own seed (`FREE`), which advances like any other.
Correlated draws take no seed and remain the kernel's.
"""

from __future__ import annotations

import dataclasses
from collections import UserDict
from dataclasses import dataclass
from typing import Any

from slownet.links.conditions.link import Condition


class ConditionLog(UserDict[Any, Condition]):
    """Mininet's links and their conditions; "up" is what a link's intf1 sends.

    `highest_rate`, `random`, `seeds` and `given` cover all conditions since `begin`.
    """

    highest_rate: float | None = None
    """In bit/s; None if no condition had a rate."""
    random: bool = False
    """True if any condition was random."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[Any, list[Condition]] = {}
        """The different conditions of each link since `begin`, in order; a link without any is left out."""
        self.seeds: list[int] = []
        """Seeds of random conditions, in order; each is one direction's, and the other direction's is 1 more."""

    def begin(self) -> None:
        """Forget the conditions that no longer apply."""
        self.highest_rate = None
        self.random = False
        self.seeds = []
        self.given = {}
        for cable, condition in self.data.items():
            self._note(cable, condition)

    def __setitem__(self, cable: Any, condition: Condition) -> None:
        super().__setitem__(cable, condition)
        self._note(cable, condition)

    def _note(self, cable: Any, condition: Condition) -> None:
        if condition != Condition() and condition not in self.given.get(cable, ()):
            self.given.setdefault(cable, []).append(condition)
        rates = (self.highest_rate, condition.rate_up, condition.rate_down)
        self.highest_rate = max((each for each in rates if each), default=None)
        if condition.random:
            self.random = True
            if condition.seed is not None:
                self.seeds.append(condition.seed)


STRIDE = 1_000_000
APART = 10_000
"""Distance between the own seeds of a network's links: room for a schedule of 5000 steps."""
FREE = 500_000
"""The first link's own seed when the CPU is free, for conditions without one; far from seeds that people choose."""
LIMIT = 2**63 - 1
"""Seeds of conditions are below this, because the other direction's is one more."""


@dataclass(frozen=True)
class Seeds:
    """The shift of a condition's seed in one block.

    turn: number of blocks of the run before this one, in all boots.
    own: seed for random conditions that state none; None leaves it to the kernel.
    """

    turn: int = 0
    own: int | None = None

    def of(self, condition: Condition, link: int = 0) -> Condition:
        """Return the condition with the seed for the kernel.

        condition: as stated.
        link: index of the link in the network, from 0; it matters for conditions without a seed.
        """
        if condition.seed is not None:
            return self._shifted(condition, condition.seed)
        if self.own is None or not condition.random or condition.seedless:
            return condition
        return self._shifted(condition, self.own + link * APART)

    def asked(self, condition: Condition, link: int = 0) -> Condition:
        """Return the condition as given, without a seed that `of` added.

        condition: as `of` returned it.
        link: as for `of`.
        """
        unseeded = dataclasses.replace(condition, seed=None)
        return unseeded if self.of(unseeded, link) == condition else condition

    def _shifted(self, condition: Condition, seed: int) -> Condition:
        return dataclasses.replace(condition, seed=(seed + self.turn * STRIDE) % LIMIT)


ASKED = Seeds()
"""Seeds as given."""
