"""A page of 517 queries on its own machine and over a LAN: Drupal's 999.81 ms, over a ping of 0.16 ms."""

from slownet import ClientWebDb, bound, experiment, law, predicted
from slownet.reproductions.queried_page import PREPARED, TEXT, QueriedPage
from slownet.theory import published

PUBLISHED = published.database("many_queries")
QUERIES = 517
RTTS = {"0ms": 0, "0.16ms": 0.16, "1ms": 1, "10ms": 10}
# PHP waits for each answer before it sends the next query (MariaDB's protocol, COM_QUERY). One that is prepared waits twice, to
# be prepared and to be run (COM_STMT_PREPARE, COM_STMT_EXECUTE); that it is closed has no answer. PHP 8.4's mysqlnd and
# MariaDB 11.8, Debian 13's; `slownet costs mysqli` has each call.
TRIPS = {TEXT: 1, PREPARED: 2}


# One block: a page of 517 queries cannot be divided.
@experiment(
    topology=ClientWebDb, service=QueriedPage, vary={"query": list(TRIPS), "rtt": list(RTTS)}, published=PUBLISHED, tdf="inf",
    blocks=1,
)  # fmt: skip
def many_queries(net, page, query, rtt):
    """How much longer does a page of 517 queries take when its database is on another machine?"""
    with net.link("db", "switch").set(rtt=rtt):
        return page.load(net["client"], queries=QUERIES, way=query)


def away(query, ms):
    """The page near the database, and the round trips of each query."""
    return lambda run: run.at({"query": query, "rtt": "0ms"}).summary("page_s") + TRIPS[query] * QUERIES * ms / 1000


# The CPU is free, so that is exact; but over 0.16 ms the microseconds of a query's switches between programs count.
many_queries.claims(
    *(law("query_ms", round_trips=trips, within=0.01, at={"query": query}) for query, trips in TRIPS.items()),
    *(
        predicted(
            "page_s", {"query": query, "rtt": rtt}, expected=away(query, ms), within=0.01 if ms >= 1 else 0.03,
            because=f"{QUERIES} queries wait for {rtt} {('once', 'twice')[trips - 1]} each",
        )
        for query, trips in TRIPS.items()
        for rtt, ms in RTTS.items()
        if ms
    ),
    bound(
        "page_s", {"query": TEXT, "rtt": "0.16ms"}, at_most=PUBLISHED["rows"][1]["page_s"] / 10,
        because=f"{QUERIES} round trips of 0.16 ms are 83 ms: the ping explains less than a tenth of Drupal's time",
    ),
)  # fmt: skip


@many_queries.answer
def answer(run):
    def times(query):
        found = (f"{run.at({'query': query, 'rtt': rtt}).amount('page_s')} over {ms:g} ms" for rtt, ms in RTTS.items() if ms)
        return ", ".join(found)

    return f"Its queries take {times(TEXT)}: a round trip each. Prepared first, two: {times(PREPARED)}."
