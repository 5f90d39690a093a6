"""A check, before anything is measured, that the planned cells are those that claims can be judged on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from slownet.judge.claim.family import absent
from slownet.judge.claim.laws import law, more_round_trips, published_times
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ExperimentError
from slownet.model.sample import Label

LABELS = ("at", "of")
"""The fields of claims that hold conditions."""


def check(experiment: str, claims: Iterable[Any], cells: Sequence[tuple[Label, Mapping[str, float | str]]]) -> None:
    """Look up the conditions that claims name among the planned cells, each ``(label, condition in numbers)``.

    Raises ExperimentError with the nearest name or the existing ones. A custom kind is checked as far as its fields have the
    same names; other mistakes appear when it judges, and so do those of a function that a claim calls.
    """
    planned = RunData(Path(), experiment, {}, tuple(Cell(label, condition, (), {}) for label, condition in cells))
    for claim in _flat(claims):
        named = {name: label for name in LABELS if isinstance(label := getattr(claim, name, None), Mapping)}
        for label in named.values():
            planned.where(label)
        if isinstance(along := getattr(claim, "along", None), str):
            delays = {delay for delay, _ in planned.where(named.get("at")).along(along)}
            if isinstance(claim, law | more_round_trips | published_times) and len(delays) < 2:
                raise ExperimentError("a law takes two different delays", f"along {along}", "vary it, or leave the claim out")
        if all(map(_is_plain, _flat([claim]))):
            # What cannot be judged on any numbers is an error on none: two cells where the claim needs one.
            claim.judge(replace(planned, cells=tuple(absent(label) for label, _ in cells)))


def _is_plain(claim: Any) -> bool:
    """Return whether judging a claim calls nothing of its author's."""
    is_own = type(claim).__module__.startswith(__package__)
    return is_own and not any(callable(getattr(claim, each.name)) for each in fields(claim))


def _flat(claims: Iterable[Any]) -> Iterable[Any]:
    """Yield the claims and, recursively, the claims that they are composed of."""
    for claim in claims:
        yield claim
        parts = getattr(claim, "claims", None) or (getattr(claim, "claim", None),)
        if isinstance(parts, tuple):
            yield from _flat(part for part in parts if part is not None)
