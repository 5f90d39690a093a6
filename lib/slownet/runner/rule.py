"""How often a run may be measured, as its caller says: ``--repeat`` and ``--budget``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slownet.errors import ExperimentError
from slownet.units import duration

MOST = 30
"""Repetitions of a cell at most, unless the budget says otherwise."""
WALL_S = 3600.0
"""Wall time that bounds them, unless the budget says otherwise."""
BUDGET = "30,1h"
"""Repetitions decide; the time only ends what nobody waits for. It was 15 minutes once: two reproductions of all articles,
side by side beside a busy program on each processor, had 17 and 21 of 109 claims open by then."""
CEILING = 999


@dataclass(frozen=True)
class Rule:
    """How often to measure: ``repeat`` times, or while claims are open if None, at most ``most`` times and ``budget_s`` of wall
    time (inf for no bound)."""

    repeat: int | None = None
    budget_s: float = WALL_S
    most: int = MOST

    def to_json(self) -> dict[str, Any]:
        """As a run's record holds it; no bound on wall time is None."""
        bound = self.budget_s if math.isfinite(self.budget_s) else None
        return {"repeat": self.repeat or "auto", "budget_s": bound, "most": self.most}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Rule:
        """The reverse of ``to_json``."""
        repeat, bound = record.get("repeat", "auto"), record.get("budget_s", WALL_S)
        told = None if repeat == "auto" else int(repeat)
        return cls(told, math.inf if bound is None else float(bound), int(record.get("most", MOST)))


def read_rule(repeat: str, budget: str) -> Rule:
    """The rule of ``--repeat 3`` or ``auto`` and of ``--budget 30``, ``10m`` or ``30,10m``.

    Repetitions alone are not bounded by wall time; a time alone bounds the usual repetitions. Raises ExperimentError,
    UnitError.
    """
    if repeat != "auto" and not _is_number(repeat):
        raise ExperimentError(
            f"unclear repetitions '{repeat}'", "--repeat", f"write a whole number from 1 to {CEILING}, or auto"
        )
    parts = [part.strip() for part in budget.split(",")]
    numbers, times = [part for part in parts if _is_number(part)], [part for part in parts if not part.isdigit()]
    if len(numbers) > 1 or len(times) > 1 or len(numbers) + len(times) < len(parts):
        fix = f"write repetitions (1 to {CEILING}), a time or both, such as 30, 10m or 30,10m"
        raise ExperimentError(f"unclear budget '{budget}'", "--budget", fix)
    wall_s = duration(times[0] + "in" if times[0].endswith("m") else times[0]) if times else math.inf
    return Rule(None if repeat == "auto" else int(repeat), wall_s, int(numbers[0]) if numbers else MOST)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) <= CEILING
