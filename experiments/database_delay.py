"""The article's question, "is 10 ms a lot?", for the link between a web server and its database."""

from slownet import ClientWebDb, WordPress, ab, constant_round_trips, experiment, more_round_trips, round_trips
from slownet.theory import published
from slownet.theory.slow_start import CLOSE

ARTICLE = published.database_delay()
PAGE_TRIPS = round_trips(51_686, until=CLOSE, header_bytes=208)  # for the article's page, 51,894 bytes with the header


@experiment(topology=ClientWebDb, service=WordPress, vary={"rtt": ["0ms", "10ms", "40ms"]}, published=ARTICLE, blocks=4)
def database_delay(net, site, rtt):
    """How much slower is a WordPress page when its database is 10 or 40 ms away from the web server?"""
    with net.link("db", "switch").set(rtt=rtt):
        return ab(net["client"], site.url, requests=10)  # machines vary more from block to block than pages within one


database_delay.claims(
    # The number of queries per page depends on WordPress's version; that it is the same at any delay does not. The margin is
    # less than one of the article's 27 queries, so that one more or fewer would show: 1 / 27 is 3.7 %.
    constant_round_trips("time_per_request_ms", at=("10ms", "40ms"), within=0.03),
    # The article has 6.8 times as many; other versions send fewer queries, but at least 20.
    more_round_trips("time_per_request_ms", at_least=5, of="client_delay", otherwise=PAGE_TRIPS),
)
