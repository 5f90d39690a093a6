"""Two measurements against each other: ratio, difference, equivalence. Pure functions on summaries.

Runs without variance break tests that divide by it. Here they have a rule of their own: the interval has no width, and
a difference that is not zero is a difference, with a p of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from slownet.errors import SlownetError
from slownet.stats.summary import Summary, from_error


@dataclass(frozen=True)
class Test:
    """A test's statistic ``t`` with its degrees of freedom and the p-value; ``t`` is inf where nothing varies."""

    __test__ = False  # no test case of pytest's

    t: float
    degrees: float
    p: float


def ratio(over: Summary, under: Summary, shared: float = 0.0) -> Summary:
    """``over / under`` with Fieller's interval, made from the two intervals (MOVER-R: Donner and Zou,
    "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012).

    Exact (zero width) when both intervals have zero width. Unknown when the lower interval holds zero.
    ``shared`` is the product of the half widths of what both have in common, for instance h0**2 when
    the same baseline was taken off both. Where both were measured in the same cell, and nothing else is said of what they
    share, they are taken for as dependent as they can be.
    """
    n, confidence = min(over.n, under.n), min(over.confidence, under.confidence)
    degrees, sources = min(over.freedom, under.freedom), over.sources | under.sources
    mean = over.mean / under.mean if under.mean else math.nan
    if not (over.known and under.known) or under.low <= 0 <= under.high:
        return Summary(mean, -math.inf, math.inf, n, degrees, confidence, sources)
    if over.sources & under.sources and not shared:
        corners = [one / other for one in (over.low, over.high) for other in (under.low, under.high)]
        return Summary(mean, min(corners), max(corners), n, degrees, confidence, sources)
    low = mean - _fieller(over.mean, over.mean - over.low, under.mean, under.high - under.mean, shared, -1)
    high = mean + _fieller(over.mean, over.high - over.mean, under.mean, under.mean - under.low, shared, +1)
    return Summary(mean, low, high, n, degrees, confidence, sources)


def _fieller(a: float, half_a: float, b: float, half_b: float, shared: float, side: int) -> float:
    """How far the limit of a/b on one side is from a/b, for half widths of a and b towards that side."""
    if half_a == 0 and half_b == 0:
        return 0.0
    middle = a * b - shared
    below = b * b - half_b * half_b
    root = math.sqrt(max(0.0, middle * middle - (a * a - half_a * half_a) * below))
    return side * ((middle + side * root) / below - a / b)


def difference(left: Summary, right: Summary) -> Summary:
    """``left - right`` of independent means with Welch's interval (degrees of freedom by Satterthwaite).

    Of two that were measured in the same cell the half widths add up: see `slownet.stats.arithmetic`.
    """
    mean, n, sources = left.mean - right.mean, min(left.n, right.n), left.sources | right.sources
    confidence = min(left.confidence, right.confidence)
    if not (left.known and right.known):
        return Summary(mean, -math.inf, math.inf, n, 0, confidence, sources)
    if left.sources & right.sources:
        one, other = left.at_confidence(confidence), right.at_confidence(confidence)
        degrees = min(left.freedom, right.freedom)
        return Summary(mean, one.low - other.high, one.high - other.low, n, degrees, confidence, sources)
    error, degrees = welch((left.error, left.freedom), (right.error, right.freedom))
    return replace(from_error(mean, error, n, degrees, confidence), sources=sources)


def welch(*parts: tuple[float, float]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a sum of independent parts, each ``(error, degrees)``.

    Source: Satterthwaite, "An approximate distribution of estimates of variance components", 1946. Exact parts add
    nothing.
    """
    variances = [(error * error, degrees) for error, degrees in parts if error > 0]
    total = math.fsum(variance for variance, _ in variances)
    if total == 0:
        return 0.0, max((degrees for _, degrees in parts), default=1.0)
    return math.sqrt(total), total**2 / math.fsum(variance**2 / degrees for variance, degrees in variances)


def differs(left: Summary, right: Summary, by: float = 0.0) -> Test:
    """Welch's two-sided test of ``left - right == by``. Raises SlownetError where a spread is not known."""
    test = _one_sided(left, right, by)
    return Test(test.t, test.degrees, min(1.0, 2 * min(test.p, 1 - test.p)))


def equivalent(left: Summary, right: Summary, least: float, most: float) -> Test:
    """Two one-sided Welch tests (TOST) of ``least < left - right < most``; the larger p and its t.

    A small p says equivalent: the difference lies inside the margin. Source: Schuirmann, "A comparison of the two
    one-sided tests procedure...", 1987. Raises SlownetError for a margin of no width, or where a spread is not known.
    """
    if not least < most:
        raise SlownetError(f"a margin from {least:g} to {most:g}", "in a test of equivalence", "give a margin of some width")
    above, below = _one_sided(left, right, least), _one_sided(right, left, -most)
    worse = max(above, below, key=lambda test: test.p)
    return worse if worse is above else Test(-worse.t, worse.degrees, worse.p)


def further(gap: Summary, by: float) -> float:
    """The p-value of a one-sided test that a difference is further from 0 than ``by``, on the side where it was seen."""
    from scipy.special import stdtr

    beyond = abs(gap.mean) - by
    if gap.error == 0:
        return 0.0 if beyond > 0 else 1.0
    return float(stdtr(gap.freedom, -beyond / gap.error))


def holm(ps: Sequence[float], level: float) -> list[bool]:
    """Which of several tests are significant, so that any is by chance in at most ``level`` of cases.

    Source: Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    found = [False] * len(ps)
    for rank, number in enumerate(sorted(range(len(ps)), key=lambda each: ps[each])):
        if ps[number] > level / (len(ps) - rank):
            break
        found[number] = True
    return found


def _one_sided(left: Summary, right: Summary, by: float) -> Test:
    """The test of ``left - right > by``."""
    from scipy.special import stdtr

    gap = difference(left, right).plus(-by)
    if not gap.known:
        raise SlownetError("a test needs the spread of both", fix="measure at least twice")
    if gap.error == 0:
        t = math.copysign(math.inf, gap.mean) if gap.mean else 0.0
        return Test(t, gap.freedom, 0.0 if gap.mean > 0 else 1.0 if gap.mean < 0 else 0.5)
    t = gap.mean / gap.error
    return Test(t, gap.freedom, float(stdtr(gap.freedom, -t)))
