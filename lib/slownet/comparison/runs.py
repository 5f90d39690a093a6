"""Compares two runs, metric by metric and condition by condition. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slownet.comparison import outcome
from slownet.comparison.outcome import Judge, Outcome, Part
from slownet.comparison.row import EQUIVALENT, Row, as_equal, compared, missing, with_holm
from slownet.judge.records import exactness, sample_values
from slownet.judge.records.cell import Cell
from slownet.judge.records.charging import Charging
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import cell_key, finite
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.options import CLOCK, METRIC, RESUME, TDF, Option
from slownet.model.options import REPEAT as REPETITIONS
from slownet.report.text import number
from slownet.report.words import few_boots, instructions_compared
from slownet.theory.law import Law, fit
from slownet.theory.stats import DECIDING, Summary

# Says the smallest difference that a comparison could have found, and what would find a smaller one. Pure.

NOTED = 0.0005
"""A smaller variation of measurements is not mentioned."""
FINDS_MORE = "a smaller margin"
REPEAT = f"more repetitions ({RESUME.in_command('run', 'RUN')} {REPETITIONS.typed} N)"
MORE = "more requests or repetitions"
COUNT = f"both runs on the exact clock ({CLOCK.in_command('run', 'exact')}), which needs QEMU and no counter"


def smallest(row: Row) -> tuple[float, float] | None:
    """Return the smallest change that a row could have shown beyond its margin, and what of it is due to variation.

    Both are relative; None if the row does not give it.
    """
    if row.beyond is None or not row.beyond[0].known or not row.first or not row.second:
        return None
    gap, width = row.beyond
    if min(row.first.mean, row.second.mean) > 0:
        return math.expm1(width + gap.half_width), math.expm1(gap.half_width)
    mean = abs(row.first.mean or row.second.mean)
    return ((width + gap.half_width) / mean, gap.half_width / mean) if mean else None


def note(rows: Sequence[Row], within: float, charged: Collection[Charging]) -> str:
    """Return the note of a comparison; empty if nothing was compared, or nothing that another clock would tell apart.

    charged: what the clocks of both runs charge; a field measurement has none.
    """
    seen = [(size, varies, row.name) for row in rows if (found := smallest(row)) for size, varies in [found]]
    if not seen:
        blind = any(row.first and row.second for row in rows) and _way(is_vague=True, charged=charged) == COUNT
        return f"no difference would have been found, for lack of an interval; to find any: {COUNT}" if blind else ""
    size, varies, name = max(seen)
    made = f", {_percent(within)} of margin and what measurements vary" if varies > NOTED else ", the margin"
    said = f"any difference of {_percent(size)} or more would have been found (in {name}{made}){_but(rows)}"
    return f"{said}; to find smaller ones: {_way(varies > within, charged)}"


def _but(rows: Sequence[Row]) -> str:
    """Return what the note excepts: pairs of numbers whose difference has no interval, in which none would have been found."""
    blind = [row.name for row in rows if row.first and row.second and not (row.beyond and row.beyond[0].known)]
    others = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
    return f", but none in {blind[0]}{others}, for lack of an interval" if blind else ""


def _way(is_vague: bool, charged: Collection[Charging]) -> str:
    if not is_vague:
        return FINDS_MORE
    if not charged:
        return MORE
    return COUNT if {Charging.TIME, Charging.REAL} & {*charged} else REPEAT


def _percent(part: float) -> str:
    return f"{number(100 * part, 2)} %"


FREE_IN_BOTH = (
    f"the CPU was free in both runs: what programs compute is not compared ({TDF.in_command('run', 'auto')} charges it)"
)
NOT_AGAIN = "not measured again"
SETTINGS = ("experiment", "clock", "tdf", "kernel", "slownet")


@dataclass(frozen=True)
class Comparison:
    """The comparison of two runs; ``law`` holds k and T0 of a run and of the field, None if both are runs."""

    first: RunData
    second: RunData
    within: float
    rows: tuple[Row, ...]
    law: Mapping[str, object] | None = None
    notes: tuple[str, ...] = ()
    judge: Judge = outcome.versions
    """The text of the outcome: a function of `slownet.comparison.outcome`."""
    parts: tuple[Part, ...] = ()
    """The phases of a request, in a run that has them and in the field."""

    @property
    def outcome(self) -> Outcome:
        """The outcome."""
        cause = outcome.cause(self.parts, self.within) if self.law else _cause(self.first, self.second, self.rows)
        return self.judge(self.rows, self.within, cause)

    @property
    def status(self) -> int:
        """The exit status: 0 if the second is equal or better, 1 if it is not, 3 if that is open."""
        return self.outcome.status

    def to_json(self) -> dict[str, object]:
        """Return the comparison as ``--out json=FILE`` has it."""
        runs = {
            name: {"experiment": each.experiment, "directory": str(each.directory)}
            for name, each in (("first", self.first), ("second", self.second))
        }
        found: dict[str, object] = finite(
            {**runs, "within": self.within, "rows": [row.to_json() for row in self.rows], "law": self.law, "notes": self.notes}
            | {"parts": [each.to_json() for each in self.parts]}
        )
        said = self.outcome
        equivalent = all(row.verdict == EQUIVALENT for row in self.rows)
        return found | {"equivalent": equivalent, "outcome": said.word, "because": said.text, "cause": said.cause}


def compare_runs(
    first: RunData, second: RunData, within: float, metrics: Sequence[str] = (), whole: bool = False
) -> Comparison:
    """Compare the cells that have the same conditions in both runs.

    By default, all metrics that both runs have and that have intervals are compared. ``whole``: a cell of the first that the
    second lacks, or a metric that would have been compared, leaves the outcome open, as those of a baseline do. Raises
    ExperimentError if the runs share no condition or no metric.
    """
    others = {_key(cell): cell for cell in second.cells}
    pairs = [(cell.title, cell, others[_key(cell)]) for cell in first.cells if _key(cell) in others]
    if not pairs:
        one, other = (f"{_titles(run.cells)} in {run.experiment}" for run in (first, second))
        what = f"no condition in common: {one}, {other}"
        raise ExperimentError(what, fix="compare runs of the same conditions, or a run with a law and a field.json")
    rows, notes = compare_cells(first, second, pairs, within, metrics)
    shared = {_key(cell) for _, cell, _ in pairs}
    if whole:
        rows += [missing(cell.title, "", NOT_AGAIN) for cell in first.cells if _key(cell) not in shared]
        rows += [] if metrics else _not_again(first, second)
    for run in (first, second):
        alone = [cell for cell in run.cells if _key(cell) not in shared]
        notes += [f"only in {run.directory}: {_titles(alone)}"] if alone else []
    notes += [] if metrics else [*_measured_alone(first, second), *_measured_alone(second, first)]
    if first.charging is Charging.FREE and second.charging is Charging.FREE:
        notes.insert(0, FREE_IN_BOTH)
    notes += [f"{run.directory}: {few}" for run in (first, second) if (few := few_boots(run))]
    notes += _instructions(first, second, pairs)
    charged = {run.charging for run in (first, second) if run.facts.get("clock")}
    notes += filter(None, [note(_as_measured(pairs, rows, within), within, charged)])
    return Comparison(first, second, within, with_holm(rows), None, (*_settings(first, second), *notes))


def _not_again(first: RunData, second: RunData) -> list[Row]:
    """Return a row for each metric of the first run that the second one lacks altogether, although its cells did not fail."""
    lost = [name for name in first.metrics if name not in second.metrics] if second.metrics else []
    return [missing("", name, NOT_AGAIN) for name in lost if any(known(cell, name) for cell in first.cells)]


def _measured_alone(run: RunData, other: RunData) -> list[str]:
    """Say which metrics one run has alone; of a run whose cells all failed that is known."""
    alone = [name for name in run.metrics if name not in other.metrics] if other.metrics else []
    return [f"measured only in {run.directory}: {', '.join(alone)}"] if alone else []


def compare_cells(
    first: RunData, second: RunData, pairs: Sequence[tuple[str, Cell, Cell]], within: float, metrics: Sequence[str] = ()
) -> tuple[list[Row], list[str]]:
    """Compare pairs of cells, given as (title, first, second); return the rows, and notes on them. Raises ExperimentError."""
    shared = [name for name in first.metrics if name in second.metrics]
    for name in metrics:
        if name not in shared:
            raise ExperimentError(f"no metric '{name}' in both", Option("metric"), nearest(name, shared))
    failed = any(cell.error for _, *both in pairs for cell in both)
    if not shared and not failed:
        one, other = (f"{', '.join(run.metrics) or 'nothing'} in {run.experiment}" for run in (first, second))
        what = f"no metric in common: {one}, {other}"
        raise ExperimentError(what, fix="compare runs of the same tool")
    chosen = list(metrics) or [
        name for name in shared if any(known(one, name) and known(other, name) for _, one, other in pairs)
    ] or shared  # fmt: skip
    rows = [row for title, one, other in pairs for row in _rows(title, one, other, chosen, within)]
    left_out = [] if metrics else [name for name in shared if name not in chosen]
    notes = [f"not compared, for lack of an interval ({METRIC} compares them): {', '.join(left_out)}"] if left_out else []
    return rows, notes


def known(cell: Cell, metric: str) -> bool:
    """Return whether a metric of a cell has an interval."""
    return metric in cell.metrics and sure(cell, metric).known


def sure(cell: Cell, metric: str) -> Summary:
    """Return a metric's summary for a comparison between runs.

    Its interval includes how much runs vary (`Cell.metrics`). A percentile or maximum that a tool printed once over many
    requests has no deviation of its own; it has no interval here if other metrics of the same sample vary, unless another
    repetition would give the same numbers. Kept values that are all equal do have one. Of programs that slownet does not know
    there is none before as many boots as a claim needs. The same conditions in two runs are two cells, measured in other boots.
    """
    summary = replace(cell.summary(metric), sources=frozenset(), boots={})
    if cell.terms.own_programs and cell.lacks_boots:
        return replace(summary, low=-math.inf, high=math.inf)
    kept = sample_values.records(cell.samples, metric)
    others = [record for name in cell.metrics for record in sample_values.records(cell.samples, name)]
    single = len({record["mean"] for record in kept}) == 1 and not any(each.get("sd") or each.get("values") for each in kept)
    if single and not cell.is_exact and any(record.get("sd") for record in others):
        return replace(summary, low=-math.inf, high=math.inf)
    return summary


def _rows(title: str, one: Cell, other: Cell, metrics: Collection[str], within: float) -> list[Row]:
    error = one.error or other.error
    if error:
        return [missing(title, "", f"failed: {error}")]
    found = []
    for name in metrics:
        if name in one.metrics and name in other.metrics:
            row = compared(title, name, *_both(one, other, name), within)
            found.append(as_equal(row) if _is_near(one, other, name) else row)
        elif name in one.metrics or name in other.metrics:
            found.append(missing(title, name, "measured in only one of the two"))
    return found


def _as_measured(pairs: Sequence[tuple[str, Cell, Cell]], rows: Sequence[Row], within: float) -> list[Row]:
    """Return the rows with their intervals, also of those that are the same to the digit: another program's are not."""
    cells = {title: (one, other) for title, one, other in pairs}
    found = ((row.condition, row.metric, cells[row.condition]) for row in rows if row.first and row.second)
    return [compared(at, name, sure(one, name), sure(other, name), within) for at, name, (one, other) in found]


