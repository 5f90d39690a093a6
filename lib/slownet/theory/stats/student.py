"""Quantiles of Student's t distribution and of the normal one, without scipy.

Every interval needs one, and importing scipy for it takes a second in a lab, a third of a short pytest session.
"""

import math
from functools import lru_cache
from statistics import NormalDist

CONFIDENCE = 0.95
DECIDING = 0.99
"""The confidence of the intervals that verdicts use, so that a true claim is refuted in fewer than 1 % of runs."""

MANY = 1000.0
"""Degrees of freedom above which `_expanded` is exact to 10 digits."""
ALIKE = 1e-13
"""Relative difference of two approximations, below which the second one is the result."""
TINY = 1e-300
"""The substitute for 0 in a denominator."""


@lru_cache(maxsize=4096)
def t_quantile(df: float, confidence: float = CONFIDENCE) -> float:
    """Return Student's t for a two-sided interval.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 0; they may be infinite.
    confidence : float
        Of the interval, above 0 and below 1.

    Returns
    -------
    float
        At 95 %, 12.706 for 1 degree of freedom and 1.984 for 99.
    """
    z = z_quantile(confidence)
    if df > MANY:
        return _expanded(z, df)
    # Newton's method for the logarithm of the tail against that of t. The normal quantile is on the left of the result, and the
    # curve is concave, so that every later approximation is on its right and falls.
    t, wanted = z, math.log(1 - confidence)
    for _ in range(100):
        tail = _two_tails(t, df)
        step = (math.log(tail) - wanted) * tail / (2 * t * _density(t, df))
        t *= math.exp(step)
        if abs(step) < ALIKE:
            break
    return t


@lru_cache(maxsize=256)
def z_quantile(confidence: float) -> float:
    """Return the normal quantile for a two-sided interval: 1.960 at 95 %."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _expanded(z: float, df: float) -> float:
    """Expand the quantile in powers of 1/df (Abramowitz and Stegun, 26.7.5)."""
    w = z * z
    terms = (
        (w + 1) / 4,
        ((5 * w + 16) * w + 3) / 96,
        (((3 * w + 19) * w + 17) * w - 15) / 384,
        ((((79 * w + 776) * w + 1482) * w - 1920) * w - 945) / 92160,
    )
    return z * (1 + sum(term / df**power for power, term in enumerate(terms, 1)))


def _density(t: float, df: float) -> float:
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return math.exp(scale - (df + 1) / 2 * math.log1p(t * t / df))


def _two_tails(t: float, df: float) -> float:
    """Return the probability beyond t on either side: the regularized incomplete beta function of df / (df + t^2)."""
    a, b, x = df / 2, 0.5, df / (df + t * t)
    front = t * _density(t, df)  # x^a (1 - x)^b / B(a, b)
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or TINY)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d or TINY)
            c = 1 + term / c or TINY
            value *= d * c
        if abs(d * c - 1) < ALIKE / 10:
            break
    return value
