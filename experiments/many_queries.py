"""A page of 517 queries on its own machine and over a LAN: Drupal's 999.81 ms, over a ping of 0.16 ms."""

from slownet import ClientWebDb, MariaDB, bound, experiment, law, predicted
from slownet.theory import published
from slownet.tools.php_page import php_page

PUBLISHED = published.database("many_queries")
QUERIES = 517
RTTS = {"0ms": 0, "0.16ms": 0.16, "1ms": 1, "10ms": 10}
LAN = {"rtt": "0.16ms"}


# One block: a page of 517 queries cannot be divided.
@experiment(
    topology=ClientWebDb, service=lambda net, directory: MariaDB(net["db"], directory), vary={"rtt": list(RTTS)},
    published=PUBLISHED, tdf="inf", blocks=1,
)  # fmt: skip
def many_queries(net, database, rtt):
    """How much longer does a page of 517 queries take when its database is on another machine?"""
    with net.link("db", "switch").set(rtt=rtt):
        return php_page(net["web"], database.host.IP(), queries=QUERIES)


many_queries.differs(MariaDB.chance)


def away(ms):
    """The page near the database, and a round trip for each query."""
    return lambda run: run.at({"rtt": "0ms"}).summary("page_s") + QUERIES * ms / 1000


# PHP waits for each answer before it sends the next query (MariaDB's protocol, COM_QUERY). The CPU is free, so that is exact.
many_queries.claims(
    law("query_ms", round_trips=1, within=0.01),
    *(
        predicted("page_s", {"rtt": rtt}, expected=away(ms), within=0.01, because=f"{QUERIES} queries wait for {rtt} each")
        for rtt, ms in RTTS.items()
        if ms
    ),
    bound(
        "page_s", LAN, at_most=PUBLISHED["rows"][1]["page_s"] / 10,
        because=f"{QUERIES} round trips of 0.16 ms are 83 ms: the ping explains less than a tenth of Drupal's time",
    ),
)  # fmt: skip


@many_queries.answer
def answer(run):
    times = (f"{run.at({'rtt': rtt}).amount('page_s')} over {ms:g} ms" for rtt, ms in RTTS.items() if ms)
    return f"Its queries take {', '.join(times)}: a round trip each."
