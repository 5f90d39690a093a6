"""The factors of a sweep and their values: ``rtt=0:200:10ms``, ``loss=0,0.1,1%``, ``condition=LTE,GEO``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.hypotheses import ranges
from slownet.hypotheses.experiment import VARY
from slownet.model.errors import SweepError

Factors = dict[str, tuple[str, ...]]


def parse(texts: Sequence[str]) -> Factors:
    """Return the values of each factor of ``--vary NAME=VALUES``. Raises SlownetError."""
    found: Factors = {}
    for text in texts:
        name, equals, values = (each.strip() for each in text.partition("="))
        if not equals or not name or not values:
            raise SweepError(f"invalid factor '{text}'", VARY, "write NAME=VALUES such as rtt=0:200:10ms")
        if name in found:
            raise SweepError(f"the factor '{name}' is given twice", VARY, "give all its values at once")
        found[name] = ranges.values_of(name, values, f"{VARY} {name}")
    return found


def of_mapping(vary: Mapping[str, str | Sequence[str]]) -> Factors:
    """Return the values of factors that are given as texts like on the command line, or as lists of values.

    Raises ExperimentError.
    """
    return {
        name: ranges.once(
            ranges.values_of(name, each, f"{VARY} {name}") for each in ([values] if isinstance(values, str) else values)
        )
        for name, values in vary.items()
    }
