"""The measurements in the folder of a run, a sweep or a hunt."""

from __future__ import annotations

from pathlib import Path

from slownet.judge.records import result
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RUN, SWEEP


def of(path: Path) -> Path:
    """Return the folder that a path names: itself, or that of its run.json or sweep.json."""
    return path.parent if path.name in (RUN, SWEEP) else path


def is_of_a_sweep(directory: Path) -> bool:
    """Return whether a folder holds what a sweep or a hunt measured."""
    return (directory / SWEEP).is_file() and not (directory / RUN).exists()


def load(directory: Path) -> RunData:
    """Return the measurements of a folder; a sweep is a run with more cells. Raises SlownetError as `result.load` does."""
    if is_of_a_sweep(directory):
        from slownet.judge.records import sweep_samples  # reads Parquet, which takes a quarter of a second to import

        return sweep_samples.load(directory)
    return result.load(directory)
