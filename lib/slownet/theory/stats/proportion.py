"""Proportions, such as packet loss, with Wilson's interval.

It stays inside 0 to 1 and has some width even if nothing was lost: 0 of 20 does not prove a loss of 0.
"""

from __future__ import annotations

import math

from slownet.model.errors import SlownetError
from slownet.theory.stats.estimate import Summary
from slownet.theory.stats.student import CONFIDENCE, z_quantile


def proportion(hits: int, n: int, confidence: float = CONFIDENCE) -> Summary:
    """Estimate the proportion ``hits / n`` with Wilson's interval.

    Parameters
    ----------
    hits : int
        From 0 to ``n``.
    n : int
        Number of trials, 1 or more.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        A number from 0 to 1.

    Raises
    ------
    SlownetError
        The counts contradict each other.

    References
    ----------
    Wilson, "Probable inference...", 1927, without continuity correction.
    """
    if not 0 <= hits <= n or n < 1:
        fix = "give a count between 0 and the number of trials, which is 1 or more"
        raise SlownetError(f"{hits} of {n}", "as a proportion", fix)
    z2 = z_quantile(confidence) ** 2
    part = hits / n
    middle = (part + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (part * (1 - part) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low, high = 0.0 if hits == 0 else middle - half, 1.0 if hits == n else middle + half
    return Summary(part, low, high, n, n - 1, confidence)
