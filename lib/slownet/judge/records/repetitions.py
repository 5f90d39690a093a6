"""The repetitions of a run as separate runs, for numbers that are correlated within each."""

from __future__ import annotations

from collections.abc import Iterable

from slownet.judge.records.result import RunData, gather
from slownet.model.sample import Sample


def apart(run: RunData) -> tuple[RunData, ...]:
    """Divide a run into its repetitions, without those in which a cell failed or was not measured.

    A repetition is a boot, as recorded in the samples. In older records without boots, the first sample of each cell belongs
    to the first repetition, and so on.
    """
    parts = [_by_boot(cell.samples) for cell in run.cells]
    boots = sorted(set.intersection(*(set(part) for part in parts))) if parts else []
    whole = [[sample for part in parts for sample in part[boot]] for boot in boots]
    return tuple(
        gather(samples, {**run.facts, "claims": []}, run.directory)
        for samples in whole
        if all(sample.get("status") == "ok" for sample in samples)
    )


def _by_boot(samples: Iterable[Sample]) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = {}
    for count, sample in enumerate(samples, 1):
        found.setdefault(int(sample.get("boot") or count), []).append(sample)
    return found
