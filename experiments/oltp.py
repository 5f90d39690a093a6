"""The article on network latency and transactions: sysbench's oltp_read_write, its database near and far."""

from slownet import published
from slownet.claim import predicted, round_trips_between
from slownet.experiment import experiment
from slownet.services.oltp import OltpDatabase
from slownet.slow_start import LAST_BYTE, round_trips
from slownet.tools.sysbench import oltp as sysbench
from slownet.topologies import TwoHosts

ARTICLE = published.oltp()
ROWS = 20_000  # the article's 5,000,000, scaled down; what a transaction asks for does not depend on it
# sysbench fills a packet of half a megabyte with rows of 194 bytes, (k, 'c of 119', 'pad of 59'), and sends it as one INSERT.
# That costs no more than slow start on a new connection does. The first one's does; the others have no handshake, which pays
# for the login and for the statements that make the table and its index.
PACKET = 512 * 1024
INSERTS = -(-ROWS * 194 // PACKET)
OF_AN_INSERT = round_trips(PACKET, until=LAST_BYTE, header_bytes=0)
TRANSACTIONS = {"1": 50, "10": 200, "50": 500}


def at(threads, rtt):
    return {"threads": threads, "rtt": rtt}


NEAR, FAR, FARTHER = "0.3ms", "10.3ms", "40.3ms"  # the base of 0.3 ms, and 10 and 40 ms more
CELLS = [at(threads, rtt) for threads in ("10", "1") for rtt in (NEAR, FAR, FARTHER)] + [at("50", FAR)]


# One block: with half the transactions, twice the part of them would be the end, when threads have none left.
@experiment(topology=TwoHosts, service=OltpDatabase, cells=CELLS, published=ARTICLE, tdf="100", blocks=1)
def oltp(net, database, threads, rtt):
    """What do 10 ms between a program and its database cost a transaction?"""
    with net.link("client", "server").set(rtt=rtt):
        return sysbench(
            net["client"], database.account, threads=int(threads), transactions=TRANSACTIONS[threads], rows=ROWS,
            statements=database.questions,
        )  # fmt: skip


def idle_at_the_end(threads):
    """The part of all threads' time at most that they have no transaction any more while the last one ends.

    They take theirs from one heap, so while the last one is under way each of the others misses one at most: one of its
    share and one.
    """
    return round(int(threads) / (TRANSACTIONS[threads] + int(threads)), 4)


oltp.claims(
    predicted(
        "queries_per_transaction", at("1", NEAR), expected=20, within=0, name="a transaction is 20 queries",
        because="14 reads, 4 writes, BEGIN and COMMIT",
    ),
    *(
        round_trips_between(
            "latency_min_ms", at(threads, rtt), of=at(threads, NEAR), expected=20, within=0.01,
            because="each query waits for the answer to the one before",
        )
        for threads, rtt in (("1", FAR), ("10", FAR), ("10", FARTHER))
    ),
    round_trips_between(
        "latency_min_ms", at("10", FAR), of=at("10", NEAR), expected=published.oltp_round_trips(ARTICLE), within=0.01,
        name="the article's round trips: 10.68 ms become 210.14", because="k belongs to the protocol, whatever the machine",
    ),
    *(
        predicted(
            "busy_threads", at(threads, FAR), expected=int(threads), within=idle_at_the_end(threads),
            name=f"rate times time is {threads} threads",
            because="Little's law: a thread has one transaction under way, so the rate is threads / latency; the article's "
            "own rate times its average is 50, not the 10 of its command",
        )
        for threads in ("1", "10", "50")
    ),
    round_trips_between(
        "prepare_ms", at("1", FAR), of=at("1", NEAR), at_most=INSERTS * OF_AN_INSERT, name="filling the table hardly suffers",
        because="one INSERT carries half a megabyte, thousands of rows: their number is one of statements, not of rows",
    ),
)  # fmt: skip
