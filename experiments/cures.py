"""What helps: the articles' advice, and what engineers would add, against a reader or a database that is far away."""

from contextlib import nullcontext

from slownet.claim import predicted, ratio, round_trips_between
from slownet.experiment import experiment
from slownet.services.cured import CuredSite
from slownet.slow_start import CLOSE, round_trips
from slownet.tools.ab import ab
from slownet.topologies import ClientEdgeWebDb

CABLES = {"far database": ("db", "far"), "far reader": ("near", "far")}
PAGE = "time_per_request_ms"
KEPT = 100  # requests on one connection
PAGE_TRIPS = round_trips(51_686, until=CLOSE, header_bytes=208)  # of the article's page: 51,894 bytes with its header


def cell(harm, cure):
    return {"harm": harm, "rtt": {"far database": "10ms", "far reader": "40ms"}.get(harm, "0ms"), "cure": cure}


HEALTHY, CACHED = cell("none", "none"), cell("none", "varnish")
DATABASE = [
    "none", "persistent connections", "memcached", "memcached and persistent connections", "memcached beside the database",
    "varnish",
]  # fmt: skip
READER = ["none", "varnish", "varnish with keep-alive", "varnish near the reader"]
CELLS = [HEALTHY, CACHED, *(cell("far database", cure) for cure in DATABASE), *(cell("far reader", cure) for cure in READER)]


@experiment(topology=ClientEdgeWebDb, service=CuredSite, cells=CELLS, tdf="inf")
def cures(net, site, harm, rtt, cure):
    """What brings a page back whose database is 10 ms away, or whose reader is 40 ms away?"""
    cure, _, keep_alive = cure.partition(" with ")
    with site.cured(cure) as url, net.link(*CABLES[harm]).set(rtt=rtt) if harm in CABLES else nullcontext():
        return ab(net["client"], url, requests=KEPT if keep_alive else 25, keep_alive=bool(keep_alive))


def without_a_handshake(run):
    """The page without a cure, less one round trip of 10 ms."""
    return run.at(cell("far database", "none")).summary(PAGE) - 10


# The CPU is free: what theory counts in round trips is exact, and 1 % is room for what the programs do in 0.2 ms of page.
cures.claims(
    round_trips_between(
        PAGE, cell("far database", "varnish"), of=CACHED, at_most=0.01, name="Varnish makes the database's delay vanish",
        because="a page that is kept asks nobody",
    ),
    # How many of the page's questions a cache answers belongs to WordPress: bounds, half of them or twice as many.
    ratio(
        PAGE, cell("far database", "memcached"), of=cell("far database", "none"), at_most=0.5,
        because="memcached answers on the web server's own host what the database would be asked for",
    ),
    predicted(
        PAGE, cell("far database", "persistent connections"), expected=without_a_handshake, within=0.01,
        name="a kept connection saves one",
        because="TCP's handshake is saved, but the worker logs in anew and every query remains",
    ),
    ratio(
        PAGE, cell("far database", "memcached beside the database"), of=cell("far database", "memcached"), at_least=2,
        because="a cache as far away as the database is asked over the same cable, key by key",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish"), of=CACHED, expected=PAGE_TRIPS, within=0.01,
        because="a cache on the far side answers at once, but the page still needs its handshake and its slow start",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish with keep-alive"), of=CACHED,
        expected=(PAGE_TRIPS + KEPT - 1) / KEPT, within=0.02,
        because="a connection that is kept has shaken hands, and its window holds the page: only the first of a hundred pays",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish near the reader"), of=CACHED, at_most=0.01,
        because="what a cache on the reader's side has does not travel",
    ),
)  # fmt: skip
