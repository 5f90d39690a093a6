"""Claims that compare a cell with another: degradation, equivalence, no worse than."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from slownet import stats
from slownet.claim import checked
from slownet.claim.base import ALONE, Siblings, around, decide, described, interval
from slownet.errors import ExperimentError
from slownet.records.cell import Cell
from slownet.records.judgement import Judgement
from slownet.records.result import RunData
from slownet.stats import Summary


@dataclass(frozen=True)
class ratio:  # noqa: N801
    """The degradation ratio, metric(cell) / metric(baseline), is a number, give or take ``within`` of it.

    The number is ``expected`` (one's own) or ``published``. ``at`` are the cell's conditions, ``of`` the baseline's: the
    first values of the experiment when not given.
    """

    metric: str
    at: Mapping[str, str]
    expected: float | None = None
    published: float | None = None
    within: float = 0.05
    of: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric)
        checked.within(self.within, claim)
        given = {"expected": self.expected, "published": self.published}
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 1:
            what = f"a ratio of {self.metric} with {'two numbers' if names else 'no number'}"
            raise checked.ClaimError(what, fix="give either expected= or published=", field="expected")
        checked.number(names[0], given[names[0]], claim, above=0)

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with the number."""
        number, source = (self.expected, "expected") if self.published is None else (self.published, "published")
        assert number is not None
        cell, base = _pair(run, self.at, self.of)
        name = f"{self.metric} at {described(self.at)} is {number:.3g} times the {_start(base)}, within {100 * self.within:g} %"
        return decide(
            run,
            name,
            lambda: quotient(cell, base, self.metric),
            around(number, self.within),
            number,
            (base, cell),
            lambda found: f"{interval(found, 3)} times measured, {number:.4g} {source}",
        )


@dataclass(frozen=True)
class equal:  # noqa: N801
    """A metric is the same in two cells, to ``within`` of it: equivalence, which takes evidence.

    ``to`` are the other cell's conditions, the baseline's when not given.
    """

    metric: str
    at: Mapping[str, str]
    to: Mapping[str, str] | None = None
    within: float = 0.05

    def __post_init__(self) -> None:
        checked.within(self.within, checked.named(self, self.metric))

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with 1."""
        cell, base = _pair(run, self.at, self.to)
        name = f"{self.metric} at {described(self.at)} equals the {_start(base)}, within {100 * self.within:g} %"
        return decide(
            run,
            name,
            lambda: quotient(cell, base, self.metric),
            around(1.0, self.within),
            1.0,
            (base, cell),
            lambda found: _against(cell, base, self.metric, found),
        )


@dataclass(frozen=True)
class no_worse_than:  # noqa: N801
    """A metric is no worse than in another cell, or better, but for ``within`` of it.

    ``better`` says which way is better: "lower" (times) or "higher" (rates). ``than`` are the other cell's conditions,
    the baseline's when not given.
    """

    metric: str
    at: Mapping[str, str]
    than: Mapping[str, str] | None = None
    within: float = 0.05
    better: Literal["lower", "higher"] = "lower"

    def __post_init__(self) -> None:
        claim = checked.named(self, self.metric)
        checked.within(self.within, claim)
        if self.better not in ("lower", "higher"):
            raise checked.ClaimError(f"better is '{self.better}'", f"in {claim}", "write lower or higher", "better")

    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with the worst that is allowed."""
        cell, base = _pair(run, self.at, self.than)
        name = f"{self.metric} at {described(self.at)} is no worse than the {_start(base)}, within {100 * self.within:g} %"
        least, most = around(1.0, self.within)
        return decide(
            run,
            name,
            lambda: quotient(cell, base, self.metric),
            (None, most) if self.better == "lower" else (least, None),
            1.0,
            (base, cell),
            lambda found: _against(cell, base, self.metric, found),
        )


def _pair(run: RunData, at: Mapping[str, str], of: Mapping[str, str] | None) -> tuple[Cell, Cell]:
    cell = run.at(at)
    base = run.start_of(at) if of is None else run.at({**cell.label, **of} if of else of)
    if cell is base:
        what = f"{described(at) or 'no condition'} is compared with itself"
        raise ExperimentError(what, f"in experiment {run.experiment}", "name two cells")
    return cell, base


def quotient(cell: Cell, base: Cell, metric: str) -> Summary:
    """The metric of one cell over that of another."""
    return stats.ratio(cell.summary(metric), base.summary(metric))


def _start(base: Cell) -> str:
    return f"one at {base.title}"


def _against(cell: Cell, base: Cell, metric: str, found: Summary) -> str:
    return f"{cell.summary(metric).mean:.4g} against {base.summary(metric).mean:.4g}: {interval(found, 3)} times"
