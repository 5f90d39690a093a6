"""The article on coordinated omission: nginx, asked for 2.32 times what it manages."""

from slownet import published
from slownet.claim import predicted, ratio
from slownet.experiment import experiment
from slownet.services.page import StaticPage
from slownet.tools import steady
from slownet.topologies import TwoHosts

ARTICLE = published.overload()
CONNECTIONS = 64  # the article had 60,000, on a machine of 32 threads
SECONDS = 0.5  # 60 in the article
ALONE, OVER = {"load": "capacity"}, {"load": "2.32 times"}
BROUGHT = [OVER | {"tool": name} for name in steady.there() if name != steady.OWN]  # wrk2 and oha where they are


# One block: the backlog grows over this time, and in less of it it is another one.
@experiment(topology=TwoHosts, service=StaticPage, cells=[ALONE, OVER, *BROUGHT], published=ARTICLE, blocks=1)
def overload(net, site, load, tool=steady.OWN):
    """How long does a request take when 2.32 times as many are due as the server manages?"""
    # What it manages: far more is due at once than any server could answer.
    own = steady.LOADS[steady.OWN]
    capacity = own(net["client"], site.url, rate=1e6, seconds=0.005, connections=CONNECTIONS)
    if load == "capacity":
        return capacity
    rate = ARTICLE["factor"] * capacity.answered_per_s
    return steady.LOADS[tool](net["client"], site.url, rate=rate, seconds=SECONDS, connections=CONNECTIONS)


def waited(part, at):
    """How long that part of the requests waited at most if the server worked through them in turn, in seconds.

    Who is answered at the time t asked when as many were due as the server had done by then: at t over the overload.
    """

    def seconds(run):
        names = ("counted_from_s", "counted_to_s", "answered_per_s", "target_per_s")
        first, last, answered, due = (run.at(at).summary(name) for name in names)
        return (first + part * (last - first)) * (1 - answered / due)

    return seconds


def by(cell):
    """Which program, for one that was brought."""
    return f" ({cell['tool']})" if cell in BROUGHT else ""


def claims(over):
    """What holds under overload, whoever asks."""
    # Server and client share a processor here. Who of them is woken how often makes two regimes, in which the same server
    # answers 39,000 or 52,000 times a second, and theory does not say which it will be: so no more than that it goes on.
    yield ratio(
        "answered_per_s", over, of=ALONE, at_least=0.5, at_most=2,
        because="a server that is asked for more than it manages goes on at what it manages",
    )  # fmt: skip
    # At the end the backlog is what was due less what was answered, whatever the rate did before. Where it differs by a third
    # from then on, a part's time is off by a third of the rest, and its backlog, 1 - 1 / 2.32 of the time, by 1.75 times that.
    for name, part in (("mean", 0.5), ("p99", 0.99)):
        within = round(0.01 + (1 - part) / 3 / (1 - 1 / ARTICLE["factor"]), 3)
        yield predicted(
            f"corrected_{name}_s", over, expected=waited(part, over), within=within,
            name=f"corrected {name} is the backlog's at {100 * part:g} %{by(over)}",
            because="what is due goes on growing at the target's rate, and is answered at the server's",
        )  # fmt: skip
    # With 64 connections that are always busy it is 64 over the rate, of which twice is the bound above; corrected, it is
    # hundreds of times as much.
    yield ratio(
        "uncorrected_p50_s", over, of=ALONE, at_most=2, name=f"uncorrected, the overload hardly shows{by(over)}",
        because="each connection is answered as fast as at capacity: how late it asked is left out",
    )  # fmt: skip


overload.claims(*(each for over in (OVER, *BROUGHT) for each in claims(over)))
