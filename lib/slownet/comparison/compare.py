"""Reads and compares two runs, or a run and a field measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from slownet.comparison import baseline, outcome, record
from slownet.comparison.extrapolation import compare_field
from slownet.comparison.record import Field
from slownet.comparison.runs import Comparison, compare_runs
from slownet.judge.records import measured_folder
from slownet.judge.records.charging import COUNTED_MARGIN, USUAL_MARGIN, Charging
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.model.options import Option

USUAL, COUNTED = USUAL_MARGIN, COUNTED_MARGIN
"""The margin of a comparison, and that of two runs whose numbers repeat: there 1 % more is found."""


def compare(
    first: Path | RunData,
    second: Path | RunData,
    within: float | None,
    metrics: Sequence[str] = (),
    at: Mapping[str, str] | None = None,
    t0: str | None = None,
    one_sided: bool = False,
    whole: bool = False,
) -> Comparison:
    """Compare two runs, or those, baselines or field measurements at paths; ``at`` selects cells.

    whole: of two runs, whether the second has to have measured all cells of the first, as it always has to if one_sided: a
    condition that was not measured again may be the one that is slower.
    within: the margin, by default `usual_margin`. Raises SlownetError.
    """
    one, other = (_read(path, at) for path in (first, second))
    if isinstance(one, Field) and isinstance(other, RunData):
        raise SlownetError(f"{first} is a field measurement", "as the first argument", "name the run first")
    if one_sided and (isinstance(one, Field) or isinstance(other, Field)):
        raise SlownetError("this is a field measurement", Option("fail_if_slower"), "compare two runs")
    if isinstance(one, RunData) and isinstance(other, Field):
        if metrics:
            raise SlownetError("a field measurement is compared by its page time only", Option("metric"), "leave it out")
        return compare_field(one, other, USUAL if within is None else within, t0)
    if t0:
        raise SlownetError("T0 is the field site's", Option("t0"), "give it with a run and a field.json")
    runs = [each.run() if isinstance(each, Field) else each for each in (one, other)]
    found = compare_runs(runs[0], runs[1], usual_margin(*runs) if within is None else within, metrics, whole or one_sided)
    return replace(found, judge=outcome.gate) if one_sided else found


def usual_margin(first: RunData, second: RunData) -> float:
    """Return the margin of a comparison for which none is stated, which is known before it: what both runs are good for.

    A run that was repeated until a difference would be found is good for half of it (`slownet.runner.finding`). Of others the
    clock says it: `COUNTED` where instructions are counted, and where the CPU is free and no number differs between boots.
    """
    if first.charging is not second.charging:
        return USUAL
    return max(_good_for(first), _good_for(second))


def _good_for(run: RunData) -> float:
    finds = (run.facts.get("sampling") or {}).get("finds")
    if finds:
        return min(USUAL, finds / 2)
    if run.charging is Charging.EXACT:
        return COUNTED
    repeats = run.charging is Charging.FREE and all(cell.is_exact for cell in run.cells)
    return COUNTED if repeats else USUAL


def _read(path: Path | RunData, at: Mapping[str, object] | None) -> RunData | Field:
    if isinstance(path, RunData):
        return path.where(at)
    path = measured_folder.of(path)
    if baseline.is_one(path):
        return baseline.read(path).where(at)
    file = record.find(path)
    return record.read(file) if file else measured_folder.load(path).where(at)
