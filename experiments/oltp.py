"""The article on network latency and transactions: sysbench's oltp_read_write on a near and a far database."""

from slownet import OltpDatabase, TwoHosts, experiment, predicted, round_trips, round_trips_between
from slownet import oltp as sysbench
from slownet.model.units import amount
from slownet.theory import published
from slownet.theory.slow_start import LAST_BYTE

ARTICLE = published.oltp()
ROWS = 20_000  # 5,000,000 in the article; the queries of a transaction do not depend on it
# sysbench fills a packet of half a megabyte with rows of 194 bytes, (k, 'c of 119', 'pad of 59'), and sends it as one INSERT.
# Each INSERT takes at most the round trips of slow start on a new connection. Only the first one needs a handshake; what the
# others save covers the login and the statements that make the table and its index.
PACKET = 512 * 1024
INSERTS = -(-ROWS * 194 // PACKET)
OF_AN_INSERT = round_trips(PACKET, until=LAST_BYTE, header_bytes=0)
TRANSACTIONS = {"1": 50, "10": 200, "50": 500}


def at(threads, rtt):
    return {"threads": threads, "rtt": rtt}


NEAR, FAR, FARTHER = "0.3ms", "10.3ms", "40.3ms"  # a base of 0.3 ms, and 10 and 40 ms more
CELLS = [at(threads, rtt) for threads in ("10", "1") for rtt in (NEAR, FAR, FARTHER)] + [at("50", FAR)]


# One block: with half the transactions, the end, when some threads have none left, would weigh twice as much.
@experiment(topology=TwoHosts, service=OltpDatabase, cells=CELLS, published=ARTICLE, tdf="100", blocks=1)
def oltp(net, database, threads, rtt):
    """What do 10 ms between a program and its database cost a transaction?"""
    with net.link("client", "server").set(rtt=rtt):
        return sysbench(
            net["client"], database.account, threads=int(threads), transactions=TRANSACTIONS[threads], rows=ROWS,
            statements=database.questions,
        )  # fmt: skip


def idle_at_the_end(threads):
    """The largest possible fraction of the threads' time in which they have no transaction left.

    All threads take from the same number of transactions. So while the last one runs, each other thread misses at most one:
    one of its share plus one.
    """
    return round(int(threads) / (TRANSACTIONS[threads] + int(threads)), 4)


oltp.claims(
    predicted(
        "queries_per_transaction", at("1", NEAR), expected=20, within=0, name="A transaction is 20 queries",
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
        name="The article's round trips: 10.68 ms become 210.14", because="k belongs to the protocol, not to the machine",
    ),
    *(
        predicted(
            "busy_threads", at(threads, FAR), expected=int(threads), within=idle_at_the_end(threads),
            name=f"Rate times latency is the number of threads, {threads}",
            because="Little's law: a thread has one transaction in progress, so the rate is threads / latency; in the article "
            "rate times average is 50, though its command states 10 threads",
        )
        for threads in ("1", "10", "50")
    ),
    round_trips_between(
        "prepare_ms", at("1", FAR), of=at("1", NEAR), at_most=INSERTS * OF_AN_INSERT,
        name="Filling the table takes few more round trips",
        because="one INSERT carries half a megabyte, thousands of rows, so few statements wait for an answer",
    ),
)  # fmt: skip


@oltp.answer
def answer(run):
    near, far = (run.at(at("1", rtt)).summary("latency_min_ms").mean for rtt in (NEAR, FAR))
    queries = run.at(at("1", NEAR)).summary("queries_per_transaction").mean
    return (
        f"{amount(far - near, 'ms')}: a transaction has {queries:.3g} queries, and each of them waits for the answer to the "
        f"one before. It takes {amount(far, 'ms')} instead of {amount(near, 'ms')}."
    )
