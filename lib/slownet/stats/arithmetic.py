"""Sums, products and quotients of measured means, each with its interval: what the operators of a `Summary` do.

>>> from slownet.stats import from_moments
>>> near, query = from_moments(6.0, 0.2, 25), from_moments(10.0, 0.3, 25)
>>> near.half_width, (near + 10).half_width
(0.0825..., 0.0825...)
>>> print(f"{(near + 2 * query).half_width:.3f}")  # t with 29.2 degrees of freedom times the root of 0.04**2 + 0.12**2
0.259

Two means are independent where they come from different cells. On a clock that charges the CPU, the cells of one boot share
what that boot was like; a sum or a ratio that takes them for independent has too wide an interval then, not too narrow a
one, as long as a fast boot is fast in both. Means that share a cell (`Summary.sources`) are taken for as dependent as they
can be: half widths add up, which is the most that any correlation leaves (the inequality of Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real

from slownet.errors import SlownetError
from slownet.stats.compare import difference, ratio
from slownet.stats.summary import Summary


def total(left: Summary, right: Summary) -> Summary:
    """``left + right``: Welch's interval where they are independent."""
    return difference(left, right.scaled(-1))


def product(left: Summary, right: Summary) -> Summary:
    """``left * right``, as the ratio of one to the reciprocal of the other (Donner and Zou, 2012: see `ratio`).

    Unknown where the intervals of both hold zero.
    """
    for one, other in ((left, right), (right, left)):
        if other.low == other.high:
            return replace(one.scaled(other.mean), sources=left.sources | right.sources)
    if right.low <= 0 <= right.high:
        left, right = right, left
    return replace(ratio(left, reciprocal(right)), mean=left.mean * right.mean)


def reciprocal(one: Summary) -> Summary:
    """``1 / one``; unknown where the interval holds zero."""
    known = one.known and not one.low <= 0 <= one.high
    low, high = (1 / one.high, 1 / one.low) if known else (-math.inf, math.inf)
    return replace(one, mean=1 / one.mean if one.mean else math.nan, low=low, high=high)


def exact(number: object) -> float:
    """A number beside a measured one. Raises SlownetError for what is none."""
    if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
        raise SlownetError(f"{number!r} in a calculation with a measured number", fix="give a finite number or a Summary")
    return float(number)
