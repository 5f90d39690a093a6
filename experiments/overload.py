"""The article on coordinated omission: nginx under a load of 2.32 times its capacity."""

from slownet import StaticPage, TwoHosts, experiment, predicted, ratio
from slownet.theory import published
from slownet.tools import steady

ARTICLE = published.overload()
CONNECTIONS = 64  # the article had 60,000, on a machine of 32 threads
SECONDS = 0.5  # 60 in the article
ALONE, OVER = {"load": "capacity"}, {"load": "2.32 times"}
INSTALLED = [OVER | {"tool": name} for name in steady.there() if name != steady.OWN]  # wrk2 and oha, if installed


# One block: the backlog grows with time, so the time must be the same in all repetitions.
@experiment(topology=TwoHosts, service=StaticPage, cells=[ALONE, OVER, *INSTALLED], published=ARTICLE, blocks=1)
def overload(net, site, load, tool=steady.OWN):
    """How long does a request take when 2.32 times as many are due as the server can answer?"""
    # To measure the capacity, far more requests are due than any server could answer.
    own = steady.LOADS[steady.OWN]
    capacity = own(net["client"], site.url, rate=1e6, seconds=0.005, connections=CONNECTIONS)
    if load == "capacity":
        return capacity
    rate = ARTICLE["factor"] * capacity.answered_per_s
    return steady.LOADS[tool](net["client"], site.url, rate=rate, seconds=SECONDS, connections=CONNECTIONS)


def waited(part, at):
    """The longest wait of that part of the requests, in seconds, if the server answers them in order.

    A request answered at time t was due when the number of due requests was the number answered by t: at t / overload.
    wrk2's connections begin later than the test, 5 ms apart, or after the second that its event loop sometimes sleeps first:
    both times count from then, and all answers came since then.
    """

    def seconds(run):
        names = ("counted_from_s", "counted_to_s", "answered_per_s", "target_per_s")
        first, last, answered, due = (run.at(at).summary(name) for name in names)
        began = run.at(at).summary("started_s") if at.get("tool") == "wrk2" else 0
        when = first + part * (last - first)
        return (when - began) * (1 - answered * last / (last - began) / due)

    return seconds


def by(cell):
    """The program's name in a claim's name, if it is not our own."""
    return f" ({cell['tool']})" if cell in INSTALLED else ""


def claims(over):
    """The claims about overload by one program."""
    # Server and client share a processor here. Depending on how often each is woken, the same server answers 39,000 or 52,000
    # times a second, and theory does not say which. So this claims no more than that the server does not collapse.
    yield ratio(
        "answered_per_s", over, of=ALONE, at_least=0.5, at_most=2,
        because="an overloaded server still works at its capacity",
    )  # fmt: skip
    # At the end the backlog is the number of due minus answered requests, whatever the rate was before. If the rate differs by
    # a third after a part, its time is off by a third of the rest, and its backlog, 1 - 1 / 2.32 of the time, by 1.75 times
    # that.
    for name, part in (("mean", 0.5), ("p99", 0.99)):
        within = round(0.01 + (1 - part) / 3 / (1 - 1 / ARTICLE["factor"]), 3)
        yield predicted(
            f"corrected_{name}_s", over, expected=waited(part, over), within=within,
            name=f"corrected {name} is the backlog's at {100 * part:g} %{by(over)}",
            because="requests are due at the target rate, and answered at the server's",
        )  # fmt: skip
    # With 64 connections that are always busy, the uncorrected latency is 64 / rate, and at most twice that by the bound above;
    # the corrected one is hundreds of times as long.
    yield ratio(
        "uncorrected_p50_s", over, of=ALONE, at_most=2, name=f"uncorrected, the overload hardly shows{by(over)}",
        because="each connection is answered as fast as at capacity; how late the request was sent is left out",
    )  # fmt: skip


overload.claims(*(each for over in (OVER, *INSTALLED) for each in claims(over)))


@overload.answer
def answer(run):
    over = run.at(OVER)
    return (
        f"After {SECONDS} s, 99 % of requests take up to {over.amount('corrected_p99_s')} from when they are due, and the "
        f"longer it lasts the longer they take; counted from when they were sent, it is {over.amount('uncorrected_p99_s')}."
    )
