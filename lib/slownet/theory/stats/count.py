"""Intervals of counts of random events, such as lost packets, and of proportions: they have some width for any count."""

from __future__ import annotations

import math
from functools import lru_cache

from slownet.model.errors import SlownetError
from slownet.theory.stats.estimate import Summary
from slownet.theory.stats.student import CONFIDENCE, z_quantile

# It stays inside 0 to 1 and has some width even if nothing was lost: 0 of 20 does not prove a loss of 0.


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


EXACT_DEGREES = 1e6
"""Degrees of freedom of intervals that need no estimate of a variance."""


def poisson(events: int, confidence: float = CONFIDENCE) -> Summary:
    """Estimate the mean of a Poisson distribution from one count, with Garwood's exact interval.

    Parameters
    ----------
    events : int
        The count. 0 events give an upper limit of 3.7 at 95 %.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        The mean number of events.

    Raises
    ------
    SlownetError
        ``events`` is not a whole number from 0.

    References
    ----------
    Garwood, "Fiducial limits for the Poisson distribution", 1936.
    """
    if events < 0 or events != int(events):
        raise SlownetError(f"a count of {events:g}", fix="give a whole number from 0")
    low, high = _garwood(int(events), confidence)
    return Summary(float(events), low, high, 1, EXACT_DEGREES, confidence)


def counted(events: float, trials: int, times: int = 1, confidence: float = CONFIDENCE) -> Summary:
    """Estimate the mean count per measurement.

    Parameters
    ----------
    events, trials : float, int
        Totals of all measurements. ``trials`` is no more than ``times`` if trials were not counted.
    times : int
        Number of measurements.
    confidence : float
        Of the interval.

    Returns
    -------
    Summary
        With Wilson's interval of the proportion if each event is one of the trials (40 stalls of 100 exchanges), so that it
        does not exceed them; else with Garwood's.

    Raises
    ------
    SlownetError
        ``events`` is not a whole number from 0.
    """
    if trials > times and events <= trials:
        found = proportion(int(events), trials, confidence).scaled(trials / times)
    else:
        found = poisson(int(events), confidence).scaled(1 / times)
    return Summary(found.mean, found.low, found.high, trials, EXACT_DEGREES, confidence)


@lru_cache(maxsize=1024)
def _garwood(events: int, confidence: float) -> tuple[float, float]:
    from scipy.special import chdtri

    tail = (1 - confidence) / 2
    low = float(chdtri(2 * events, 1 - tail)) / 2 if events else 0.0
    return low, float(chdtri(2 * events + 2, tail)) / 2
