"""Downloads that share a line: what 20_a_fair_share.toml measures."""

import math

from slownet.tools.competing import competing


def downloads(net, others, more):
    """Return the share of one connection beside others, and of several."""
    return {"share": share(net, 1, others), "share_of_many": share(net, more, others)}


def share(net, own, others):
    """Return which part of what arrives is that of the first connections."""
    carried = competing(net["server"], net["client"], ["cubic"] * (own + others), seconds=20, settle=10).carried
    sums = [math.fsum(sum(one, ())) for one in carried]
    return math.fsum(sums[:own]) / math.fsum(sums)
