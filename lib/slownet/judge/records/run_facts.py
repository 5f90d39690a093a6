"""Reads run.json, and checks that what is used of it has the types that slownet writes."""

from __future__ import annotations

from pathlib import Path

from slownet.judge.records.samples import RUN
from slownet.model import userfile
from slownet.model.facts import SHAPE, Facts


def read(directory: Path | str) -> Facts:
    """Return the content of a run's run.json. Raises OSError and ValueError."""
    facts: Facts = userfile.json(userfile.read_record(Path(directory) / RUN))
    SHAPE(facts, RUN)
    return facts
