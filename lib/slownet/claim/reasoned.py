"""Claims about single cells, for experiments whose conditions are no numbers: patterns of writes, ways to commit.

Each says why it should hold; the reason stands beside the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slownet.claim import checked, theories
from slownet.claim.base import ALONE, Siblings, around, decide, interval, placed, undecided
from slownet.claim.compare import quotient
from slownet.claim.theories import Expected
from slownet.errors import ExperimentError
from slownet.records.judgement import Judgement
from slownet.records.result import RunData
from slownet.stats import Summary

Label = Mapping[str, str]


@dataclass(frozen=True)
class between:  # noqa: N801
    """The metric of one cell, ``{"pattern": "cork"}``, lies between two values, None being open."""

    metric: str
    at: Label
    least: float | None = None
    most: float | None = None
    because: str = ""

    def __post_init__(self) -> None:
        checked.ends({"least": self.least, "most": self.most}, checked.named(self, self.metric))

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

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric, self.name)
        checked.ends({"least": self.least, "most": self.most}, claim, positive=True)

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
    """The metric of one cell is what theory says, give or take ``within`` of it.

    ``value`` is a number, or a function of the run that gives one: a `Summary` where it is made of measured numbers
    (``run.at(NEAR).summary("row_ms") + 20``), so that their error counts too, a bare number where it is exact theory.
    """

    metric: str
    at: Label
    value: Expected
    within: float = 0.05
    because: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric, self.name)
        checked.within(self.within, claim)
        if not callable(self.value) and not isinstance(self.value, Summary):
            checked.number("value", self.value, claim, above=0)

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the cell's interval with the prediction and its interval."""
        cell = run.at(self.at)
        what = self.name or f"{self.metric} as predicted at {cell.title}"
        name = f"{what}, within {100 * self.within:g} %"
        try:
            expected = theories.expectation(self.value, run, name)
        except ExperimentError:
            if not run.failed:
                raise
            return placed(undecided(name, None, run.failed), run)  # the cell that it comes from may be among them

        cells = tuple({each.title: each for each in (cell, *expected.cells)}.values())
        if failed := [each for each in cells if each.status == "failed"]:
            return placed(undecided(name, expected.mean, failed), run, cells)
        compared, expected = theories.paired(self.metric, self.at, self.value, run, expected)

        def text(found: Summary) -> str:
            own = f"{interval(cell.summary(self.metric), 3)} measured, {interval(expected.summary, 3)} predicted"
            return own + theories.in_words(found, expected.summary) + _reason(self.because)

        margin = around(expected.mean, self.within)
        return expected.judged(decide(run, name, lambda: compared, margin, expected.mean, cells, text))


def _said(because: str) -> Callable[[Summary], str]:
    return lambda measured: f"{interval(measured, 3)} measured{_reason(because)}"


def _reason(because: str) -> str:
    return f"; {because}" if because else ""


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return f"at most {most:g}"
    return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
