"""Main effects and interactions of factors on a number: shares of its variance over a complete grid. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

Levels = tuple[str, ...]


def marginal(values: Mapping[Levels, float], at: int) -> dict[str, float]:
    """Return the mean at each level of one factor, over all levels of the others.

    values: the number of each cell by its levels, one per factor.
    at: the factor's position.
    """
    found: dict[str, list[float]] = {}
    for levels, value in values.items():
        found.setdefault(levels[at], []).append(value)
    return {level: math.fsum(each) / len(each) for level, each in found.items()}


def is_complete(values: Mapping[Levels, float]) -> bool:
    """Return whether every combination of levels has a number.

    values: as for `marginal`.
    """
    sides = [set(each) for each in zip(*values, strict=True)]
    return len(values) == math.prod(map(len, sides))


def shares(values: Mapping[Levels, float], names: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Return the shares of the variance that factors, pairs of factors, and all more than that explain.

    An analysis of variance of the cells' numbers (sums of squares of a balanced design; Montgomery, "Design and analysis of
    experiments", chapter 5). Noise within cells is not part of it.

    values: as for `marginal`, of a complete grid.
    names: the factors, in the order of the levels.
    returns: ``{("rtt",): 0.9, ("loss",): 0.06, ("rtt", "loss"): 0.04}``; empty if the numbers are all the same. With three
        factors or more, ``()`` is the rest.
    """
    mean = math.fsum(values.values()) / len(values)
    total = math.fsum((value - mean) ** 2 for value in values.values())
    if total <= 1e-12 * mean * mean * len(values):
        return {}
    means = [marginal(values, at) for at in range(len(names))]
    found: dict[tuple[str, ...], float] = {}
    for at, name in enumerate(names):
        found[name,] = math.fsum((means[at][levels[at]] - mean) ** 2 for levels in values) / total
    for first, second in itertools.combinations(range(len(names)), 2):
        both = _by_two(values, first, second)
        squares = math.fsum(
            (both[levels[first], levels[second]] - means[first][levels[first]] - means[second][levels[second]] + mean) ** 2
            for levels in values
        )
        found[names[first], names[second]] = squares / total
    if len(names) > 2:
        found[()] = max(0.0, 1 - math.fsum(found.values()))
    return found


def _by_two(values: Mapping[Levels, float], first: int, second: int) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], list[float]] = {}
    for levels, value in values.items():
        found.setdefault((levels[first], levels[second]), []).append(value)
    return {pair: math.fsum(each) / len(each) for pair, each in found.items()}
