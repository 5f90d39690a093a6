"""A criterion that each cell of a sweep meets or not, and more points where that flips along a factor, or a metric bends. Pure.

A flip is bisected until its two ends are as near as asked for; undecided cells between them are within the interval. A metric
bends at a point that is further than `BEND` of its whole range from the line between its neighbours.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from slownet.hypotheses.experiment import Cell
from slownet.hypotheses.value_texts import VALUE
from slownet.judge.claim import bound
from slownet.judge.records.judgement import REFUTED, SUPPORTED, Judgement
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError, SweepError, nearest
from slownet.model.options import Option
from slownet.model.sample import Sample, cell_in_words

CRITERION = Option("criterion")
_FORM = re.compile(r"(?:p(?P<percent>\d+(?:\.\d+)?) +)?(?P<metric>[A-Za-z]\w*) *(?P<sign><=?|>=?) *(?P<limit>\S+)", re.ASCII)


@dataclass(frozen=True)
class Criterion:
    """A limit of a metric's mean or percentile."""

    text: str
    metric: str
    most: bool
    """True if the limit is an upper one."""
    limit: float | str
    percentile: float | None = None

    @classmethod
    def read(cls, text: str) -> Criterion:
        """Read a criterion. Raises SweepError; ClaimError if its numbers are impossible."""
        found = _FORM.fullmatch(text.strip())
        if not found:
            raise SweepError(f"unclear criterion '{text}'", CRITERION, "write METRIC<NUMBER, or p99 METRIC<300ms")
        limit = found["limit"]
        number = float(limit) if re.fullmatch(r"\d+(\.\d+)?", limit) else limit
        percent = float(found["percent"]) if found["percent"] else None
        made = cls(text.strip(), found["metric"], found["sign"].startswith("<"), number, percent)
        made._claim({})
        return made

    def check(self, sample: Sample) -> None:
        """Refuse a sample that lacks the metric, before all others are measured in vain. Raises ExperimentError."""
        if self.metric not in sample["metrics"]:
            raise ExperimentError(
                f"no metric '{self.metric}'", f"{CRITERION} {self.text}", nearest(self.metric, sample["metrics"])
            )

    def judge(self, run: RunData) -> dict[str, Judgement]:
        """Return the judgement of each cell by its title. Raises ExperimentError if no such metric exists.

        On programs that slownet does not know a cell's verdict requires several repetitions, as that of a claim does.
        """
        run = run.for_verdicts(run.confidence) if run.terms.own_programs else run
        good = [cell for cell in run.cells if cell.status == "ok"]
        return {
            cell.title: self._claim({str(name): str(text) for name, text in cell.label.items()}).judge(run) for cell in good
        }

    def _claim(self, at: dict[str, str]) -> bound:
        if self.most:
            return bound(self.metric, at or None, at_most=self.limit, percentile=self.percentile)
        return bound(self.metric, at or None, at_least=self.limit, percentile=self.percentile)


REFINE = Option("refine")
BEND = 0.05

Verdicts = Mapping[str, str]
"""By the cells' conditions as text."""


@dataclass(frozen=True)
class Flip:
    """The interval of a factor where a verdict changes: ``at`` are the other factors, the ends texts with their unit."""

    factor: str
    at: Cell
    low: str
    high: str
    below: str
    """The verdict at the lower end; that at the upper end is the opposite."""

    def __str__(self) -> str:
        where = cell_in_words(self.at)
        kept, lost = (self.low, self.high) if self.below == SUPPORTED else (self.high, self.low)
        word = "up to" if self.below == SUPPORTED else "from"
        return f"met {word} {self.factor} {kept}, not at {lost}" + (f" ({where})" if where else "")

    def to_json(self) -> dict[str, object]:
        """Return it for sweep.json."""
        return {"factor": self.factor, "at": dict(self.at), "low": self.low, "high": self.high, "below": self.below}


