"""Cures for a far reader or a far database: the articles' advice, and what engineers would add."""

from contextlib import nullcontext

from slownet import ClientEdgeWebDb, ab, experiment, predicted, ratio, round_trips, round_trips_between
from slownet.model.units import amount
from slownet.reproductions.cured import CuredSite
from slownet.theory.slow_start import CLOSE

LINKS = {"far database": ("db", "far"), "far reader": ("near", "far")}
PAGE = "time_per_request_ms"
KEPT = 100  # requests on one connection
PAGE_TRIPS = round_trips(51_686, until=CLOSE, header_bytes=208)  # for the article's page, 51,894 bytes with the header


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
    """Which cures help a page whose database is 10 ms away, or whose reader is 40 ms away?"""
    cure, _, keep_alive = cure.partition(" with ")
    with site.cured(cure) as url, net.link(*LINKS[harm]).set(rtt=rtt) if harm in LINKS else nullcontext():
        return ab(net["client"], url, requests=KEPT if keep_alive else 25, keep_alive=bool(keep_alive))


def on_a_kept_connection(run):
    """The time of the page without a cure, minus one or two round trips of 10 ms.

    The handshake is saved always. WordPress's longest answer, 30 kB, is more than a new window of ten segments holds, so it
    takes two round trips, and only one if the window is as the page before left it. It is a new one again when the connection
    was idle for longer than its timeout (RFC 5681, 4.1), 200 ms and a round trip, which depends on the worker's turn.
    """
    return run.at(cell("far database", "none")).summary(PAGE) - 15


# The CPU is free, so round trips by theory are exact; 1 % allows for what the programs do in the 0.2 ms of a page. Half a round
# trip on both sides of one and a half is another 2 %.
cures.claims(
    round_trips_between(
        PAGE, cell("far database", "varnish"), of=CACHED, at_most=0.01, name="Varnish removes the database's delay",
        because="a cached page needs no query",
    ),
    # How many of a page's queries a cache answers depends on WordPress, so these are bounds: at most half, at least twice.
    ratio(
        PAGE, cell("far database", "memcached"), of=cell("far database", "none"), at_most=0.5,
        because="memcached on the web server's host replaces queries to the database",
    ),
    predicted(
        PAGE, cell("far database", "persistent connections"), expected=on_a_kept_connection, within=0.03,
        name="A persistent connection saves one or two round trips",
        because="TCP's handshake is saved, and at times slow start; the worker still logs in, and all queries remain",
    ),
    ratio(
        PAGE, cell("far database", "memcached beside the database"), of=cell("far database", "memcached"), at_least=2,
        because="a cache as far away as the database is queried over the same link, key by key",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish"), of=CACHED, expected=PAGE_TRIPS, within=0.01,
        because="a cache on the far side answers at once, but the page still needs the handshake and slow start",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish with keep-alive"), of=CACHED,
        expected=(PAGE_TRIPS + KEPT - 1) / KEPT, within=0.02,
        because="handshake and slow start are needed only for the first of a hundred pages on a connection",
    ),
    round_trips_between(
        PAGE, cell("far reader", "varnish near the reader"), of=CACHED, at_most=0.01,
        because="a page from a cache on the reader's side does not cross the slow link",
    ),
)  # fmt: skip


@cures.answer
def answer(run):
    def longer(harm, cure, base=HEALTHY):
        slower = run.at(cell(harm, cure)).summary(PAGE).mean - run.at(base).summary(PAGE).mean
        return amount(slower, "ms") if abs(slower) >= 0.1 else "nothing"

    kept = longer("far reader", "varnish with keep-alive", CACHED)
    return (
        f"A database 10 ms away makes a page {longer('far database', 'none')} slower; memcached leaves "
        f"{longer('far database', 'memcached')} of that, Varnish {longer('far database', 'varnish', CACHED)}. A reader 40 ms "
        f"away makes it {longer('far reader', 'none')} slower; connections that are kept leave {kept}, and Varnish near the "
        f"reader {longer('far reader', 'varnish near the reader', CACHED)}."
    )
