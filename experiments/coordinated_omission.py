"""Gil Tene's thought experiment, done: a server that answers well for 100 s and then stands still for 100 s."""

from slownet import published
from slownet.claim import predicted
from slownet.experiment import experiment
from slownet.services.page import StaticPage
from slownet.tools import steady
from slownet.tools.ab import ab
from slownet.tools.wrk import CALIBRATION_S, wrk
from slownet.topologies import TwoHosts

SAID = published.thought_experiment()
GOOD, STALL, RATE = SAID["good_seconds"], SAID["stall_seconds"], SAID["rate"]
LATE = 0.2  # in which the programs start and connect
CONNECTIONS = 50  # so many that what waits is answered within a moment of the stall's end, as in the thought
# wrk2 calibrates itself first and counts nothing until it has, and nothing that is answered after its end; oha connects
# when it first asks.
BEFORE, AFTER = {"wrk2": CALIBRATION_S, "oha": 1}, {"wrk2": 1}
ASKING = {
    # One connection over 10 ms asks 100 times a second as long as it is answered.
    "wrk": lambda host, url: wrk(host, url, seconds=GOOD + STALL),
    "ab": lambda host, url: ab(host, url, requests=6_000),  # each on a new connection: 20 ms, so 5,000 before the stall
}
OURS, *BROUGHT = ({"tool": name, "rtt": "1ms"} for name in steady.there())  # beside ours wrk2 and oha where they are
WRK, AB = {"tool": "wrk", "rtt": "10ms"}, {"tool": "ab", "rtt": "10ms"}


@experiment(
    topology=TwoHosts, service=StaticPage, cells=[OURS, WRK, AB, *BROUGHT], published=published.stall(OURS), tdf="inf"
)  # fmt: skip
def coordinated_omission(net, site, tool, rtt):
    """What do load testers say of a server that stands still half of the time?"""
    after = BEFORE.get(tool, 0) + GOOD + LATE
    with net.link("client", "server").set(rtt=rtt), site.stalls(after=after, seconds=STALL):
        if tool in ASKING:
            return ASKING[tool](net["client"], site.url)
        seconds = GOOD + STALL + AFTER.get(tool, 0)
        return steady.LOADS[tool](net["client"], site.url, rate=RATE, seconds=seconds, connections=CONNECTIONS)


def by(cell):
    """Which program, for one that was brought."""
    return f" ({cell['tool']})" if cell in BROUGHT else ""


# A time of 1 ms is as exact as wrk2 counts, to a tenth of it; ab prints whole ms, and half of one in 20 is 2.5 %.
# A time of 1 ms is as exact as wrk2 counts, to a tenth of it; ab prints whole ms, and half of one in 20 is 2.5 %.
coordinated_omission.claims(
    *(
        predicted(
            f"corrected_{name}_s", cell, expected=SAID[f"{said}_s"], within=within, name=f"{said} as Tene says{by(cell)}",
            because="requests go on being due while the server stands still, and who asks late in the stall waits less",
        )
        for cell in (OURS, *BROUGHT)
        for name, said, within in (
            ("mean", "mean", 0.01), ("p50", "p50", 0.1), ("p75", "p75", 0.01), ("p99_99", "p99.99", 0.01),
        )
    ),
    *(
        predicted(
            "uncorrected_p99_s", cell, expected=0.001, within=0.1,
            name=f"the same run, not corrected: 99 % take 1 ms{by(cell)}",
            because="each connection waits for its answer and asks nothing meanwhile, so 50 requests stand for 10,000",
        )
        for cell in (OURS, *BROUGHT)
    ),
    predicted(
        "uncorrected_p99_s", WRK, expected=0.010, within=0.1, name="wrk: 99 % take one round trip",
        because="a stall of 100 s is one slow request of 10,000 to it",
    ),
    predicted(
        "time_p99_ms", AB, expected=20, within=0.03, name="ab: 99 % take two round trips",
        because="a new connection's handshake and its answer; the stall is one slow request of 6,000 to it",
    ),
)  # fmt: skip
