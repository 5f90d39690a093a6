"""What the links of a network were told, the highest rate among it, and what was left to chance."""

from __future__ import annotations

from collections import UserDict
from typing import Any

from slownet.conditions.link import Condition


class ConditionLog(UserDict[Any, Condition]):
    """Mininet's cables and their conditions, "up" being what a cable's intf1 sends.

    `highest_rate`, `random` and `seeds` are of all that was stated since `begin`.
    """

    highest_rate: float | None = None
    """In bit/s; None without any."""
    random: bool = False
    """Whether a condition drew by chance."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds: list[int] = []
        """Those of conditions that drew by chance, in order: each is one direction's, the other one's is 1 more."""

    def begin(self) -> None:
        """Forgets the conditions that are gone."""
        self.highest_rate = None
        self.random = False
        self.seeds = []
        for condition in self.data.values():
            self._hear(condition)

    def __setitem__(self, cable: Any, condition: Condition) -> None:
        super().__setitem__(cable, condition)
        self._hear(condition)

    def _hear(self, condition: Condition) -> None:
        rates = (self.highest_rate, condition.rate_up, condition.rate_down)
        self.highest_rate = max((each for each in rates if each), default=None)
        if condition.random:
            self.random = True
            if condition.seed is not None:
                self.seeds.append(condition.seed)
