"""Experiments that a command line describes. Each is written into its run directory, where the lab and --resume read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slownet.hypotheses.experiment import Experiment
from slownet.judge.records.run_json import MALFORMED
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError
from slownet.model.shapes import Json

FILE = "experiment.json"


@dataclass
class Recorded(Experiment):
    """An experiment that is written as a record of plain values.

    record: all that makes it.
    around: a file of the caller's that it is made of. Its boots have what is around that file, as those of an experiment in it.
    """

    record: Mapping[str, Json] = field(default_factory=dict)
    around: Path | None = None

    def write(self, directory: Path) -> Path:
        """Write it into a run directory and return the file."""
        file = directory / FILE
        whole_file.place(file, (json.dumps(self.record, indent=1) + "\n").encode(), durable=True)
        return file


def read(path: Path) -> Mapping[str, Json]:
    """Return the record in a file. Raises ExperimentError."""
    try:
        record: Mapping[str, Json] = userfile.json(userfile.read_text(path))
        _ = record.keys()
    except (OSError, AttributeError, *MALFORMED) as error:
        raise unreadable(path, error) from error
    return record


def unreadable(path: Path, error: Exception) -> ExperimentError:
    """Return the error for a record that is not one."""
    fix = "name one that slownet run compose.yaml, or slownet why, wrote"
    return ExperimentError(f"{path} is not an experiment: {error}", fix=fix)
