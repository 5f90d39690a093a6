"""Tests of two measurements for difference and equivalence. Pure functions on summaries.

Tests that divide by the variance fail for runs without any. Here such runs have a rule of their own: the interval has no
width, and any difference but zero is significant, with p = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.model.errors import SlownetError
from slownet.theory.stats.estimate import Summary, difference


@dataclass(frozen=True)
class Test:
    """The result of a statistical test.

    Parameters
    ----------
    t : float
        The test statistic; infinite if nothing varies.
    df : float
        Degrees of freedom.
    p : float
        The p-value.
    """

    __test__ = False  # keeps pytest from collecting the class

    t: float
    df: float
    p: float


def differs(left: Summary, right: Summary, by: float = 0.0) -> Test:
    """Test ``left - right == by`` (Welch's test, two-sided).

    Parameters
    ----------
    left, right : Summary
        The measurements, in one unit.
    by : float
        The difference under the null hypothesis.

    Returns
    -------
    Test
        A small p means that the difference is another one.

    Raises
    ------
    SlownetError
        An interval is unknown.
    """
    test = _one_sided(left, right, by)
    return Test(test.t, test.df, min(1.0, 2 * min(test.p, 1 - test.p)))


def equivalent(left: Summary, right: Summary, least: float, most: float) -> Test:
    """Test equivalence, ``least < left - right < most``, by two one-sided Welch tests (TOST).

    Parameters
    ----------
    left, right : Summary
        The measurements, in one unit.
    least, most : float
        The margin of the difference, in the same unit.

    Returns
    -------
    Test
        The test with the larger p. A small p means that the difference lies inside the margin.

    Raises
    ------
    SlownetError
        The margin has no width, or an interval is unknown.

    References
    ----------
    Schuirmann, "A comparison of the two one-sided tests procedure...", 1987.
    """
    if not least < most:
        raise SlownetError(f"a margin from {least:g} to {most:g}", "in a test of equivalence", "give a margin wider than 0")
    above, below = _one_sided(left, right, least), _one_sided(right, left, -most)
    worse = max(above, below, key=lambda test: test.p)
    return worse if worse is above else Test(-worse.t, worse.df, worse.p)


def exceeds(gap: Summary, by: float) -> float:
    """Test whether a difference is further from 0 than a limit (one-sided, on the observed side).

    Parameters
    ----------
    gap : Summary
        The difference.
    by : float
        The limit, in the same unit.

    Returns
    -------
    float
        The p-value.
    """
    from scipy.special import stdtr

    beyond = abs(gap.mean) - by
    if gap.error == 0:
        return 0.0 if beyond > 0 else 1.0
    return float(stdtr(gap.df_or_default, -beyond / gap.error))


def holm(ps: Sequence[float], level: float) -> list[bool]:
    """Select the significant ones of several tests by Holm's procedure.

    Parameters
    ----------
    ps : sequence of float
        The p-values.
    level : float
        The probability that any of the tests is significant by chance, at most.

    Returns
    -------
    list of bool
        For each test whether it is significant.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    found = [False] * len(ps)
    for rank, number in enumerate(sorted(range(len(ps)), key=lambda each: ps[each])):
        if ps[number] > level / (len(ps) - rank):
            break
        found[number] = True
    return found


def _one_sided(left: Summary, right: Summary, by: float) -> Test:
    """Test ``left - right > by``."""
    from scipy.special import stdtr

    gap = difference(left, right).plus(-by)
    if not gap.known:
        raise SlownetError("a test needs the intervals of both measurements", fix="measure at least twice")
    if gap.error == 0:
        t = math.copysign(math.inf, gap.mean) if gap.mean else 0.0
        return Test(t, gap.df_or_default, 0.0 if gap.mean > 0 else 1.0 if gap.mean < 0 else 0.5)
    t = gap.mean / gap.error
    return Test(t, gap.df_or_default, float(stdtr(gap.df_or_default, -t)))
