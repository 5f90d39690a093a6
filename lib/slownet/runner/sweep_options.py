"""The options of a sweep, which `slownet sweep` and a TOML file's table ``[sweep]`` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.model.options import stated


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """The options as they are typed; None or empty for those that are not given."""

    vary: Sequence[str] = field(
        default=(), metadata=stated("NAME=VALUES", "rtt=0:200:10ms, rate=1:64:x2Mbit, loss=0,1%. Repeatable.")
    )
    sample: str | None = field(default=None, metadata=stated("KIND:N", "Part of the grid: random:100, lhs:100 or sobol:128."))
    seed: int | None = field(default=None, metadata=stated("N", "Of the sample. Default: 1."))
    repeat: int | None = field(
        default=None,
        metadata=stated("N", "Of each cell, with other seeds. Default: 1; with a criterion up to 4."),
    )
    criterion: str | None = field(default=None, metadata=stated("LIMIT", "Each cell has to meet it, such as 'p99 rtt_ms<9ms'."))
    refine: str | None = field(
        default=None,
        metadata=stated("NAME:STEP", "More values where that flips, or a metric bends: rtt:1ms."),
    )
    out: Path | None = field(default=None, metadata=stated("FOLDER", "The folder for samples and the report."))
    resume: bool = field(
        default=False,
        metadata=stated("", "Go on with the sweep in its folder, or measure more in it."),
    )
    merge: Sequence[Path] = field(default=(), metadata=stated("FOLDER", "Take over the samples of another sweep. Repeatable."))
    fresh: bool = field(default=False, metadata=stated("", "Give each cell a lab of its own."))
    cold: bool = field(default=False, metadata=stated("", "Prepare services anew in each lab, not once."))
    labs: str = field(default="auto", metadata=stated("N|auto", "Labs in parallel. auto: one per processor."))
    cluster: str | None = field(
        default=None, metadata=stated("ADDRESS|local", "Measure by this Dask cluster: tcp://host:8786.")
    )
    scheduler_file: Path | None = field(default=None, metadata=stated("FILE", "Measure by the Dask cluster of this file."))
    lab: str | None = field(
        default=None,
        metadata=stated("FILE|URL", "A lab for its workers: http://HOST/lab.tar#sha256=..."),
    )
    yes: bool = field(default=False, metadata=stated("", "Measure even more than 100,000 samples."))


OF_CELLS = ("sample", "seed", "repeat", "fresh", "cold", "criterion", "refine")
"""The options that determine which cells are measured, and how often."""
