"""The directories of runs, as a user names them: by path, by name below `--runs`, or not at all for the last one."""

from __future__ import annotations

from pathlib import Path

from slownet.judge.records.samples import RUN
from slownet.model.errors import SlownetError


def named(name: str | Path, below: Path) -> Path:
    """Return the directory of a run: the path, or what is called so below the folder of runs, as reports name it."""
    path = Path(name)
    return path if path.exists() or not (below / path).is_dir() else below / path


def last(below: Path) -> Path:
    """Return the directory of the newest run, whose name begins with the time. Raises SlownetError if none exists."""
    try:
        found = max((each.parent for each in below.glob(f"*/{RUN}")), key=lambda each: each.name, default=None)
    except OSError:
        found = None
    if found is None:
        raise SlownetError("nothing was run here", f"in {below}", "slownet run EXPERIMENT makes one; or name a run's directory")
    return found
