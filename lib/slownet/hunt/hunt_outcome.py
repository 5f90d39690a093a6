"""The outcome of a hunt, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slownet.hunt.bench import Example


def in_words(schedules: int) -> str:
    """Return a number of schedules as text."""
    return f"{schedules} schedule{'s' * (schedules != 1)}"


@dataclass(frozen=True)
class Hunted:
    """The outcome of a hunt.

    directory: its folder.
    examples: all that was tried, in the order it was known.
    first, smallest: the schedule that broke the system first, and the smallest one; None if none did.
    tried: schedules up to the first that broke it, by the plan; all if none did.
    repeats: where another boot of the smallest schedule differs, empty if in no digit; None if it was not tried.
    is_over: whether the budget ended it.
    """

    directory: Path
    examples: tuple[Example, ...]
    first: Example | None = None
    smallest: Example | None = None
    tried: int = 0
    repeats: str | None = None
    is_over: bool = False

    @property
    def schedules(self) -> int:
        """The number of schedules that were tried, without the boot that has no fault."""
        return sum(bool(each.faults.steps) for each in self.examples)

    @property
    def measured(self) -> tuple[Example, ...]:
        """The examples that have a history."""
        return tuple(each for each in self.examples if not each.error)

    @property
    def failed(self) -> tuple[Example, ...]:
        """The examples that could not be measured: it is unknown whether they break the system."""
        return tuple(each for each in self.examples if each.error)

    @property
    def failed_in_words(self) -> str:
        """The number that could not be measured, with one of them and why; empty if all were."""
        if not self.failed:
            return ""
        one, some = self.failed[0], in_words(len(self.failed))
        return f"{some} could not be measured, such as {one.faults}: {one.error.splitlines()[0]}"
