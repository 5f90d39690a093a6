"""Claims about single cells: a value against a number, two cells against each other, all cells against a theory.

Each says ``because``, the reason that makes it worth claiming. Cells are named as the experiment wrote them::

    ratio_of("mib_per_s", {"rate": "2Mbit"}, over={}, least=0.1, most=0.2, because="...")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slownet.claim import INCONCLUSIVE, REFUTED, SUPPORTED, Siblings, _interval, _judged, _minus, _undecided
from slownet.errors import ExperimentError, nearest
from slownet.report.text import spoken
from slownet.result import Cell, Judgement, RunData, cell_key
from slownet.stats import ratio

__all__ = ["follows", "ratio_of", "round_trips_between", "value_of"]

Label = Mapping[str, str]


@dataclass(frozen=True)
class value_of:  # noqa: N801
    """A cell's metric is ``expected``, give or take ``within`` of it.

    ``expected`` is a number, or a function of the run.
    """

    metric: str
    at: Label
    expected: float | Callable[[RunData], float]
    within: float
    because: str
    name: str = ""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the value's ratio to what is expected with 1."""
        what = self.name or f"{spoken(self.metric)} at {_title(self.at)} is the expected one"
        name = f"{what}, within {100 * self.within:g} %"
        cell = cell_at(run, self.at)
        if cell.status == "failed":
            return _undecided(name, None, [cell])
        expected = float(self.expected(run)) if callable(self.expected) else float(self.expected)
        measured = cell.summary(self.metric)
        margin = tuple(sorted((expected * (1 - self.within), expected * (1 + self.within))))
        text = f"{_interval(measured, _digits(expected))} measured, {_short(expected)} expected: {self.because}"
        return _judged(name, measured, expected, (margin[0], margin[1]), text)


@dataclass(frozen=True)
class ratio_of:  # noqa: N801
    """A cell's metric is ``least`` to ``most`` times that of another cell; None is open.

    ``expected`` is what stands in the table for people; the margin's end that is nearer to 1 when not given.
    """

    metric: str
    at: Label
    over: Label
    because: str
    least: float | None = None
    most: float | None = None
    expected: float | None = None
    name: str = ""

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the ratio of the two cells with the margin."""
        if self.least is None and self.most is None:
            raise ExperimentError("a ratio without a margin", f"in experiment {run.experiment}", "give least, most or both")
        name = self.name or f"{spoken(self.metric)} at {_title(self.at)} is {self._range} times that at {_title(self.over)}"
        cells = [cell_at(run, self.at), cell_at(run, self.over)]
        failed = [cell for cell in cells if cell.status == "failed"]
        ends = [end for end in (self.least, self.most) if end is not None]
        expected = self.expected if self.expected is not None else min(ends, key=lambda end: abs(math.log(end)) if end else 0)
        if failed:
            return _undecided(name, expected, failed)
        here, there = (cell.summary(self.metric) for cell in cells)
        compared = ratio(here, there)
        text = f"{_short(here.mean)} against {_short(there.mean)}, {_interval(compared, 3)} times: {self.because}"
        return _judged(name, compared, expected, (0.0 if self.least is None else self.least, self.most), text)

    @property
    def _range(self) -> str:
        if self.most is None:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}" if self.least is None else f"{self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class round_trips_between:  # noqa: N801
    """What a time in ms gains from one cell to another is so many round trips.

    Either ``expected``, give or take ``within`` of it, or no more than ``most``.
    """

    metric: str
    at: Label
    over: Label
    because: str
    expected: float | None = None
    within: float = 0.05
    most: float | None = None
    name: str = ""
    along: str = "rtt_ms"

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Divide the difference of the times by that of the delays."""
        if (self.expected is None) == (self.most is None):
            raise ExperimentError("round trips to compare with", f"in experiment {run.experiment}", "give expected or most")
        limit = float(self.most if self.expected is None else self.expected)  # type: ignore[arg-type]
        margin = (-math.inf, limit) if self.expected is None else (limit * (1 - self.within), limit * (1 + self.within))
        words = f"at most {limit:.4g}" if self.expected is None else f"{limit:.4g} round trips, within {100 * self.within:g} %"
        name = f"{self.name or f'{spoken(self.metric)} from {_title(self.over)} to {_title(self.at)}'}: {words}"
        cells = [cell_at(run, self.at), cell_at(run, self.over)]
        failed = [cell for cell in cells if cell.status == "failed"]
        if failed:
            return _undecided(name, limit, failed)
        far, near = cells
        gap = float(far.condition[self.along]) - float(near.condition[self.along])
        if not gap:
            raise ExperimentError(f"{name} compares a delay with itself", f"in experiment {run.experiment}", "name two delays")
        gained = _minus(far.summary(self.metric), near.summary(self.metric)).scaled(1 / gap)
        text = (
            f"{_short(near.summary(self.metric).mean)} ms become {_short(far.summary(self.metric).mean)}, "
            f"{_interval(gained)} round trips: {self.because}"
        )
        return _judged(name, gained, limit, margin, text)


@dataclass(frozen=True)
class follows:  # noqa: N801
    """Every cell that ``theory`` speaks of has its value times ``least`` to ``most``.

    ``theory`` is a function of a cell's condition in numbers (``{"rtt_ms": 100.0}``) that gives the expected value, or
    None where it has nothing to say. The cell that is furthest off decides.
    """

    metric: str
    theory: Callable[[Mapping[str, Any]], float | None]
    least: float
    most: float
    because: str
    name: str

    def judge(self, run: RunData, siblings: Siblings) -> Judgement:
        """Compare the ratios of measured and expected with the margin."""
        expected = [(cell, value) for cell in run.cells if (value := self.theory(cell.condition)) is not None]
        name = f"{self.name}: {self.least:g} to {self.most:g} times the theory"
        failed = [cell for cell, _ in expected if cell.status == "failed"]
        if failed:
            return _undecided(name, 1.0, failed)
        if not expected:
            raise ExperimentError(
                f"no cell for '{self.name}'", f"in experiment {run.experiment}", "measure one that it speaks of"
            )
        ratios = [(cell, value, cell.summary(self.metric).scaled(1 / value)) for cell, value in expected]
        words = "; ".join(f"{_short(each.mean * value)} ({_short(value)}) at {cell.title}" for cell, value, each in ratios)
        text = f"measured (theory): {words}: {self.because}"
        judged = [_judged(name, each, 1.0, (self.least, self.most), text) for _, _, each in ratios]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        return max(judged, key=lambda each: (severity.index(each.verdict), abs(math.log(max(each.measured or 0.0, 1e-12)))))


def cell_at(run: RunData, label: Label) -> Cell:
    """The cell that the experiment wrote so. Raises ExperimentError with the nearest."""
    for cell in run.cells:
        if cell_key(cell.label) == cell_key(label):
            return cell
    what = f"no cell '{_title(label)}'"
    raise ExperimentError(what, f"in experiment {run.experiment}", nearest(_title(label), [cell.title for cell in run.cells]))


def _title(label: Label) -> str:
    return ", ".join(f"{name} {value}" for name, value in label.items()) or "no condition"


def _digits(value: float) -> int:
    return max(0, 3 - math.floor(math.log10(abs(value)))) if value else 2


def _short(value: float) -> str:
    return f"{value:.4g}"
