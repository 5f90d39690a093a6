"""The conditions that the links of a network were given, their highest rate, and their seeds."""

from __future__ import annotations

from collections import UserDict
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
