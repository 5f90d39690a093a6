"""Student's t, which scipy gives: it is imported when a quantile is first asked for."""

from functools import lru_cache

CONFIDENCE = 0.95
DECIDING = 0.99
"""The confidence of the intervals that verdicts rest on, so that a true claim is refuted in fewer than 1 % of runs."""


@lru_cache(maxsize=4096)
def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Student's t that a two-sided interval takes: 12.706 for 1 degree of freedom, 1.984 for 99."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
