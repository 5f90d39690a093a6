"""A sample as a sweep keeps it, without the modules that read Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Required

from slownet.model.sample import Sample


class SweepSample(Sample, total=False):
    """A sample as a sweep keeps it."""

    unit: Required[str]
    """The key of all that determines it: see `slownet.runner.boot_store.identity`."""
    output: Mapping[str, bytes]
    """The tools' output by file name, which a run has as files; only where it is asked for."""
