"""Claims that compare two cells: degradation ratio, equivalence, no worse than."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

from slownet.judge.claim import description, validation
from slownet.judge.claim.base import ALONE, Judged, Margin, Siblings, around, decide, placed, reasons
from slownet.judge.claim.description import with_description
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import NOTHING_MS
from slownet.judge.records.judgement import INCONCLUSIVE, Judgement, Reason
from slownet.judge.records.naming import metric_name
from slownet.judge.records.quantity import interval
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError
from slownet.model.sample import cell_in_words
from slownet.model.units import rounded
from slownet.theory import stats
from slownet.theory.stats import Summary


@dataclass(frozen=True)
class ratio(Judged):  # noqa: N801
    """Claim that the degradation ratio, metric(cell) / metric(baseline), has a value or stays within limits.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    at : mapping of str to str
        Conditions of the cell as the experiment writes them: ``{"rtt": "10ms"}``.
    of : mapping of str to str, optional
        Conditions of the cell to compare with: all of them, or those that differ from ``at``. The first values of the
        experiment unless given.
    expected, published : float, optional
        The ratio, above 0: as the author expects it, or as an article reports it.
    within : float
        Margin around the ratio, as a fraction of it: 0.05 for 5 %.
    at_least, at_most : float, optional
        Limits of the ratio, 0 or more, instead of a value.
    because : str
        Why it should hold; appended to the measured numbers.
    name : str
        The claim as a sentence; made of the fields unless given.

    Raises
    ------
    ClaimError
        Not exactly one of ``expected``, ``published`` and limits is given, or a number is invalid.
    """

    metric: str
    at: Mapping[str, str]
    _: KW_ONLY
    of: Mapping[str, str] | None = None
    expected: float | None = None
    published: float | None = None
    within: float = 0.05
    at_least: float | None = None
    at_most: float | None = None
    because: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric, self.name)
        validation.within(self.within, claim)
        given = {"expected": self.expected, "published": self.published}
        names = [name for name, value in given.items() if value is not None]
        has_limits = self.at_least is not None or self.at_most is not None
        if len(names) + has_limits != 1:
            how = "no number" if not names and not has_limits else "a number and limits" if has_limits else "two numbers"
            fix = "give either expected= or published=, or limits, at_least= and at_most="
            raise validation.ClaimError(f"a ratio of {self.metric} with {how}", fix=fix, field="expected")
        if has_limits:
            validation.ends({"at_least": self.at_least, "at_most": self.at_most}, claim, positive=True)
        else:
            validation.number(names[0], given[names[0]], claim, above=0)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with the number or the limits."""
        cell, base = _pair(run, self.at, self.of)
        number, source = (self.expected, "expected") if self.published is None else (self.published, "published")
        if number is None:
            margin: Margin = (self.at_least, self.at_most)
            called = f"{self.metric} {description.limits(*margin)} times as much at {cell.title} as at {base.title}"
        else:
            margin = around(number, self.within)
            times = f"{rounded(number, 3)} times the one at {base.title}"
            called = f"{self.metric} at {cell_in_words(self.at)} is {times}, {description.within(self.within)}"
        name = self.name or called
        if why := _means_nothing(base, self.metric, run) or _no_ratio(cell, base, self.metric):
            open_ = Judgement(name, INCONCLUSIVE, expected=number, margin=margin, reason=Reason.NO_BASE)
            return placed(open_.saying(why, stays_open=why), run, (base, cell))
        return decide(
            run,
            name,
            lambda: quotient(cell, base, self.metric),
            margin,
            number,
            (base, cell),
            lambda found: (RATIO_MEASURED(times=found, number=number, source=source), *reasons(self.because)),
        )

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        mine, other, both = description.two_cells(claim, run)
        fields, number = claim.parameters, claim.parameters.get("published", claim.parameters.get("expected"))
        start = f"{metric_name(claim.metric, run)} {mine} is"
        if number is not None:
            source = "as published" if "published" in fields else "as expected"
            return f"{start} {rounded(number, 3)} times that {other}, {source}{both}{description.margin(claim)}"
        least, most = fields.get("at_least"), fields.get("at_most")
        if {least, most} == {1.0, None}:
            return f"{start} at {'least' if least else 'most'} that {other}{both}"
        return f"{start} {description.span(least, most)} times that {other}{both}"


