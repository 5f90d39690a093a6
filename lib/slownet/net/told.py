"""What the links of a network were told, and the highest rate among it."""

from __future__ import annotations

from collections import UserDict
from typing import Any

from slownet.conditions.link import Condition


class Told(UserDict[Any, Condition]):
    """Mininet's cables and their conditions, "up" being what a cable's intf1 sends."""

    highest_rate: float | None = None
    """In bit/s, of all that was stated since `begin`; None without any."""

    def begin(self) -> None:
        """Forgets the rates of conditions that are gone."""
        self.highest_rate = None
        for condition in self.data.values():
            self._hear(condition)

    def __setitem__(self, cable: Any, condition: Condition) -> None:
        super().__setitem__(cable, condition)
        self._hear(condition)

    def _hear(self, condition: Condition) -> None:
        rates = (self.highest_rate, condition.rate_up, condition.rate_down)
        self.highest_rate = max((each for each in rates if each), default=None)
