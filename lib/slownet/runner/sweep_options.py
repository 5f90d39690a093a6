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
        default=(), metadata=stated("NAME=VALUES", "rtt=0:200:10ms, rate=1:64:x2Mbit or loss=0,0.1,1%. Repeatable.")
    )
    sample: str | None = field(
        default=None, metadata=stated("KIND:N", "Part of the grid: random:100, lhs:100 or sobol:128. Default: grid.")
    )
    seed: int | None = field(default=None, metadata=stated("N", "Of the sample. Default: 1."))
    repeat: int | None = field(
        default=None,
        metadata=stated(
            "N", "Repetitions of each cell, with other seeds. Default: 1; with a criterion and programs of your own, up to 4."
        ),
    )
    criterion: str | None = field(
        default=None, metadata=stated("LIMIT", "Each cell has to meet it: 'time_per_request_ms<300', 'p99 rtt_ms<9ms'.")
    )
    refine: str | None = field(
        default=None,
        metadata=stated("NAME:STEP", "More values where the criterion flips, or else a metric bends: rtt:1ms."),
    )
    out: Path | None = field(default=None, metadata=stated("FOLDER", "The folder for samples and the report."))
    resume: bool = field(
        default=False,
        metadata=stated("", "Go on with the sweep in its folder, or measure more in it; only what failed is repeated."),
    )
    merge: Sequence[Path] = field(default=(), metadata=stated("FOLDER", "Take over the samples of another sweep. Repeatable."))
    fresh: bool = field(default=False, metadata=stated("", "Give each cell a lab of its own."))
    cold: bool = field(
        default=False, metadata=stated("", "Prepare services anew in each lab, not once (@experiment's prepare).")
    )
    labs: str = field(default="auto", metadata=stated("N|auto", "Labs at the same time. auto: one per processor, if they fit."))
    cluster: str | None = field(
        default=None, metadata=stated("ADDRESS|local", "Measure by the workers of this Dask cluster: tcp://host:8786.")
    )
    scheduler_file: Path | None = field(default=None, metadata=stated("FILE", "Measure by the Dask cluster of this file."))
    lab: str | None = field(
        default=None,
        metadata=stated("FILE|URL", "The source of the cluster's workers for a lab: http://HOST/lab.tar#sha256=..."),
    )
    yes: bool = field(default=False, metadata=stated("", "Measure even more than 100,000 samples."))


OF_CELLS = ("sample", "seed", "repeat", "fresh", "cold", "criterion", "refine")
"""The options that determine which cells are measured, and how often."""
