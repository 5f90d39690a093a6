"""Gil Tene's thought experiment as a measurement: a server that answers for 100 s, and then stalls for 100 s."""

import math

from slownet import StaticPage, TwoHosts, ab, bound, experiment, predicted, wrk
from slownet.theory import published
from slownet.tools import steady
from slownet.tools.wrk import Plan, Stall, latencies, percentile

TENE = published.thought_experiment()
GOOD, STALL, RATE = TENE["good_seconds"], TENE["stall_seconds"], TENE["rate"]
LATE = 0.2  # seconds in which the programs start and connect
CONNECTIONS = 50  # enough that all waiting requests are answered right after the stall, as in the thought experiment
# wrk2 does not count requests before it has calibrated itself, or answers after its end; oha connects with its first request.
CALIBRATION = Plan(RATE, 0, CONNECTIONS, threads=1).calibrated_s
BEFORE, AFTER = {"wrk2": CALIBRATION, "oha": 1}, {"wrk2": 3}
CLOSED_LOOP = {
    # One connection over 10 ms sends 100 requests a second while it is answered.
    "wrk": lambda host, url: wrk(host, url, seconds=GOOD + STALL),
    "ab": lambda host, url: ab(host, url, requests=6_000),  # 20 ms each, with a new connection: 5,000 before the stall
}
OURS, *INSTALLED = ({"tool": name, "rtt": "1ms"} for name in steady.there())  # our own, and wrk2 and oha if installed
WRK, AB = {"tool": "wrk", "rtt": "10ms"}, {"tool": "ab", "rtt": "10ms"}


@experiment(
    topology=TwoHosts, service=StaticPage, cells=[OURS, WRK, AB, *INSTALLED], published=published.stall(OURS), tdf="inf"
)  # fmt: skip
def coordinated_omission(net, site, tool, rtt):
    """What do load testers report about a server that stalls half of the time?"""
    after = BEFORE.get(tool, 0) + GOOD + LATE
    with net.link("client", "server").set(rtt=rtt), site.stalls(after=after, seconds=STALL):
        if tool in CLOSED_LOOP:
            return CLOSED_LOOP[tool](net["client"], site.url)
        seconds = GOOD + STALL + AFTER.get(tool, 0)
        return steady.LOADS[tool](net["client"], site.url, rate=RATE, seconds=seconds, connections=CONNECTIONS)


def by(cell):
    """The program's name in a claim's name, if it is not our own."""
    return f" ({cell['tool']})" if cell in INSTALLED else ""


def wrk2_shows(sent_late):
    """What wrk2 prints in theory, by percentile and as "mean", if it sends each request so many seconds after it is due.

    Seconds before the stall and after it count, too, so that these are not quite Tene's numbers.
    """
    seconds = math.ceil(CALIBRATION + GOOD + STALL + AFTER["wrk2"])
    server = Stall(rtt=0.001, after=CALIBRATION + GOOD + LATE, seconds=STALL)
    plan = Plan(RATE, seconds, CONNECTIONS, threads=1)
    corrected, _ = latencies(plan, server, sent_late=sent_late)
    return {"mean": sum(corrected) / len(corrected)} | {
        shown: percentile(corrected, float(shown[1:])) for shown in ("p50", "p75", "p99.99")
    }


def corrected_claims(cell):
    """The claims about the latencies that one program counts from when requests were due."""
    because = "requests are due during the stall, too; the later in the stall, the shorter they wait"
    margins = {"mean": 0.01, "p75": 0.01, "p99.99": 0.01}
    if cell["tool"] == "wrk2":
        yield bound(
            "corrected_p50_s", cell, at_most=0.01,
            because="half of the requests see no stall, as Tene predicts; wrk2 sends them up to 2 ms after they are due",
        )  # fmt: skip
        expected = wrk2_shows(sent_late=0)
    else:
        margins["p50"], expected = 0.1, {shown: TENE[f"{shown}_s"] for shown in ("mean", "p50", "p75", "p99.99")}
    for shown, within in sorted(margins.items()):
        yield predicted(
            f"corrected_{shown}_s".replace(".", "_"), cell, expected=expected[shown], within=within,
            name=f"{shown} as Tene predicts{by(cell)}", because=because,
        )  # fmt: skip


# ab prints whole ms, and half of one is 2.5 % of 20.
coordinated_omission.claims(
    *(each for cell in (OURS, *INSTALLED) for each in corrected_claims(cell)),
    *(
        predicted(
            "uncorrected_p99_s", cell, expected=0.001, within=0.1,
            name=f"the same run, not corrected: 99 % take 1 ms{by(cell)}",
            because="each connection waits for its answer and sends nothing meanwhile, so 50 requests stand for 10,000",
        )
        for cell in (OURS, *INSTALLED)
    ),
    predicted(
        "uncorrected_p99_s", WRK, expected=0.010, within=0.1, name="wrk: 99 % take one round trip",
        because="wrk sees the stall of 100 s as one slow request of 10,000",
    ),
    predicted(
        "time_p99_ms", AB, expected=20, within=0.03, name="ab: 99 % take two round trips",
        because="a request takes a handshake and an answer; ab sees the stall as one slow request of 6,000",
    ),
)  # fmt: skip


@coordinated_omission.answer
def answer(run):
    own, wrk_, ab_ = (run.at(each) for each in (OURS, WRK, AB))
    return (
        "Those that count from when a request was sent report that 99 % take "
        f"{own.amount('uncorrected_p99_s')} over a link of 1 ms, {wrk_.amount('uncorrected_p99_s')} (wrk) and "
        f"{ab_.amount('time_p99_ms')} (ab) over one of 10 ms, as if nothing had happened. Counted from when it was due, 99 % "
        f"take up to {own.amount('corrected_p99_s')}."
    )
