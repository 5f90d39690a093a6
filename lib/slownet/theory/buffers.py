"""Theory of the queue that a bottleneck needs: how busy connections keep a link, by the length of its queue.

Queues are in pipes: the pipe is what a path without a queue holds, rate times round trip. Both functions are derived in their
notes from Reno's sawtooth, under the assumptions of the paper that asked the question: Appenzeller, Keslassy and McKeown,
"Sizing router buffers", 2004. By its abstract, n connections need no more than a queue of a pipe divided by the root of n.
"""

from __future__ import annotations

import math

from slownet.model.errors import SlownetError, above_zero


def rule(connections: int) -> float:
    """Return the queue of the rule, ``1 / sqrt(n)`` pipes for n connections. Raises SlownetError."""
    above_zero("rule", connections=connections)
    return 1 / math.sqrt(connections)


def busy_in_step(queue: float) -> float:
    """Compute how busy one Reno connection keeps a link, or several that all lose at the same time.

    queue: its length in pipes, 0 or more.
    returns: a fraction: 0.75 without a queue, 1 with a pipe or more.
    Raises SlownetError: the queue is below 0.

    Notes
    -----
    The window grows by the same number in each round trip, from half of its peak ``1 + queue`` to it. Each round trip carries
    one window. It lasts as long as the window where that is above 1, because the queue delays it, and 1 below, where the link
    is idle for the rest. So ``3/8 (1 + queue)^2`` is carried in ``(1 - queue) / 2 + ((1 + queue)^2 - 1) / 2``.
    """
    if not queue >= 0:
        raise SlownetError(f"queue is {queue:g}", "in busy_in_step", "give 0 or more")
    peak = (1 + queue) ** 2
    return 1.0 if queue >= 1 else 0.75 * peak / (peak - queue)


def busy_apart(queue: float, connections: int) -> float:
    """Compute how busy Reno connections keep a link at least, if their losses are independent.

    queue: its length in pipes, 0 or more.
    connections: how many, 1 or more: the more, the better the approximation.
    returns: a fraction.
    Raises SlownetError: a number is out of range.

    Notes
    -----
    Each window is equally likely to be anywhere between two thirds and four thirds of its mean, so its standard deviation is
    the mean divided by ``3 sqrt(3)``. The sum of n has a mean of at most ``1 + queue`` pipes, and its deviation is smaller by
    ``sqrt(n)``. It is taken for normal around the middle of the queue; the link is idle at most while the queue is empty or the
    sum is as far above: ``erf(3 sqrt(3) / (2 sqrt(2)) queue sqrt(n) / (1 + queue))`` is left.
    """
    above_zero("busy_apart", connections=connections)
    if not queue >= 0:
        raise SlownetError(f"queue is {queue:g}", "in busy_apart", "give 0 or more")
    deviation = (1 + queue) / (3 * math.sqrt(3 * connections))
    return math.erf(queue / 2 / (math.sqrt(2) * deviation))
