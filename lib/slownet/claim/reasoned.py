"""Claims about single cells, for experiments whose conditions are no numbers: patterns of writes, ways to commit.

Each says why it should hold; the reason stands beside the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slownet.claim.base import ALONE, Siblings, around, decide, interval, placed, undecided
from slownet.claim.compare import quotient
from slownet.errors import ExperimentError
from slownet.records.judgement import Judgement
from slownet.records.result import RunData
from slownet.stats import Summary, ratio

Label = Mapping[str, str]
Expected = float | Callable[[RunData], float | Summary]


@dataclass(frozen=True)
class between:  # noqa: N801
    """The metric of one cell, ``{"pattern": "cork"}``, lies between two values, None being open."""

    metric: str
    at: Label
    least: float | None = None
    most: float | None = None
    because: str = ""

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the cell's interval with both ends."""
        cell = run.at(self.at)
        name = f"{self.metric} {_range(self.least, self.most)} at {cell.title}"
        margin = (self.least, self.most)
        return decide(run, name, lambda: cell.summary(self.metric), margin, cells=(cell,), text=_said(self.because))


@dataclass(frozen=True)
class times:  # noqa: N801
    """The metric of one cell over that of another lies between two values, None being open."""

    metric: str
    at: Label
    against: Label
    least: float | None = None
    most: float | None = None
    because: str = ""
    name: str = ""

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two."""
        cell, base = run.at(self.at), run.at(self.against)
        margin_said = _range(self.least, self.most)
        name = self.name or f"{self.metric} {margin_said} times as much at {cell.title} as at {base.title}"
        margin = (self.least, self.most)

        text = _said(self.because)
        return decide(run, name, lambda: quotient(cell, base, self.metric), margin, cells=(cell, base), text=text)


@dataclass(frozen=True)
class predicted:  # noqa: N801
    """The metric of one cell is what theory says, give or take ``within`` of it; ``value`` may be a function of the run."""

    metric: str
    at: Label
    value: Expected
    within: float = 0.05
    because: str = ""
    name: str = ""

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the cell's interval with the prediction."""
        cell = run.at(self.at)
        what = self.name or f"{self.metric} as predicted at {cell.title}"
        name = f"{what}, within {100 * self.within:g} %"
        try:
            value = self.value(run) if callable(self.value) else self.value
        except ExperimentError:
            if not run.failed:
                raise
            return placed(undecided(name, None, run.failed), run)  # the cell that it comes from may be among them
        theory = value if isinstance(value, Summary) else Summary(value, value, value, 1)
        expected = theory.mean
        if expected <= 0:
            raise ExperimentError(f"{name}: a prediction of {expected:g} has no margin", f"in experiment {run.experiment}")
        text = _said(self.because, f", {expected:.3f} predicted")
        margin = around(expected, self.within)

        def measure() -> Summary:
            measured = cell.summary(self.metric)
            return measured if theory.low == theory.high else ratio(measured, theory).scaled(expected)

        return decide(run, name, measure, margin, expected, (cell,), text)


def _said(because: str, predicted: str = "") -> Callable[[Summary], str]:
    reason = f"; {because}" if because else ""
    return lambda measured: f"{interval(measured, 3)} measured{predicted}{reason}"


def _range(least: float | None, most: float | None) -> str:
    if least is None and most is None:
        raise ExperimentError("a claim gives neither the least nor the most value", fix="give one of them")
    if least is None:
        return f"at most {most:g}"
    return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
