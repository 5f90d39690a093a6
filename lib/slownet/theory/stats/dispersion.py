"""The scatter of points around their line beyond their measurement errors. Pure functions on numbers.

A point has a measurement error, which more measuring reduces, and a distance from the line, which it does not: a bend, or a
peculiarity of one cell. The interval of an estimate from such points contains both. The distance is always included, not only
if a test detects it: a test of a few points has little power, and the interval would lack what the test misses (Hoaglin,
"Misunderstandings about Q and 'Cochran's Q test' in meta-analysis", 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from slownet.theory.stats.student import t_quantile

SURE = 0.99


@dataclass(frozen=True)
class LackOfFit:
    """The F test of a law's straightness: the scatter of the points around it against the errors of the points.

    Parameters
    ----------
    f : float
        The test statistic; inf if exact points miss the line, nan with two points or unknown intervals.
    degrees, within : float
        Its degrees of freedom.
    p : float
        The p-value; small if the line does not fit.
    worst : float
        The largest residual as a fraction of its time. Long measurements detect any bend, so consider its size too.

    References
    ----------
    Draper and Smith, "Applied regression analysis", 1998, 2.1; for unequal errors Brown and Forsythe, "The small sample
    behavior of some statistics which test the equality of several means", 1974.
    """

    f: float
    df: float
    within: float
    p: float
    worst: float


@dataclass(frozen=True)
class Scatter:
    """The residuals of points around their line.

    Parameters
    ----------
    squares : float
        Weighted sum of the squared residuals.
    noise : float or None
        The expected contribution of the points' own errors to ``squares``; None if they are unknown.
    within : float
        Degrees of freedom of ``noise``.
    share : float
        The expected contribution of a variance of 1 between points.
    degrees : int
        Number of points less number of fitted parameters.
    """

    squares: float
    noise: float | None
    within: float
    share: float
    df: int

    @property
    def f(self) -> float:
        """The squares divided by the noise: 1 on average if there is only noise, nan if unknown."""
        if self.noise is None or self.df < 1:
            return math.nan
        return self.squares / self.noise if self.noise else math.inf if self.squares else 0.0

    @property
    def p(self) -> float:
        """The probability that noise alone scatters the points this far, nan if unknown."""
        f = self.f
        if not math.isfinite(f):
            return f if math.isnan(f) else 0.0
        return _f_tail(f, self.df, self.within)

    @property
    def between(self) -> float:
        """The standard deviation between points without their noise, median-unbiased.

        The usual estimate (DerSimonian and Laird, "Meta-analysis in clinical trials", 1986) is too small in most cases with
        few points, because squares are skewed. Source: Viechtbauer, "Median-unbiased estimators for the amount of
        heterogeneity in meta-analysis", 2021.
        """
        if self.df < 1:
            return 0.0
        typical = self.squares * self.df / _median_squares(self.df)
        return math.sqrt(max(0.0, typical - (self.noise or 0.0)) / self.share)

    @property
    def at_least(self) -> float:
        """A lower limit (99 %) of the standard deviation between points that infinitely many repetitions would find.

        By the triangle inequality: the residuals less the largest plausible noise remain however often the points are
        measured. 0 if the points may lie on a straight line.
        """
        if self.df < 1 or self.noise is None:
            return 0.0
        most = math.sqrt(self.noise * _f_quantile(self.df, self.within)) if self.noise else 0.0
        return max(0.0, math.sqrt(self.squares) - most) / math.sqrt(self.share)

    def half_width(self, factor: float, own: float, confidence: float) -> float:
        """Compute half of the interval of a weighted sum of the points.

        Parameters
        ----------
        factor : float
            Sum of the squared weights.
        own : float
            The half width from the points' own errors.
        confidence : float
            Of the part that comes from the distances to the line.

        Returns
        -------
        float
            In the unit of the points.

        Notes
        -----
        The two parts are independent, so their half widths add in quadrature, each with its own degrees of freedom and
        confidence (MOVER: Zou and Donner, "Construction of confidence limits about effect measures: a general approach",
        2008). The result is limited to the half width from the residuals including their noise, or ``own`` if that is larger
        (Röver, Knapp and Friede, "Hartung-Knapp-Sidik-Jonkman approach and its modification for random-effects meta-analysis
        with few studies", 2015).
        """
        if self.df < 1:
            return own
        wide = t_quantile(self.df, confidence) * math.sqrt(factor)
        whole = max(own, wide * math.sqrt(self.squares / self.share))
        return min(whole, math.hypot(own, wide * self.between)) if self.noise is not None else whole


@lru_cache(maxsize=64)
def _median_squares(df: float) -> float:
    """Return the median of the chi-squared distribution."""
    from scipy.special import chdtri

    return float(chdtri(df, 0.5))


def _f_tail(f: float, df: float, within: float) -> float:
    from scipy.special import fdtrc

    return float(fdtrc(df, within, f))


def _f_quantile(df: float, within: float) -> float:
    from scipy.special import fdtri

    return float(fdtri(df, within, SURE))
