"""Reads and compares two runs, or a run and a field measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from slownet.judge.records import measured_folder
from slownet.judge.records.charging import Charging
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.trials.field import baseline, outcome, record
from slownet.trials.field.extrapolation import compare_field
from slownet.trials.field.record import Field
from slownet.trials.field.runs import Comparison, compare_runs

USUAL = 0.05
"""The margin of a comparison."""
COUNTED = 0.005
"""That of two runs in which instructions were counted: 1 % more of them is found, and what chance makes of them is not."""


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

    whole: of two runs, whether the second has to have measured all cells of the first.
    within: the margin, by default `USUAL`, and `COUNTED` of two runs on the exact clock. Raises SlownetError.
    """
    one, other = (_read(path, at) for path in (first, second))
    if isinstance(one, Field) and isinstance(other, RunData):
        raise SlownetError(f"{first} is a field measurement", "as the first argument", "name the run first")
    if one_sided and (isinstance(one, Field) or isinstance(other, Field)):
        raise SlownetError("a field measurement has no earlier version", "--fail-if-slower", "compare two runs")
    if isinstance(one, RunData) and isinstance(other, Field):
        if metrics:
            raise SlownetError("a field measurement is compared by its page time only", "--metric", "leave it out")
        return compare_field(one, other, USUAL if within is None else within, t0)
    if t0:
        raise SlownetError("T0 is the field site's", "--t0", "give it with a run and a field.json")
    runs = [each.run() if isinstance(each, Field) else each for each in (one, other)]
    counted = all(each.terms.charging is Charging.EXACT for each in runs)
    found = compare_runs(runs[0], runs[1], (COUNTED if counted else USUAL) if within is None else within, metrics, whole)
    return replace(found, judge=outcome.gate) if one_sided else found


def _read(path: Path | RunData, at: Mapping[str, object] | None) -> RunData | Field:
    if isinstance(path, RunData):
        return path.where(at)
    path = measured_folder.of(path)
    if baseline.is_one(path):
        return baseline.read(path).where(at)
    file = record.find(path)
    return record.read(file) if file else measured_folder.load(path).where(at)
