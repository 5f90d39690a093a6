"""How far points lie off what should explain them, beyond what their own errors add. Pure functions on numbers.

A point's value has an error of its own, which more measuring makes smaller, and a distance from the line that no measuring
takes away: a bend, or what one cell has and the next one has not. An estimate that rests on such points has both parts in
its interval. The distance's part is always in it, rather than only once a test has seen it: a test of a few points misses
much, and what it misses is then missing from the interval (Hoaglin, "Misunderstandings about Q and 'Cochran's Q test' in
meta-analysis", 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from slownet.stats.student import t_quantile

SURE = 0.99


@dataclass(frozen=True)
class Scatter:
    """The residuals of points around their line.

    ``squares`` is the weighted sum of their squares, ``noise`` what the points' own errors add to it on average (None
    where they are not known), with ``within`` degrees of freedom; a variance of one between points adds ``share``.
    ``degrees`` are the points less what was fitted.
    """

    squares: float
    noise: float | None
    within: float
    share: float
    degrees: int

    @property
    def f(self) -> float:
        """The squares as a multiple of the noise: 1 on average if nothing else is in them. nan where that is not known."""
        if self.noise is None or self.degrees < 1:
            return math.nan
        return self.squares / self.noise if self.noise else math.inf if self.squares else 0.0

    @property
    def p(self) -> float:
        """How often noise alone scatters the points as far as this."""
        f = self.f
        if not math.isfinite(f):
            return f if math.isnan(f) else 0.0
        return _f_tail(f, self.degrees, self.within)

    @property
    def between(self) -> float:
        """The standard deviation between points beside their noise: as likely too small as too large.

        Median-unbiased, because the usual estimate (DerSimonian and Laird, "Meta-analysis in clinical trials", 1986) is too
        small more often than not where points are few: squares are skewed. Source: Viechtbauer, "Median-unbiased estimators
        for the amount of heterogeneity in meta-analysis", 2021.
        """
        if self.degrees < 1:
            return 0.0
        typical = self.squares * self.degrees / _median_squares(self.degrees)
        return math.sqrt(max(0.0, typical - (self.noise or 0.0)) / self.share)

    @property
    def at_least(self) -> float:
        """What is left of the standard deviation between points when all noise is gone, at least (99 %).

        Noise of that length at most can have been added to residuals that are fixed (the triangle's inequality), so what
        they have beyond it stays however often the points are measured. 0 where the points may be straight.
        """
        if self.degrees < 1 or self.noise is None:
            return 0.0
        most = math.sqrt(self.noise * _f_quantile(self.degrees, self.within)) if self.noise else 0.0
        return max(0.0, math.sqrt(self.squares) - most) / math.sqrt(self.share)

    def half_width(self, factor: float, own: float, confidence: float) -> float:
        """Half of the interval of a weighted sum of the points: ``own`` from their errors, joined with the distances' part.

        ``factor`` is the sum of the squares of the weights. The two are independent, so their half widths are joined as
        the sides of a right angle, each with its own degrees of freedom and at its own confidence (MOVER: Zou and Donner,
        "Construction of confidence limits about effect measures: a general approach", 2008). It is never wider than the
        residuals with all the noise that is in them say, or ``own`` if that is more (Röver, Knapp and Friede,
        "Hartung-Knapp-Sidik-Jonkman approach and its modification for random-effects meta-analysis with few studies", 2015).
        """
        if self.degrees < 1:
            return own
        wide = t_quantile(self.degrees, confidence) * math.sqrt(factor)
        whole = max(own, wide * math.sqrt(self.squares / self.share))
        return min(whole, math.hypot(own, wide * self.between)) if self.noise is not None else whole


@lru_cache(maxsize=64)
def _median_squares(degrees: float) -> float:
    """The median of chi squared."""
    from scipy.special import chdtri

    return float(chdtri(degrees, 0.5))


def _f_tail(f: float, degrees: float, within: float) -> float:
    from scipy.special import fdtrc

    return float(fdtrc(degrees, within, f))


def _f_quantile(degrees: float, within: float) -> float:
    from scipy.special import fdtri

    return float(fdtri(degrees, within, SURE))
