"""The article on coordinated omission: nginx, asked for 2.32 times what it manages."""

from slownet import published
from slownet.claim import predicted, times
from slownet.experiment import experiment
from slownet.services.page import StaticPage
from slownet.tools.constant_rate import constant_rate
from slownet.tools.wrk import has_wrk2, wrk2
from slownet.topologies import TwoHosts

ARTICLE = published.overload()
CONNECTIONS = 64  # the article had 60,000, on a machine of 32 threads
SECONDS, CALIBRATION = (30, 10) if has_wrk2() else (2, 0)  # 60 in the article; wrk2 leaves its calibration out
ALONE, OVER = {"load": "capacity"}, {"load": "2.32 times"}


@experiment(topology=TwoHosts, service=StaticPage, cells=[ALONE, OVER], published=ARTICLE)
def overload(net, site, load):
    """How long does a request take when 2.32 times as many are due as the server manages?"""
    # What it manages: far more is due at once than any server could answer.
    capacity = constant_rate(net["client"], site.url, rate=1e6, seconds=0.005, connections=CONNECTIONS)
    if load == "capacity":
        return capacity
    rate = ARTICLE["factor"] * capacity.answered_per_s
    load_at = wrk2 if has_wrk2() else constant_rate
    return load_at(net["client"], site.url, rate=rate, seconds=SECONDS, connections=CONNECTIONS)


def waited(part):
    """How long that part of the requests waited at most if the server worked through them in turn, in seconds.

    Whoever asks at the time t waits until the server has done what was due before: t times the overload, less t.
    """

    def seconds(run):
        served = {kind: run.cells[1].summary(f"{kind}_per_s").mean for kind in ("answered", "target")}
        factor = served["target"] / served["answered"]
        return (CALIBRATION + part * (SECONDS - CALIBRATION)) * (factor - 1)

    return seconds


overload.claims(
    times(
        "answered_per_s", OVER, against=ALONE, least=0.6, most=1.6,
        because="a server that is asked for more than it manages goes on at what it manages",
    ),
    *(
        predicted(
            f"corrected_{name}_s", OVER, waited(part), within, name=f"corrected {name} is the backlog's at {100 * part:g} %",
            because="what is due goes on growing at the target's rate, and is answered at the server's",
        )
        # Only the end is sure: how fast the backlog grows before it changes with what else the machine does.
        for name, part, within in (("mean", 0.5, 0.25), ("p90", 0.9, 0.15), ("p99", 0.99, 0.1))
    ),
    times(
        "uncorrected_p50_s", OVER, against=ALONE, least=0.3, most=3, name="uncorrected, the overload hardly shows",
        because="each connection is answered as fast as at capacity: how late it asked is left out",
    ),
)  # fmt: skip
