"""Reads run.json, merges the facts of several labs or repetitions, and explains a run directory that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from slownet.judge.records.samples import RUN
from slownet.model import userfile
from slownet.model.errors import SlownetError
from slownet.model.facts import SHAPE, Facts
from slownet.model.shapes import ShapeError
from slownet.model.version import __version__

CONTRADICTED = "contradicted"


def merge_facts(known: Facts, reported: Mapping[str, object]) -> Facts:
    """Merge newly reported facts into the known ones; the first value of a fact stays.

    If values differ, ``contradicted`` lists all of them by the fact's dotted name: ``{"service.page_length": [51686, 51690]}``.
    """
    merged, differing = _merged(known, reported, "")
    if not differing:
        return cast(Facts, merged)
    contradicted = dict(cast("Mapping[str, list[object]]", known.get(CONTRADICTED) or {}))
    for name, (first, second) in differing.items():
        values = contradicted.get(name, [first])
        contradicted[name] = values if second in values else [*values, second]
    return cast(Facts, {**merged, CONTRADICTED: contradicted})


def _merged(
    known: Mapping[str, object], reported: Mapping[str, object], above: str
) -> tuple[dict[str, object], dict[str, tuple[object, object]]]:
    merged = dict(known)
    differing: dict[str, tuple[object, object]] = {}
    for name, value in reported.items():
        first = merged.setdefault(name, value)
        if isinstance(first, Mapping) and isinstance(value, Mapping):
            merged[name], inner = _merged(first, value, f"{above}{name}.")
            differing |= inner
        elif first != value:
            differing[above + name] = (first, value)
    return merged, differing


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
