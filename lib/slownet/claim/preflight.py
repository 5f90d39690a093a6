"""Mistakes in claims that show before anything is measured: conditions that the planned cells do not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.records.cell import Cell
from slownet.records.result import RunData

LABELS = ("at", "of")
"""What the kinds of claims call the conditions that they speak of."""


def check(experiment: str, claims: Iterable[Any], cells: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
    """Looks up the conditions that claims name among the planned cells, each ``(label, condition in numbers)``.

    Raises ExperimentError with the nearest name or what there is. A kind of one's own is checked as far as it calls them
    the same; what it names otherwise shows when it judges.
    """
    planned = RunData(Path(), experiment, {}, tuple(Cell(label, condition, (), {}) for label, condition in cells))
    for claim in _flat(claims):
        named = {name: label for name in LABELS if isinstance(label := getattr(claim, name, None), Mapping)}
        for label in named.values():
            planned.where(label)
        if isinstance(along := getattr(claim, "along", None), str):
            planned.where(named.get("at")).along(along)


def _flat(claims: Iterable[Any]) -> Iterable[Any]:
    """The claims that others are composed of, as well."""
    for claim in claims:
        yield claim
        parts = getattr(claim, "claims", None) or (getattr(claim, "claim", None),)
        if isinstance(parts, tuple):
            yield from _flat(part for part in parts if part is not None)