@dataclass(frozen=True)
class Refinement:
    """The factor along which points are added, and how near they come."""

    factor: str
    step: Decimal
    unit: str

    @classmethod
    def read(cls, text: str, factors: Mapping[str, Sequence[str]]) -> Refinement:
        """Read ``rtt:1ms``. Raises SweepError."""
        name, _, step = text.partition(":")
        if name not in factors:
            raise SweepError(f"the sweep has no factor '{name}'", REFINE, nearest(name, factors))
        found = VALUE.fullmatch(step)
        if not found or Decimal(found[1]) == 0:
            raise SweepError(f"unclear step '{step}'", REFINE, f"write {REFINE} {name}:1ms")
        values = [VALUE.fullmatch(each) for each in factors[name]]
        if len(values) < 2 or any(each is None or each[2] != found[2] for each in values):
            fix = f"give at least two values of {name} in {found[2] or 'numbers'}"
            raise SweepError(f"{name} has values that cannot be refined by {step}", REFINE, fix)
        return cls(name, Decimal(found[1]), found[2])

    def lines(self, cells: Iterable[Cell]) -> list[tuple[Cell, list[Decimal]]]:
        """Return, for each combination of the other factors, the values of this one in order."""
        found: dict[tuple[tuple[str, str], ...], set[Decimal]] = {}
        for cell in cells:
            others = tuple((name, text) for name, text in cell.items() if name != self.factor)
            found.setdefault(others, set()).add(self.number(cell[self.factor]))
        return [(dict(others), sorted(values)) for others, values in found.items()]

    def number(self, text: str) -> Decimal:
        """Return the number of one of the factor's values."""
        found = VALUE.fullmatch(text)
        assert found
        return Decimal(found[1])

    def text(self, value: Decimal) -> str:
        """Return a value with its unit."""
        return f"{value.normalize():f}{self.unit}"

    def cell(self, others: Cell, value: Decimal, like: Cell) -> Cell:
        """Return a cell with its factors in the order of another one."""
        return {name: self.text(value) if name == self.factor else others[name] for name in like}

    def between(self, low: Decimal, high: Decimal) -> Decimal | None:
        """Return the middle of two values as a multiple of the step; None if they are as near as asked for."""
        middle = (((low + high) / 2) / self.step).to_integral_value() * self.step
        return middle if low < middle < high else None


def flips(refinement: Refinement, cells: Sequence[Cell], verdicts: Verdicts) -> list[Flip]:
    """Return where verdicts flip: between neighbours that are decided, with the undecided ones between them inside."""
    found = []
    for others, values in refinement.lines(cells):
        decided = [(value, verdict) for value in values if (verdict := _verdict(refinement, others, value, cells[0], verdicts))]
        for (low, below), (high, above) in itertools.pairwise(decided):
            if below != above:
                found.append(Flip(refinement.factor, others, refinement.text(low), refinement.text(high), below))
    return found


def _verdict(refinement: Refinement, others: Cell, value: Decimal, like: Cell, verdicts: Verdicts) -> str:
    found = verdicts.get(cell_in_words(refinement.cell(others, value, like)), "")
    return found if found in (SUPPORTED, REFUTED) else ""


def at_flips(refinement: Refinement, cells: Sequence[Cell], verdicts: Verdicts) -> list[Cell]:
    """Return the cells that halve the intervals where verdicts flip."""
    added = []
    lines = {cell_in_words(others): values for others, values in refinement.lines(cells)}
    for flip in flips(refinement, cells, verdicts):
        low, high = refinement.number(flip.low), refinement.number(flip.high)
        inside = [value for value in lines[cell_in_words(flip.at)] if low <= value <= high]
        for one, other in itertools.pairwise(inside):
            if (middle := refinement.between(one, other)) is not None:
                added.append(refinement.cell(flip.at, middle, cells[0]))
    return added


def at_bends(refinement: Refinement, cells: Sequence[Cell], means: Mapping[str, float]) -> list[Cell]:
    """Return the cells on both sides of where a metric bends."""
    added: dict[str, Cell] = {}
    for others, values in refinement.lines(cells):
        known = [
            (value, means[name])
            for value in values
            if (name := cell_in_words(refinement.cell(others, value, cells[0]))) in means
        ]
        span = max((mean for _, mean in known), default=0.0) - min((mean for _, mean in known), default=0.0)
        for (left, a), (value, mean), (right, b) in zip(known, known[1:], known[2:], strict=False):
            straight = a + (b - a) * float((value - left) / (right - left))
            if abs(mean - straight) <= BEND * span:
                continue
            for one, other in ((left, value), (value, right)):
                if (middle := refinement.between(one, other)) is not None:
                    cell = refinement.cell(others, middle, cells[0])
                    added[cell_in_words(cell)] = cell
    return list(added.values())
