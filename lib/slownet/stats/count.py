"""Counts of what happens by chance, such as lost packets: intervals that have a width, whatever was counted."""

from __future__ import annotations

from functools import lru_cache

from slownet.errors import SlownetError
from slownet.stats.proportion import proportion
from slownet.stats.student import CONFIDENCE
from slownet.stats.summary import Summary

EXACT_DEGREES = 1e6
"""Degrees of freedom of intervals that estimate no variance."""


def poisson(events: int, confidence: float = CONFIDENCE) -> Summary:
    """The mean of a Poisson distribution of which one count was seen, with Garwood's exact interval.

    Source: Garwood, "Fiducial limits for the Poisson distribution", 1936. 0 events allow for 3.7 at 95 %. Raises SlownetError
    for what is no count.
    """
    if events < 0 or events != int(events):
        raise SlownetError(f"a count of {events:g}", fix="give a whole number from 0")
    low, high = _garwood(int(events), confidence)
    return Summary(float(events), low, high, 1, EXACT_DEGREES, confidence)


def counted(events: float, trials: int, times: int = 1, confidence: float = CONFIDENCE) -> Summary:
    """The count of one measurement, of which ``times`` were made with so many events and trials in all.

    Where each event had a trial of its own (40 stalls of 100 exchanges) the interval is Wilson's of the proportion, and ends
    at what the trials allow; where trials were not counted (``trials`` no more than ``times``) it is Garwood's. Raises
    SlownetError for what is no count.
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
