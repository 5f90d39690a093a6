"""The rule of repetition: the options ``--repeat`` and ``--budget``."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

from slownet.model.errors import ExperimentError
from slownet.model.facts import Sampling
from slownet.model.options import Option
from slownet.model.units import duration, whole_number

MOST = 30
"""Default maximum number of repetitions of a cell."""
WALL_S = 3600.0
"""Default maximum wall time."""
BUDGET = "30,1h"
"""The number of repetitions normally ends a run; the wall time is only a safeguard. With 15 minutes, two reproductions of all
articles, side by side while a busy program ran on each processor, ended with 17 and 21 of 109 claims open."""
CEILING = 999
LEAST_FOUND = 0.0001
"""The smallest difference that may be asked for: less than that differs by what an address happens to be."""


@dataclass(frozen=True)
class Rule:
    """Rule of repetition: ``repeat`` times, or until a difference of the part ``find`` would be found between two such runs,
    or if both are None until the claims are decided; but at most ``most`` times and for at most ``budget_s`` of wall time (inf:
    unlimited)."""

    repeat: int | None = None
    budget_s: float = WALL_S
    most: int = MOST
    find: float | None = None

    def to_json(self) -> Sampling:
        """Return the rule as in a run's record; unlimited wall time is None."""
        bound = self.budget_s if math.isfinite(self.budget_s) else None
        asked = f"{100 * self.find:g}%" if self.find else self.repeat or "auto"
        return {"repeat": asked, "budget_s": bound, "most": self.most}

    @classmethod
    def from_json(cls, record: Sampling) -> Rule:
        """Return the rule of a record of ``to_json``."""
        repeat, bound = record.get("repeat", "auto"), record.get("budget_s", WALL_S)
        number, find = _repeat(str(repeat))
        return cls(number, math.inf if bound is None else float(bound), int(record.get("most", MOST)), find)


def read_rule(repeat: str, budget: str) -> Rule:
    """Parse ``--repeat 3``, ``1%`` or ``auto`` and ``--budget 30``, ``10m`` or ``30,10m``.

    A budget of repetitions alone leaves wall time unlimited; a time alone leaves the default maximum of repetitions. Raises
    ExperimentError, UnitError.
    """
    number, find = _repeat(repeat)
    parts = [part.strip() for part in budget.split(",")]
    numbers, times = [part for part in parts if _is_number(part)], [part for part in parts if not part.isdigit()]
    if len(numbers) > 1 or len(times) > 1 or len(numbers) + len(times) < len(parts):
        fix = f"write repetitions (1 to {CEILING}), a time or both, such as 30, 10m or 30,10m"
        raise ExperimentError(f"invalid budget '{budget}'", Option("budget"), fix)
    wall_s = wall_time(times[0]) if times else math.inf
    return Rule(number, wall_s, int(numbers[0]) if numbers else MOST, find)


def wall_time(text: str) -> float:
    """Return seconds of a wall time, whose minutes may be written ``10m``. Raises UnitError."""
    return duration(text + "in" if text.endswith("m") else text, str(Option("budget")))


def _repeat(text: str) -> tuple[int | None, float | None]:
    """Return the number of repetitions, or the difference to be found; neither for "auto". Raises ExperimentError."""
    if text == "auto":
        return None, None
    if _is_number(text):
        return int(text), None
    with contextlib.suppress(ValueError):
        if text.endswith("%") and LEAST_FOUND <= (part := float(text[:-1]) / 100) < 1:
            return None, part
    raise ExperimentError(
        f"invalid number of repetitions '{text}'",
        Option("repeat"),
        f"write a whole number from 1 to {CEILING}, the difference to be found, such as 1%, or auto",
    )


def _is_number(text: str) -> bool:
    return 0 < (whole_number(text) or 0) <= CEILING
