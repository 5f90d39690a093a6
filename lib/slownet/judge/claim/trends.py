"""Claims about the trend of a metric along a condition: it grows, it never falls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise

from slownet.judge.claim import description, validation
from slownet.judge.claim.base import ALONE, Judged, Margin, Siblings, all_hold, around, decide, in_turn, judge_parts
from slownet.judge.claim.description import with_description
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.naming import metric_name
from slownet.judge.records.quantity import interval, quantity
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import Phrase
from slownet.model.errors import ExperimentError
from slownet.model.units import spoken
from slownet.theory.stats import difference, ratio

SOME = 5e-324
"""The smallest step above 0."""


@dataclass(frozen=True)
class grows(Judged):  # noqa: N801
    """Claim that a metric grows from each value of a condition to the next.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    along : str
        The condition with its unit: ``"rtt_ms"``.
    falling : bool
        Claim that it falls instead.
    at : mapping of str to str, optional
        Values of the other conditions.

    Raises
    ------
    ClaimError
        A field has a value of another type.
    """

    metric: str
    _: KW_ONLY
    along: str = "rtt_ms"
    falling: bool = False
    at: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        validation.checked(self, self.metric)

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare each step with 0."""
        name = f"{self.metric} {'falls' if self.falling else 'grows'} along {self.along}"
        sign = -1 if self.falling else 1

        def step(run: RunData, before: Cell, after: Cell) -> Judgement:
            found = decide(
                run,
                name,
                lambda: difference(after.summary(self.metric), before.summary(self.metric)).scaled(sign),
                (SOME, None),
                0.0,
                (before, after),
                lambda gap: GAP(metric=self.metric, number=gap, of=before.title, at=after.title),
            )
            return replace(found, margin=(0.0, None))

        return _steps(run.where(self.at), name, self.along, step)

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        verb = "falls" if claim.parameters.get("falling") else "grows"
        return f"{metric_name(claim.metric, run)} {verb} with the {_condition(claim)}"


@dataclass(frozen=True)
class monotone(Judged):  # noqa: N801
    """Claim that a metric never falls by more than a margin along a condition; `grows` is the stronger claim.

    Parameters
    ----------
    metric : str
        Name with unit: ``"time_per_request_ms"``.
    along : str
        The condition with its unit: ``"rtt_ms"``.
    falling : bool
        Claim that it never rises by more than the margin instead.
    within : float
        Margin around each step's first mean, as a fraction of it: 0.05 for 5 %.
    at : mapping of str to str, optional
        Values of the other conditions.

    Raises
    ------
    ClaimError
        The margin is not a fraction below 1.
    """

    metric: str
    _: KW_ONLY
    along: str = "rtt_ms"
    falling: bool = False
    within: float = 0.05
    at: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        validation.within(self.within, validation.checked(self, self.metric))

    @with_description
    def judge(self, run: RunData, siblings: Siblings = ALONE) -> Judgement:
        """Compare the ratio of each two neighbouring cells with 1."""
        verb = "rises" if self.falling else "falls"
        name = f"{self.metric} never {verb} along {self.along} by more than {100 * self.within:g} %"
        least, most = around(1.0, self.within)
        margin: Margin = (None, most) if self.falling else (least, None)

        def step(run: RunData, before: Cell, after: Cell) -> Judgement:
            return decide(
                run,
                name,
                lambda: ratio(after.summary(self.metric), before.summary(self.metric)),
                margin,
                1.0,
                (before, after),
                lambda found: STEP(times=found, of=before.title, at=after.title),
            )

        return _steps(run.where(self.at), name, self.along, step)

    @staticmethod
    def sentence(claim: Judgement, run: RunData) -> str:
        """Return the claim as a sentence about the run."""
        verb = "rises" if claim.parameters.get("falling") else "falls"
        return f"{metric_name(claim.metric, run)} never {verb} as the {_condition(claim)} grows{description.margin(claim)}"


def _condition(claim: Judgement) -> str:
    return spoken(str(claim.parameters.get("along", "rtt_ms"))).partition(",")[0]


def _steps(run: RunData, name: str, along: str, step: Callable[[RunData, Cell, Cell], Judgement]) -> Judgement:
    """Judge all steps along a condition together."""
    count = len(run.along(along)) - 1
    if count < 1:
        what = f"no trend from {count + 1} value{'s' * (count != 0)} of {along}"
        raise ExperimentError(what, f"in experiment {run.experiment}", "measure at two or more")

    def judge(run: RunData) -> Judgement:
        parts = [step(run, before, after) for before, after in pairwise(cell for _, cell in run.along(along))]
        return all_hold(name, parts, in_turn(parts))

    return judge_parts(judge, run, count)


GAP = Phrase("gap", lambda metric, number, of, at: f"{quantity(number, metric, signed=True)} from {of} to {at}")
STEP = Phrase("step", lambda times, of, at: f"{interval(times, 3)} times from {of} to {at}")
