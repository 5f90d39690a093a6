"""Claims that compare cells with theory: a value for one, round trips between two, a formula for all of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

from slownet.judge.claim import description, expected_values, lateness, validation
from slownet.judge.claim.base import (
    ALONE,
    Judged,
    Siblings,
    around,
    decide,
    judge_parts,
    judged,
    placed,
    reasons,
    undecided,
)
from slownet.judge.claim.description import THEORY, with_description
from slownet.judge.claim.expected_values import Expected
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import INCONCLUSIVE, REFUTED, SUPPORTED, Judgement
from slownet.judge.records.naming import contrast, counted, metric_name
from slownet.judge.records.quantity import interval, quantity
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import Phrase, Statement
from slownet.model.errors import ExperimentError
from slownet.model.sample import cell_in_words
from slownet.model.shapes import Json
from slownet.model.units import spoken, stated, unit_of
from slownet.theory import stats
from slownet.theory.law import milliseconds, trip
from slownet.theory.stats import Summary


@dataclass(frozen=True)
class predicted(Judged):  # noqa: N801
    """Claim that the metric of one cell has the value that theory predicts.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    at : mapping of str to str
        Conditions of the cell as the experiment writes them: ``{"rtt": "10ms"}``.
    expected : float, Summary or callable
        The predicted value, above 0 and in the metric's unit, or a function of the run that returns it: a `Summary` if it is
        computed from measured numbers (``run.at(NEAR).summary("row_ms") + 20``), so that their error counts too, a plain
        number if it is exact theory.
    within : float
        Margin around it, as a fraction of it: 0.05 for 5 %.
    because : str
        Why it should hold; appended to the measured numbers.
    name : str
        The claim as a sentence without its margin; made of metric and cell unless given.

    Raises
    ------
    ClaimError
        A number is invalid.
    """

    metric: str
    at: Mapping[str, str]
    _: KW_ONLY
    expected: Expected
    within: float = 0.05
    because: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric, self.name)
        validation.within(self.within, claim)
        if callable(self.expected):
            validation.takes(self.expected, ("run",), "expected", claim)
        elif not isinstance(self.expected, Summary):
            validation.number("expected", self.expected, claim, above=0)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the cell's interval with the prediction and its interval."""
        cell = run.at(self.at)
        name = self._name(cell)
        try:
            expected = expected_values.expectation(self.expected, run, name)
        except ExperimentError:
            if not run.failed:
                raise
            return placed(undecided(name, None, run.failed), run)  # the expectation's own cell may have failed

        cells = tuple({each.title: each for each in (cell, *expected.cells)}.values())
        if failed := [each for each in cells if each.status == "failed"]:
            return placed(undecided(name, expected.mean, failed), run, cells)
        compared, expected = expected_values.paired(self.metric, self.at, self.expected, run, expected)

        def text(found: Summary) -> tuple[Statement, ...]:
            own, says = cell.summary(self.metric), expected.summary
            start = PREDICTED_MEASURED(metric=self.metric, number=own, predicted=says)
            return (start, *expected_values.times(found, says), *reasons(self.because))

        margin = around(expected.mean, self.within)
        return expected.judged(decide(run, name, lambda: compared, margin, expected.mean, cells, text))

    def _name(self, cell: Cell) -> str:
        what = self.name or f"{self.metric} as predicted at {cell.title}"
        return f"{what}, {description.within(self.within)}" if self.within else what

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        where = description.apart(claim.parameters["at"], run)
        return f"{metric_name(claim.metric, run)} {where} is as predicted{description.margin(claim)}"


