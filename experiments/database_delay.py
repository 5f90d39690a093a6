"""The article's question, "is 10 ms a lot?", asked for the link between a web server and its database."""

from slownet import published
from slownet.claim import constant_round_trips, more_round_trips
from slownet.experiment import experiment
from slownet.services.wordpress import WordPress
from slownet.slow_start import CLOSE, round_trips
from slownet.tools.ab import ab
from slownet.topologies import ClientWebDb

ARTICLE = published.database_delay()
PAGE_TRIPS = round_trips(51_686, until=CLOSE, header_bytes=208)  # of the article's page: 51,894 bytes with its header


@experiment(topology=ClientWebDb, service=WordPress, vary={"rtt": ["0ms", "10ms", "40ms"]}, published=ARTICLE, blocks=4)
def database_delay(net, site, rtt):
    """How much slower is a WordPress page when its database is 10 or 40 ms away from the web server?"""
    with net.link("db", "switch").set(rtt=rtt):
        return ab(net["client"], site.url, requests=25)  # a hundred in a boot's four blocks


database_delay.claims(
    # How many queries a page takes belongs to WordPress's version, that each costs the same at any delay does not. The margin
    # is less than one query of the article's 27, so that one more or fewer would show: 1 / 27 is 3.7 %.
    constant_round_trips("time_per_request_ms", at=("10ms", "40ms"), within=0.03),
    # The article's are 6.8 times as many; other versions ask less often, but not less than 20 times.
    more_round_trips("time_per_request_ms", at_least=5, of="client_delay", otherwise=PAGE_TRIPS),
)
