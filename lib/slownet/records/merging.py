"""What several labs, or several repetitions, say of the same run: put together, and where they contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTRADICTED = "contradicted"


def merge_facts(known: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """The facts known with those told since. What was told first stays.

    Where the two differ, ``contradicted`` holds all that was told, by the fact's dotted name:
    ``{"service.page_length": [51686, 51690]}``.
    """
    merged, differing = _merged(known, told, "")
    if not differing:
        return merged
    before: Mapping[str, list[Any]] = known.get(CONTRADICTED) or {}
    contradicted = dict(before)
    for name, (first, second) in differing.items():
        values = contradicted.get(name, [first])
        contradicted[name] = values if second in values else [*values, second]
    return {**merged, CONTRADICTED: contradicted}


def _merged(known: Mapping[str, Any], told: Mapping[str, Any], above: str) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:
    merged = dict(known)
    differing: dict[str, tuple[Any, Any]] = {}
    for name, value in told.items():
        first = merged.setdefault(name, value)
        if isinstance(first, Mapping) and isinstance(value, Mapping):
            merged[name], inner = _merged(first, value, f"{above}{name}.")
            differing |= inner
        elif first != value:
            differing[above + name] = (first, value)
    return merged, differing
