"""The facts of several labs or repetitions of one run, merged, with their contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from slownet.model.facts import Facts

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
