"""How often a run may be measured: the options ``--repeat`` and ``--budget``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slownet.errors import ExperimentError
from slownet.units import duration

MOST = 30
"""Default maximum number of repetitions of a cell."""
WALL_S = 3600.0
"""Default maximum wall time."""
BUDGET = "30,1h"
"""The number of repetitions normally ends a run; the wall time is only a safeguard. With 15 minutes, two reproductions of all
articles, side by side while a busy program ran on each processor, ended with 17 and 21 of 109 claims open."""
CEILING = 999


@dataclass(frozen=True)
class Rule:
    """How often to measure: ``repeat`` times, or if None until the claims are decided, but at most ``most`` times and for at
    most ``budget_s`` of wall time (inf: unlimited)."""

    repeat: int | None = None
    budget_s: float = WALL_S
    most: int = MOST

    def to_json(self) -> dict[str, Any]:
        """Return the rule as in a run's record; unlimited wall time is None."""
        bound = self.budget_s if math.isfinite(self.budget_s) else None
        return {"repeat": self.repeat or "auto", "budget_s": bound, "most": self.most}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Rule:
        """Return the rule of a record of ``to_json``."""
        repeat, bound = record.get("repeat", "auto"), record.get("budget_s", WALL_S)
        number = None if repeat == "auto" else int(repeat)
        return cls(number, math.inf if bound is None else float(bound), int(record.get("most", MOST)))


def read_rule(repeat: str, budget: str) -> Rule:
    """Parse ``--repeat 3`` or ``auto`` and ``--budget 30``, ``10m`` or ``30,10m``.

    A budget of repetitions alone leaves wall time unlimited; a time alone leaves the default maximum of repetitions. Raises
    ExperimentError, UnitError.
    """
    if repeat != "auto" and not _is_number(repeat):
        raise ExperimentError(
            f"invalid number of repetitions '{repeat}'", "--repeat", f"write a whole number from 1 to {CEILING}, or auto"
        )
    parts = [part.strip() for part in budget.split(",")]
    numbers, times = [part for part in parts if _is_number(part)], [part for part in parts if not part.isdigit()]
    if len(numbers) > 1 or len(times) > 1 or len(numbers) + len(times) < len(parts):
        fix = f"write repetitions (1 to {CEILING}), a time or both, such as 30, 10m or 30,10m"
        raise ExperimentError(f"invalid budget '{budget}'", "--budget", fix)
    wall_s = duration(times[0] + "in" if times[0].endswith("m") else times[0]) if times else math.inf
    return Rule(None if repeat == "auto" else int(repeat), wall_s, int(numbers[0]) if numbers else MOST)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) <= CEILING