@dataclass(frozen=True)
class round_trips_between(Judged):  # noqa: N801
    """Claim about the round trips by which a time differs between two cells.

    Parameters
    ----------
    metric : str
        Name of a time in ms.
    at : mapping of str to str
        Conditions of the cell as the experiment writes them: ``{"rtt": "10ms"}``.
    of : mapping of str to str
        Conditions of the cell to compare with.
    because : str
        Why it should hold; appended to the measured numbers.
    expected : float, optional
        Round trips, above 0. Give either this or ``at_most``.
    within : float
        Margin around ``expected``, as a fraction of it: 0.05 for 5 %.
    at_most : float, optional
        Upper limit of the round trips.
    name : str
        The claim as a sentence without its number; made of metric and cells unless given.
    along : str
        The condition in ms whose difference is the length of a round trip.

    Raises
    ------
    ClaimError
        Not exactly one of ``expected`` and ``at_most`` is given, or a number is invalid.
    """

    metric: str
    at: Mapping[str, str]
    _: KW_ONLY
    of: Mapping[str, str]
    because: str
    expected: float | None = None
    within: float = 0.05
    at_most: float | None = None
    name: str = ""
    along: str = "rtt_ms"

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric, self.name)
        validation.within(self.within, claim)
        if (self.expected is None) == (self.at_most is None):
            how = "neither expected nor at_most" if self.expected is None else "both expected and at_most"
            raise validation.ClaimError(f"round trips with {how}", f"in {claim}", "give one of the two", "expected")
        if self.expected is not None:
            validation.number("expected", self.expected, claim, above=0)
        else:
            validation.number("at_most", self.at_most, claim)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Divide the difference of the times by that of the delays."""
        limit, margin = self._margin()
        name = self._name()
        far, near = run.at(self.at), run.at(self.of)

        def gained() -> Summary:
            gap = run.value(self.along, far) - run.value(self.along, near)
            if not gap:
                raise ExperimentError(
                    f"{name} compares a delay with itself", f"in experiment {run.experiment}", "name two delays"
                )
            gained = stats.difference(far.summary(self.metric), near.summary(self.metric))
            added = gap * trip(self.along) / milliseconds(self.metric)
            return lateness.allowing(gained, far, near, self.metric).scaled(1 / added)

        def said(found: Summary) -> Statement:
            start, end = near.summary(self.metric).mean, far.summary(self.metric).mean
            return ROUND_TRIPS_GAINED(metric=self.metric, start=start, end=end, round_trips=found, because=self.because)

        return decide(run, name, gained, margin, limit, (far, near), said)

    def _name(self) -> str:
        what = self.name or f"{spoken(self.metric)} from {cell_in_words(self.of)} to {cell_in_words(self.at)}"
        if self.expected is not None:
            return f"{what}: {description.round_trips(self.expected)}, {description.within(self.within)}"
        return f"{what}: at most {description.round_trips(self.at_most or 0.0)}"

    def _margin(self) -> tuple[float, tuple[float | None, float]]:
        if self.expected is not None:
            return self.expected, around(self.expected, self.within)
        assert self.at_most is not None
        return self.at_most, (None, self.at_most)

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        far, near, fields = claim.cells[0], claim.cells[1], claim.parameters
        mine, other, both = contrast(far, near, run)
        end = f" {mine} than {other}" + (f", at {both}" if both else "")
        if fields.get("at_most") is not None:
            most = float(fields["at_most"])
            limit = f"{stated(most)} of a round trip" if abs(most) < 1 else counted(most, "round trip")
            return f"{description.timed(claim, run)} at most {limit} more{end}"
        return (
            f"{description.timed(claim, run)} {counted(fields['expected'], 'round trip')} more{end}{description.margin(claim)}"
        )


@dataclass(frozen=True)
class follows(Judged):  # noqa: N801
    """Claim that measured over theoretical value stays within limits in every cell. The worst cell decides.

    Parameters
    ----------
    metric : str
        Name with unit: ``"mbit_per_s"``.
    theory : callable
        A function of a cell's condition in numbers (``{"rtt_ms": 100.0}``), and of the cell too if it takes two arguments. It
        returns the value in the metric's unit, a `Summary` if that is computed from measured numbers
        (``cell.summary("loss")``), so that their error counts too, or None for a cell that it does not cover.
    at_least, at_most : float
        Limits of measured over theoretical value, 0 or more.
    because : str
        Why it should hold; appended to the measured numbers.
    name : str
        The claim as a sentence without its limits.

    Raises
    ------
    ClaimError
        The limits contradict each other.
    """

    in_files: ClassVar[bool] = False  # it takes a function
    metric: str
    theory: Callable[..., expected_values.Value | None]
    _: KW_ONLY
    at_least: float
    at_most: float
    because: str
    name: str

    def __post_init__(self) -> None:
        claim = validation.checked(self, self.metric, self.name)
        validation.takes(self.theory, ("condition", "cell"), "theory", claim)
        validation.ends({"at_least": self.at_least, "at_most": self.at_most}, claim, positive=True)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of measured to theoretical value with the limits in each cell."""
        name = f"{self.name}: {description.limits(self.at_least, self.at_most)} times the theory"
        failed, covered = self._covered(run)
        if failed:
            return placed(undecided(name, 1.0, failed), run, (*failed, *covered))
        if not covered:
            raise ExperimentError(
                f"no cell for '{self.name}'", f"in experiment {run.experiment}", "measure one that the theory covers"
            )

        def judge(run: RunData) -> Judgement:
            pairs = [(cell, self._expected(cell, run, name)) for cell in self._covered(run)[1]]
            return placed(self._furthest(name, pairs), run, covered)

        return judge_parts(judge, run, len(covered))

    def _theoretical(self, cell: Cell) -> expected_values.Value | None:
        two = len(inspect.signature(self.theory).parameters) > 1
        return self.theory(cell.condition, cell) if two else self.theory(cell.condition)

    def _covered(self, run: RunData) -> tuple[list[Cell], list[Cell]]:
        """Return the cells that the theory covers: the failed ones, whose numbers it may lack, and the others."""
        failed: list[Cell] = []
        good: list[Cell] = []
        for cell in run.cells:
            try:
                is_covered = self._theoretical(cell) is not None
            except ExperimentError:
                if cell.status == "ok":
                    raise
                is_covered = True
            if is_covered:
                (good if cell.status == "ok" else failed).append(cell)
        return failed, good

    def _expected(self, cell: Cell, run: RunData, name: str) -> expected_values.ExpectedValue:
        def says(only: RunData) -> expected_values.Value:
            found = self._theoretical(only.cells[0])
            assert found is not None
            return found

        return expected_values.expectation(says, replace(run, cells=(cell,)), name)

    def _furthest(self, name: str, expected: Sequence[tuple[Cell, expected_values.ExpectedValue]]) -> Judgement:
        found = [(cell, says, stats.ratio(cell.summary(self.metric), says.summary)) for cell, says in expected]
        numbers = [
            {"at": cell.title, "measured": cell.summary(self.metric).mean, "theory": says.mean} for cell, says, _ in found
        ]
        text = FOLLOWS_MEASURED(numbers=numbers, because=self.because)
        parts = [says.judged(judged(name, each, 1.0, (self.at_least, self.at_most), text)) for _, says, each in found]
        severity = (SUPPORTED, INCONCLUSIVE, REFUTED)
        worst = max(parts, key=lambda each: (severity.index(each.verdict), abs(math.log(max(each.measured or 0.0, 1e-12)))))
        by_cell = [{"cell": dict(cell.label), "value": says.mean} for cell, says, _ in found]
        return replace(worst, parameters={THEORY: by_cell})


def _round_trips_gained(metric: str, start: float, end: float, round_trips: Summary, because: str) -> str:
    unit = unit_of(metric) or "ms"
    return f"from {start:.4g} {unit} to {end:.4g} {unit}, {interval(round_trips)} round trips: {because}"


def _follows_measured(numbers: Sequence[Mapping[str, Json]], because: str) -> str:
    words = "; ".join(f"{each['measured']:.4g} ({each['theory']:.4g}) at {each['at']}" for each in numbers)
    return f"measured (theory): {words}: {because}"


PREDICTED_MEASURED = Phrase(
    "predicted measured",
    lambda metric, number, predicted: f"{quantity(number, metric)} measured, {quantity(predicted, metric)} predicted",
)
ROUND_TRIPS_GAINED = Phrase("round trips gained", _round_trips_gained)
FOLLOWS_MEASURED = Phrase("follows measured", _follows_measured)
