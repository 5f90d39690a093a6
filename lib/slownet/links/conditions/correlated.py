"""The probability to give netem so that a correlated loss loses the stated share of packets.

netem draws `x = (1 - c) * u + c * x_before`, u uniform, and hits a packet when x is below the probability. Such an average
of uniform numbers stays near the middle: with "5 % 50 %" netem lost none of 2,000 packets here. The probability that hits
5 % is the 5 % quantile of x.
"""

from __future__ import annotations

from functools import cache

DRAWS = 4_000_000


@cache
def threshold(probability: float, correlation: float) -> float:
    """Return the probability that makes netem hit the share `probability` of the packets, to about 1 % of that share."""
    if not correlation or probability in (0.0, 1.0):
        return probability
    import numpy as np  # takes a second in the lab, and only correlated losses need it
    from scipy.signal import lfilter

    uniform = np.random.default_rng(1).random(DRAWS)
    drawn, _ = lfilter([1 - correlation], [1, -correlation], uniform, zi=[0.5 * correlation])
    return float(np.quantile(drawn[DRAWS // 100 :], probability))
