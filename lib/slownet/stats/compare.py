"""Two measurements against each other: difference, equivalence. Pure functions on summaries.

Runs without variance break tests that divide by it. Here they have a rule of their own: the interval has no width, and
a difference that is not zero is a difference, with a p of 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.errors import SlownetError
from slownet.stats.summary import Summary, difference


@dataclass(frozen=True)
class Test:
    """A test's statistic ``t`` with its degrees of freedom and the p-value; ``t`` is inf where nothing varies."""

    __test__ = False  # no test case of pytest's

    t: float
    degrees: float
    p: float


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