def _both(one: Cell, other: Cell, metric: str) -> tuple[Summary, Summary]:
    """Return the summaries of a metric in two runs. Where numbers repeat, the same ones are the same, without an interval.

    On the exact clock both runs drew the same random numbers, so what chance makes of a time is the same unless the programs
    are not. With free CPU that holds for the numbers of links, and for those of programs if no metric of the cell differs.
    """
    first, second = sure(one, metric), sure(other, metric)
    if _is_the_same(one, other, metric):
        return replace(first, low=first.mean, high=first.mean), replace(second, low=second.mean, high=second.mean)
    return first, second


def _is_the_same(one: Cell, other: Cell, metric: str) -> bool:
    charging = one.terms.charging
    if charging is not other.terms.charging or charging not in (Charging.EXACT, Charging.FREE):
        return False
    names = [metric] if charging is Charging.EXACT else list(one.metrics)
    return all(_numbers(one, name) == _numbers(other, name) for name in names)


def _is_near(one: Cell, other: Cell, metric: str) -> bool:
    """Return whether two exact numbers with free CPU differ by no more than the kernel's timers make."""
    if not (one.is_exact and other.is_exact and one.terms.charging is other.terms.charging is Charging.FREE):
        return False
    return exactness.is_near(metric, one.metrics[metric].mean, other.metrics[metric].mean)


