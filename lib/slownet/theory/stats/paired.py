"""Computes numbers within boots, so that what all cells of a boot share is not an error of a comparison. Pure.

Where the CPU is charged, or time is real, the cells of one boot share its speed: a boot that is 20 % slower is so in all of
them. The mean of a cell then has a wide interval, rightly, and a difference or quotient of two cells does not: in it the speed
cancels. So the number in question (a difference, a quotient, the slope of a line through all cells) is computed in each boot,
from the means of that boot's cells, and its interval is Student's over the boots' values.

Why that has its coverage: boots are made anew, each with its own speed and seeds, so whatever a boot does to its cells, the
values of different boots are independent and have one distribution. Nothing is assumed about how cells of one boot depend on
each other: their covariance is in the spread of the values. What remains is that of every t interval: the mean of the values is
about normal, which the means of many operations are, and which a factor such as a speed is on a logarithmic scale, where
quotients are averaged. It costs degrees of freedom: n boots give n - 1, whatever the number of cells. With three boots, and at
the confidence of a first look, the factor of Student's t is large; pairing pays where what is shared is more than that, as the
speed of the CPU is by far.

Where no time is shared, as with free CPU, this is not used: there the single operations are the units, which are more.

References: Student, "The probable error of a mean", 1908, on paired differences; Matthews, Altman, Campbell and Royston,
"Analysis of serial measurements in medical research", 1990, on one number a subject, such as a slope, in place of repeated
measures; Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013, on the highest level of repetition as the unit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean, stdev

from slownet.theory.stats.student import t_quantile

Boots = Mapping[Hashable, float]
"""A number by boot."""
LEAST = 3
"""Boots in common that give an interval: with two, Student's t would have one degree of freedom."""


def of_common_boots(*found: Boots) -> dict[Hashable, tuple[float, ...]]:
    """Return the values that all numbers have in the same boots; empty if these are fewer than `LEAST`."""
    common = [boot for boot in found[0] if all(boot in each for each in found[1:])]
    return {boot: tuple(each[boot] for each in found) for boot in common} if len(common) >= LEAST else {}


def of_values(boots: Boots, mean: float | None, confidence: float) -> tuple[float, float]:
    """Return the mean of the boots' values, unless it is given, and half of its interval's width."""
    values = list(boots.values())
    return fmean(values) if mean is None else mean, _half(stdev(values), len(boots), confidence)


def of_factors(boots: Boots, mean: float | None, confidence: float) -> tuple[float, float]:
    """Return the geometric mean of positive values, unless a mean is given, and half of its interval's width in logarithms."""
    logarithms = [math.log(value) for value in boots.values()]
    return math.exp(fmean(logarithms)) if mean is None else mean, _half(stdev(logarithms), len(boots), confidence)


def error_of_sum(boots: Mapping[Hashable, Sequence[float]], factors: Sequence[float]) -> tuple[float, float]:
    """Return the standard error of a weighted sum of numbers, from its values in the boots, and its degrees of freedom."""
    sums = [math.fsum(factor * value for factor, value in zip(factors, values, strict=True)) for values in boots.values()]
    return stdev(sums) / math.sqrt(len(sums)), len(sums) - 1.0


def error_of_residuals(
    boots: Mapping[Hashable, Sequence[float]], weights: Sequence[float], lines: Sequence[Sequence[float]]
) -> tuple[float, float]:
    """Return the root of the weighted squares that errors make of the distances to a fitted line, and its degrees of freedom.

    lines: for each point, by which weighted sum of all numbers the line passes it. What moves all points alike, or turns the
    line, makes no distance. The degrees are those of one of these distances: the errors of the longest times dominate.
    """
    squares = 0.0
    for point, (weight, line) in enumerate(zip(weights, lines, strict=True)):
        error, _ = error_of_sum(boots, [(point == other) - each for other, each in enumerate(line)])
        squares += weight * error * error
    return math.sqrt(squares), len(boots) - 1.0


def _half(spread: float, boots: int, confidence: float) -> float:
    return t_quantile(boots - 1, confidence) * spread / math.sqrt(boots) if spread > 0 else 0.0
