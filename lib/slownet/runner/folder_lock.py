"""A run's folder belongs to one process while that measures in it: two would write over each other's samples."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slownet.model.errors import ExperimentError


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Keep other processes from measuring in a run's folder for a ``with`` block. Raises ExperimentError if one does."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = f"another process is measuring in {directory}"
            raise ExperimentError(what, fix="wait until it has ended, or end it") from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(folder)