@dataclass(frozen=True)
class equal(Judged):  # noqa: N801
    """Claim that a metric is the same in two cells. Equivalence needs evidence: noise alone leaves it inconclusive.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    at : mapping of str to str
        Conditions of the cell as the experiment writes them: ``{"rtt": "10ms"}``.
    of : mapping of str to str, optional
        Conditions of the cell to compare with: all of them, or those that differ from ``at``. The first values of the
        experiment unless given.
    within : float
        Margin around the other cell's mean, as a fraction of it: 0.05 for 5 %.

    Raises
    ------
    ClaimError
        The margin is not a fraction below 1.
    """

    metric: str
    at: Mapping[str, str]
    _: KW_ONLY
    of: Mapping[str, str] | None = None
    within: float = 0.05

    def __post_init__(self) -> None:
        validation.within(self.within, validation.checked(self, self.metric))

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with 1."""
        return _beside(self, run, "equals", around(1.0, self.within))

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        mine, other, both = description.two_cells(claim, run)
        return f"{metric_name(claim.metric, run)} is the same {mine} as {other}{both}{description.margin(claim)}"


@dataclass(frozen=True)
class no_worse_than(Judged):  # noqa: N801
    """Claim that a metric is better than in another cell, or worse by a margin at most.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    at : mapping of str to str
        Conditions of the cell as the experiment writes them: ``{"rtt": "10ms"}``.
    of : mapping of str to str, optional
        Conditions of the cell to compare with: all of them, or those that differ from ``at``. The first values of the
        experiment unless given.
    within : float
        Margin around the other cell's mean, as a fraction of it: 0.05 for 5 %.
    better : {"lower", "higher"}
        Which direction is better: "lower" for times, "higher" for rates.

    Raises
    ------
    ClaimError
        The margin is not a fraction below 1, or ``better`` is another word.
    """

    metric: str
    at: Mapping[str, str]
    _: KW_ONLY
    of: Mapping[str, str] | None = None
    within: float = 0.05
    better: Literal["lower", "higher"] = "lower"

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric)
        validation.within(self.within, claim)
        if self.better not in ("lower", "higher"):
            raise validation.ClaimError(f"better is '{self.better}'", f"in {claim}", "write lower or higher", "better")

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of the two cells with the worst allowed ratio."""
        least, most = around(1.0, self.within)
        return _beside(self, run, "is no worse than", (None, most) if self.better == "lower" else (least, None))

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        mine, other, both = description.two_cells(claim, run)
        return f"{metric_name(claim.metric, run)} is no worse {mine} than {other}{both}{description.margin(claim)}"


def _beside(claim: equal | no_worse_than, run: RunData, words: str, margin: Margin) -> Judgement:
    """Compare the ratio of the two cells of a claim with a margin around 1."""
    cell, base = _pair(run, claim.at, claim.of)
    within = description.within(claim.within)
    name = f"{claim.metric} at {cell_in_words(claim.at)} {words} the one at {base.title}, {within}"
    return decide(
        run,
        name,
        lambda: quotient(cell, base, claim.metric),
        margin,
        1.0,
        (base, cell),
        lambda found: _against(cell, base, claim.metric, found),
    )


def _pair(run: RunData, at: Mapping[str, str], of: Mapping[str, str] | None) -> tuple[Cell, Cell]:
    cell = run.at(at)
    base = run.baseline_of(at) if of is None else run.exactly(of) or run.at({**cell.label, **of} if of else of)
    if cell is base:
        what = f"{cell_in_words(at) or 'no condition'} is compared with itself"
        raise ExperimentError(what, f"in experiment {run.experiment}", "name two cells")
    return cell, base


def _means_nothing(base: Cell, metric: str, run: RunData) -> Statement | None:
    """Return why a cell's number has no ratio; None if it has one.

    Over a link with a delay a short time means something: a row of a batch has its share of the batch's round trips.
    """
    delayed = (base.verified_rtt_ms or 0.0) >= NOTHING_MS
    if base.status == "failed" or delayed or not run.charging.means_nothing(abs(base.summary(metric).mean), metric):
        return None
    return MEANS_NOTHING(metric=metric, number=base.summary(metric).mean, at=base.title)


def _no_ratio(cell: Cell, base: Cell, metric: str) -> Statement | None:
    """State that nothing can be divided by what is 0; None if it is not."""
    if "failed" in (cell.status, base.status) or not _is_zero(base.summary(metric)):
        return None
    return ZERO(metric=metric, at=base.title)


def _is_zero(found: Summary) -> bool:
    return found.known and found.low == found.mean == found.high == 0


def quotient(cell: Cell, base: Cell, metric: str) -> Summary:
    """Return the metric of one cell divided by that of another; two that are exactly 0 are equal."""
    one, other = cell.summary(metric), base.summary(metric)
    if _is_zero(one) and _is_zero(other):
        return replace(one, mean=1.0, low=1.0, high=1.0)
    return stats.ratio(one, other)


def _against(cell: Cell, base: Cell, metric: str, found: Summary) -> Statement:
    return AGAINST(number=cell.summary(metric).mean, other=base.summary(metric).mean, times=found)


def _ratio_measured(times: Summary, number: float | None, source: str) -> str:
    return f"{interval(times, 3)} " + ("measured" if number is None else f"times measured, {rounded(number, 4)} {source}")


def _meaning_nothing(metric: str, number: float, at: str) -> str:
    what = f"{metric} is {number:.2g} at {at}, where the CPU is free and nothing else takes time"
    return f"{what}: no ratio to it means anything; claim round trips (law), or measure again with the CPU charged"


RATIO_MEASURED = Phrase("ratio measured", _ratio_measured)
AGAINST = Phrase("against", lambda number, other, times: f"{number:.4g} against {other:.4g}: {interval(times, 3)} times")
MEANS_NOTHING = Phrase("means nothing", _meaning_nothing)
ZERO = Phrase(
    "zero", lambda metric, at: f"{metric} is 0 at {at}: there is no ratio to it; claim limits of the number itself (bound)"
)
