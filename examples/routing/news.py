"""How long BGP keeps a change to itself that comes soon after another one: the MinRouteAdvertisementInterval.

Theory and source: slownet.theory.routing.news, RFC 4271, 9.2.1.1. FRR's default is 0, RFC 4271's example 30 s.
"""

import contextlib
import time

from routers import Triangle, announce, routed, routes

from slownet import bound, experiment
from slownet.theory import routing

MRAI_S = [0, 15, 30]
SINCE_S, POLL_S, LASTS_S = 5, 0.02, 100
FIRST, SECOND = "10.98.0.0/24", "10.99.0.0/24"
LATE_MS = 2 * routing.FRR_ROUTES_MS + 1000 * POLL_S  # of the router that announces, and of the one that hears it


@contextlib.contextmanager
def logs(net, directory):
    """Nothing but the place of the routers' logs: they are started for each cell."""
    yield directory


def known(net, network):
    """Wait until r1 has a route to a network, and return how many seconds that took."""
    began = time.monotonic()
    while not routes(net, "r1", network) and time.monotonic() < began + LASTS_S:
        time.sleep(POLL_S)
    return time.monotonic() - began


@experiment(
    topology=Triangle, service=logs, vary={"mrai_s": [str(each) for each in MRAI_S]}, tdf="inf", blocks=1, warm_up=0
)  # fmt: skip
def news(net, directory, mrai_s):
    """When does a neighbour hear of a network that BGP announces five seconds after another one?"""
    with routed(net, f"BGP, MRAI {mrai_s}", directory):
        time.sleep(60)
        announce(net, "r2", FIRST)
        known(net, FIRST)
        time.sleep(SINCE_S)
        announce(net, "r2", SECOND)
        return {"known_ms": 1000 * known(net, SECOND)}


def interval(mrai_s):
    return routing.news(mrai_s, SINCE_S).later(LATE_MS)


news.differs("FRR draws random numbers for timers")
news.claims(
    *(
        bound(
            "known_ms", {"mrai_s": str(each)}, at_least=interval(each).least_ms, at_most=interval(each).most_ms,
            because="what is left of the interval, which RFC 4271 lets be a quarter shorter",
        )
        for each in MRAI_S
    )
)  # fmt: skip


@news.answer
def answer(run):
    times = [run.at({"mrai_s": str(each)}).amount("known_ms") for each in MRAI_S]
    return "After " + ", ".join(f"{known} at {each} s" for each, known in zip(MRAI_S, times, strict=True)) + " of interval."
