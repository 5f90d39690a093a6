"""The article's question, "is 10 ms a lot?", for the link between a web site and its reader."""

from slownet import ClientWebDb, WordPress, ab, experiment, law, published_times, round_trips
from slownet.theory import published
from slownet.theory.slow_start import CLOSE

ARTICLE = published.client_delay()


@experiment(
    topology=ClientWebDb, service=WordPress, vary={"rtt": ["0ms", "10ms", "40ms", "120ms"]}, published=ARTICLE, blocks=4
)  # fmt: skip
def client_delay(net, site, rtt):
    """How much slower is a WordPress page when its reader is 10, 40 or 120 ms away?"""
    with net.link("client", "switch").set(rtt=rtt):
        return ab(net["client"], site.url, requests=10)  # machines vary more from block to block than pages within one


def page_round_trips(run):
    """The handshake, then slow start with 10, 20 and the remaining segments; ab waits until the connection is closed."""
    return round_trips(run.fact("document_length"), until=CLOSE, header_bytes=run.fact("header_length"))


client_delay.claims(
    # The theoretical k is exact. CPU time may overlap with waiting, at most all of T0: 23 ms, 5 % of 480 ms at 120 ms of delay.
    law("time_per_request_ms", round_trips=page_round_trips, within=0.05),
    # The same law with the article's numbers: T0 belongs to the article's machine, k to the protocol. This is not independent
    # evidence for the law; it says that the article's times have this k, so it has the law's margin.
    published_times(
        "time_per_request_ms", t0_ms=ARTICLE["rows"][0]["time_per_request_ms"], times_ms=published.times(ARTICLE), within=0.05
    ),
)
