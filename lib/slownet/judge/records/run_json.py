"""Reads run.json, checks the types of what is used of it, and explains a run directory that cannot be read."""

from __future__ import annotations

import re
from pathlib import Path

from slownet.judge.records.samples import RUN
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.facts import SHAPE, Facts
from slownet.model.shapes import ShapeError
from slownet.model.version import __version__


def read(directory: Path | str) -> Facts:
    """Return the content of a run's run.json. Raises OSError and ValueError."""
    facts: Facts = userfile.json(userfile.read_record(Path(directory) / RUN))
    SHAPE(facts, RUN)
    return facts


MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""The exceptions of reading records in another format than this version's."""


def unreadable(directory: Path | str, error: Exception) -> SlownetError:
    """Return an error of one line."""
    why = str(error) if isinstance(error, ShapeError) else f"{type(error).__name__}: {error}"
    what = f"the records cannot be read ({why})"
    version = _version(Path(directory))
    if _numbers(version) > _numbers(__version__):
        return SlownetError(what, f"in {directory}", f"slownet {version} wrote them: upgrade, this is {__version__}")
    damaged = "they are damaged" if version else "they are damaged, or of a newer slownet"
    return SlownetError(what, f"in {directory}", f"{damaged}: measure again, or restore them from a copy")


def _version(directory: Path) -> str:
    try:
        return str(userfile.json(userfile.read_record(directory / RUN))["slownet"])
    except (OSError, *MALFORMED):
        return ""


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d{1,9}", version)]
