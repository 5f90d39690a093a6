"""Needs of a run's claims, for its plan: others' runs, free CPU, and the cells that they are judged on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from slownet.judge.claim.base import Claim
from slownet.judge.claim.combinators import parts_of
from slownet.judge.claim.family import absent
from slownet.judge.claim.laws import constant_round_trips, law, more_round_trips, published_times
from slownet.judge.claim.predicted_claims import round_trips_between
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
    return _is_own(claim) and not any(callable(getattr(claim, each.name)) for each in fields(claim))


def _is_own(claim: Any) -> bool:
    """Return whether a claim is of one of slownet's own kinds."""
    return type(claim).__module__.startswith(f"{__package__}.")


def _flat(claims: Iterable[Any]) -> Iterable[Any]:
    """Yield the claims and, recursively, the claims that they are composed of."""
    for claim in claims:
        yield claim
        parts = getattr(claim, "claims", None) or (getattr(claim, "claim", None),)
        if isinstance(parts, tuple):
            yield from _flat(part for part in parts if part is not None)


ROUND_TRIPS = (law, constant_round_trips, more_round_trips, published_times, round_trips_between)
"""Claims about how a time grows with the network's delay. What the CPU takes is the same near and far, and drops out."""
OF_LINKS = ("loss",)
"""Metrics that links alone make."""


def depends_on_cpu(claim: Any) -> bool:
    """Return whether a claim's verdict may depend on what the CPU costs.

    claim: any claim, also one of a user's own class.
    returns: false for claims about round trips and about what links alone make, such as a loss. True for all others: how long
        something takes, a rate, ratios of these, and claims of kinds that are not known.
    """
    if parts := parts_of(claim):
        return any(map(depends_on_cpu, parts))
    if isinstance(claim, ROUND_TRIPS):
        return False
    return getattr(claim, "metric", None) not in OF_LINKS


def any_depends_on_cpu(claims: Iterable[Any]) -> bool:
    """Return whether one of several claims does; True without any: what is asked for is a number then."""
    listed = list(claims)
    return not listed or any(map(depends_on_cpu, listed))


def related(claims_of: Mapping[str, Sequence[Claim]]) -> list[list[str]]:
    """Divide experiments into groups whose claims need no run of another group.

    claims_of: the claims of each experiment.
    returns: the groups, and in each the experiments, in the given order.
    """
    groups = [{name} for name in claims_of]
    for name, claims in claims_of.items():
        needed = _needed(claims)
        together = set(claims_of) if needed is None else (needed & set(claims_of)) | {name}
        joined = set().union(*(group for group in groups if group & together))
        groups = [*(group for group in groups if not group & joined), joined]
    found = [[name for name in claims_of if name in group] for group in groups]
    order = list(claims_of)
    return sorted(found, key=lambda group: order.index(group[0]))


def _needed(claims: Iterable[Claim]) -> set[str] | None:
    """Return the experiments whose runs these claims ask for; None if they may ask for any: only slownet's own are known."""
    found = set[str]()
    for each in claims:
        inner = _needed(parts_of(each))
        if inner is None or not _is_own(each):
            return None
        found |= inner | ({each.of} if isinstance(each, more_round_trips) else set())
    return found