def _numbers(cell: Cell, metric: str) -> list[Any]:
    return [each["metrics"][metric] for each in sample_values.good(cell.samples, metric)]


def _instructions(first: RunData, second: RunData, pairs: Sequence[tuple[str, Cell, Cell]]) -> list[str]:
    """Say by how many instructions an operation differs, where the exact clock counted them in both runs."""
    counted = [(title, first.instructions(one), second.instructions(other)) for title, one, other in pairs]
    return [
        f"instructions at {title}: {instructions_compared(one, other)}"
        for title, one, other in counted
        if one is not None and other is not None
    ]


def _cause(first: RunData, second: RunData, rows: Sequence[Row]) -> str:
    """Return what changed in the law of the first compared time, if both runs have one."""
    for metric in dict.fromkeys(row.metric for row in rows if row.metric.endswith("_ms")):
        try:
            return outcome.in_the_law(_law(first, metric), _law(second, metric))
        except SlownetError:
            continue
    return ""


def _law(run: RunData, metric: str) -> Law:
    """Fit the law, with intervals wide enough to compare two runs. Raises SlownetError."""
    return fit(((delay, sure(cell, metric).at_confidence(DECIDING)) for delay, cell in run.along("rtt_ms")), run.lasting)


def _key(cell: Cell) -> str:
    return cell_key(cell.condition or cell.label)


def _titles(cells: Sequence[Cell]) -> str:
    return "; ".join(cell.title for cell in cells) or "no cell"


def _settings(first: RunData, second: RunData) -> list[str]:
    pairs = ((name, first.facts.get(name), second.facts.get(name)) for name in SETTINGS)
    found = [f"{name} {one} against {other}" for name, one, other in pairs if one != other]
    machines = [" ".join(map(str, (run.facts.get("machine") or {}).values())) for run in (first, second)]
    return [*found, *([f"machine {machines[0]} against {machines[1]}"] if all(machines) and len(set(machines)) > 1 else [])]
