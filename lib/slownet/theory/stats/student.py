"""Quantiles of Student's t distribution, from scipy, which is imported at the first call."""

from functools import lru_cache

CONFIDENCE = 0.95
DECIDING = 0.99
"""The confidence of the intervals that verdicts use, so that a true claim is refuted in fewer than 1 % of runs."""


@lru_cache(maxsize=4096)
def t_quantile(df: float, confidence: float = CONFIDENCE) -> float:
    """Return Student's t for a two-sided interval.

    Parameters
    ----------
    df : float
        Degrees of freedom.
    confidence : float
        Of the interval.

    Returns
    -------
    float
        At 95 %, 12.706 for 1 degree of freedom and 1.984 for 99.
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + confidence) / 2))
