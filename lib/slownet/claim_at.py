"""Claims about single cells, for experiments whose conditions are no numbers: patterns of writes, ways to commit.

Each says why it should hold; the reason stands beside the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slownet.claim import Siblings, interval, judged, undecided
from slownet.errors import ExperimentError
from slownet.result import Judgement, RunData
from slownet.stats import Summary, ratio

Label = Mapping[str, str]
Expected = float | Callable[[RunData], float]


@dataclass(frozen=True)
class between:  # noqa: N801
    """The metric of one cell, ``{"pattern": "cork"}``, lies between two values, None being open."""

    metric: str
    at: Label
    least: float | None = None
    most: float | None = None
    because: str = ""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the cell's interval with both ends."""
        cell = run.at(self.at)
        name = f"{self.metric} {_range(self.least, self.most)} at {cell.title}"
        if cell.status == "failed":
            return undecided(name, None, [cell])
        return _within(name, cell.summary(self.metric), self.least, self.most, self.because)


@dataclass(frozen=True)
class times:  # noqa: N801
    """The metric of one cell over that of another lies between two values, None being open."""

    metric: str
    at: Label
    against: Label
    least: float | None = None
    most: float | None = None
    because: str = ""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the ratio of the two."""
        cell, base = run.at(self.at), run.at(self.against)
        name = f"{self.metric} {_range(self.least, self.most)} times as much at {cell.title} as at {base.title}"
        if failed := [each for each in (cell, base) if each.status == "failed"]:
            return undecided(name, None, failed)
        return _within(name, ratio(cell.summary(self.metric), base.summary(self.metric)), self.least, self.most, self.because)


@dataclass(frozen=True)
class predicted:  # noqa: N801
    """The metric of one cell is what theory says, give or take ``within`` of it; ``value`` may be a function of the run."""

    metric: str
    at: Label
    value: Expected
    within: float = 0.05
    because: str = ""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the cell's interval with the prediction."""
        cell = run.at(self.at)
        name = f"{self.metric} as predicted at {cell.title}, within {100 * self.within:g} %"
        if cell.status == "failed":
            return undecided(name, None, [cell])
        expected = self.value(run) if callable(self.value) else self.value
        if expected <= 0:
            raise ExperimentError(f"{name}: a prediction of {expected:g} has no margin", f"in experiment {run.experiment}")
        measured = cell.summary(self.metric)
        text = f"{interval(measured, 3)} measured, {expected:.3f} predicted{_reason(self.because)}"
        return judged(name, measured, expected, (expected * (1 - self.within), expected * (1 + self.within)), text)


def _within(name: str, measured: Summary, least: float | None, most: float | None, because: str) -> Judgement:
    low = -math.inf if least is None else least
    ends = [end for end in (least, most) if end is not None]
    return judged(name, measured, sum(ends) / len(ends), (low, most), f"{interval(measured, 3)} measured{_reason(because)}")


def _range(least: float | None, most: float | None) -> str:
    if least is None and most is None:
        raise ExperimentError("a claim gives neither the least nor the most value", fix="give one of them")
    if least is None:
        return f"at most {most:g}"
    return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"


def _reason(because: str) -> str:
    return f"; {because}" if because else ""
