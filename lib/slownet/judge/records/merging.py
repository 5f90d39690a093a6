"""The facts of several labs or repetitions of one run, merged, with their contradictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTRADICTED = "contradicted"


def merge_facts(known: Mapping[str, Any], reported: Mapping[str, Any]) -> dict[str, Any]:
    """Merge newly reported facts into the known ones; the first value of a fact stays.

    If values differ, ``contradicted`` lists all of them by the fact's dotted name: ``{"service.page_length": [51686, 51690]}``.
    """
    merged, differing = _merged(known, reported, "")
    if not differing:
        return merged
    before: Mapping[str, list[Any]] = known.get(CONTRADICTED) or {}
    contradicted = dict(before)
    for name, (first, second) in differing.items():
        values = contradicted.get(name, [first])
        contradicted[name] = values if second in values else [*values, second]
    return {**merged, CONTRADICTED: contradicted}


def _merged(
    known: Mapping[str, Any], reported: Mapping[str, Any], above: str
) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    merged = dict(known)
    differing: dict[str, tuple[Any, Any]] = {}
    for name, value in reported.items():
        first = merged.setdefault(name, value)
        if isinstance(first, Mapping) and isinstance(value, Mapping):
            merged[name], inner = _merged(first, value, f"{above}{name}.")
            differing |= inner
        elif first != value:
            differing[above + name] = (first, value)
    return merged, differing
