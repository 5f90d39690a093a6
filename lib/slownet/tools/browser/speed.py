"""The speed index: how long, on average over its pixels, a page looked unfinished. Pure.

WebPageTest's definition: the integral of 1 minus visual completeness. https://docs.webpagetest.org/metrics/speedindex/
"""

from __future__ import annotations

from collections.abc import Sequence

from slownet.tools.browser.loading import Said


def speed_index(frames: Sequence[Said], began: float) -> float | None:
    """Compute the speed index in ms.

    Parameters
    ----------
    frames : sequence of mapping
        Pictures in order: ``{"s": when, in seconds, "complete": visual completeness, 0 to 1}``.
    began : float
        When the load began, in seconds of the same clock.

    Returns
    -------
    float or None
        None if the pictures' completeness is not known.

    Examples
    --------
    >>> speed_index([{"s": 10.0, "complete": 0.0}, {"s": 10.1, "complete": 0.5}, {"s": 10.3, "complete": 1.0}], 10.0)
    200.0
    """
    if not frames or any("complete" not in each for each in frames):
        return None
    total, complete, since = 0.0, 0.0, began
    for each in frames:
        total += (1 - complete) * max(0.0, each["s"] - since)
        complete, since = max(complete, float(each["complete"])), max(since, each["s"])
    return round(1000 * total, 3)
