"""Gil Tene's thought experiment, done: a server that answers well for 100 s and then stands still for 100 s."""

from slownet import published
from slownet.claim import predicted
from slownet.experiment import experiment
from slownet.services.page import StaticPage
from slownet.tools.ab import ab
from slownet.tools.constant_rate import constant_rate
from slownet.tools.wrk import wrk
from slownet.topologies import TwoHosts

SAID = published.thought_experiment()
GOOD, STALL, RATE = SAID["good_seconds"], SAID["stall_seconds"], SAID["rate"]
TOOLS = {
    # A hundred connections, so that what waits is answered within a moment of the stall's end, as in the thought.
    "constant_rate": lambda host, url: constant_rate(host, url, rate=RATE, seconds=GOOD + STALL, connections=100),
    # One connection over 10 ms asks 100 times a second as long as it is answered.
    "wrk": lambda host, url: wrk(host, url, seconds=GOOD + STALL),
    "ab": lambda host, url: ab(host, url, requests=6_000),  # each on a new connection: 20 ms, so 5,000 before the stall
}
OURS, WRK, AB = {"tool": "constant_rate", "rtt": "1ms"}, {"tool": "wrk", "rtt": "10ms"}, {"tool": "ab", "rtt": "10ms"}


@experiment(topology=TwoHosts, service=StaticPage, cells=[OURS, WRK, AB], published=published.stall(OURS), tdf="inf")
def coordinated_omission(net, site, tool, rtt):
    """What do load testers say of a server that stands still half of the time?"""
    # The stall is late by 0.2 s, in which the programs start and connect.
    with net.link("client", "server").set(rtt=rtt), site.stalls(after=GOOD + 0.2, seconds=STALL):
        return TOOLS[tool](net["client"], site.url)


coordinated_omission.claims(
    *(
        predicted(
            f"corrected_{name}_s", OURS, SAID[f"{said}_s"], within, name=f"{said} as Tene says",
            because="requests go on being due while the server stands still, and who asks late in the stall waits less",
        )
        for name, said, within in (
            ("mean", "mean", 0.03), ("p50", "p50", 0.1), ("p75", "p75", 0.01), ("p99_99", "p99.99", 0.01),
        )
    ),
    predicted(
        "uncorrected_p99_s", OURS, 0.001, within=0.1, name="the same run, not corrected: 99 % take 1 ms",
        because="each connection waits for its answer and asks nothing meanwhile, so 100 requests stand for 10,000",
    ),
    predicted(
        "uncorrected_p99_s", WRK, 0.010, within=0.1, name="wrk: 99 % take one round trip",
        because="a stall of 100 s is one slow request of 10,000 to it",
    ),
    predicted(
        "time_p99_ms", AB, 20, within=0.1, name="ab: 99 % take two round trips",
        because="a new connection's handshake and its answer; the stall is one slow request of 6,000 to it",
    ),
)  # fmt: skip
