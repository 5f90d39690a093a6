"""What does a query cost? Round trips of the ways in which applications ask databases and brokers."""

from slownet import TwoHosts, experiment, round_trips_between
from slownet.reproductions.stores import Stores

RTT = "100ms"
# A new connection, and the first answer of those that connect with the first question. Sources: PostgreSQL 17, 53.2 "Message
# Flow"; the MariaDB protocol's connection phase; what PyMySQL 1.1 and redis-py 6 (on_connect) send then; RFC 9113, 3.4: gRPC's
# clients wait for the server's SETTINGS. The clients are Debian 13's: psycopg 3.2.6, PyMySQL 1.1.1, redis-py 6.1.0 and grpcio
# 1.51.1. `slownet costs` has newer ones: redis-py 8.1 takes 6 round trips, PyMySQL 1.2 one more with TLS.
CONNECT = {
    "postgresql": (5, "TCP, the question whether there is TLS, user, and two for SCRAM-SHA-256"),
    "mariadb": (4, "TCP, the server's greeting, the login, and PyMySQL's SET NAMES"),
    "redis": (4, "TCP, two times redis-py's CLIENT SETINFO, and PING"),
    "grpc": (3, "TCP, the server's SETTINGS, and a call"),
}
ASKED = {
    "postgresql": {
        "query": (1, "question and answer"),
        "new_prepared": (2, "a new statement is prepared, then executed"),
        "prepared": (1, "the statement is known"),
        "transaction": (4, "BEGIN, SELECT, UPDATE, COMMIT, one after the other"),
        "transaction_in_a_pipeline": (1, "nothing waits for an answer until all is sent"),
        "transaction_block_in_a_pipeline": (4, "psycopg's transaction() nests two pipelines, and each end of one waits"),
        "ten_queries": (10, "each waits for its answer"),
        "ten_queries_in_a_pipeline": (1, "none waits"),
        "ten_rows": (1, "executemany uses the pipeline"),
    },
    "mariadb": {
        "query": (1, "question and answer"),
        "transaction": (4, "BEGIN, SELECT, UPDATE, COMMIT, one after the other"),
        "ten_queries": (10, "each waits for its answer"),
        "ten_rows": (1, "PyMySQL's executemany makes one INSERT of them"),
    },
    "redis": {
        "query": (1, "question and answer"),
        "transaction": (1, "MULTI, ten GET and EXEC are sent together"),
        "watched_transaction": (3, "WATCH, GET, then MULTI, SET and EXEC together"),
        "ten_queries": (10, "each waits for its answer"),
        "ten_queries_in_a_pipeline": (1, "none waits"),
    },
    "grpc": {
        "query": (1, "call and answer"),
        "ten_queries": (10, "each waits for its answer"),
        "five_queries_at_once": (1, "streams of one connection, and all calls fit into its window of ten segments"),
    },
}


@experiment(topology=TwoHosts, service=Stores, vary={"system": list(ASKED), "rtt": ["0ms", RTT]}, tdf="inf", blocks=1)
def query_cost(net, stores, system, rtt):
    """How many round trips does a query cost, a transaction, a new connection?"""
    with net.link("client", "server").set(rtt=rtt):
        return stores.ask(system)


# The CPU is free, so round trips are exact; 1 % of one is 1 ms, and what the programs do without a delay takes less than that.
query_cost.claims(
    *(
        round_trips_between(
            f"{way}_ms", {"system": system, "rtt": RTT}, of={"system": system, "rtt": "0ms"}, expected=trips, within=0.01,
            because=why, name=f"{system}: {way.replace('_', ' ')}",
        )
        for system, ways in ASKED.items()
        for way, (trips, why) in {"connect": CONNECT[system], **ways}.items()
    ),
)  # fmt: skip


@query_cost.answer
def answer(run):
    def trips(way):
        counts = {}
        for system, ways in ASKED.items():
            if way in ("connect", *ways):
                counts[system] = f"{run.round_trips(f'{way}_ms', {'system': system}):.2g}"
        if len(set(counts.values())) == 1:
            return next(iter(counts.values()))
        return ", ".join(f"{system} {count}" for system, count in counts.items())

    return f"A query: {trips('query')}. A transaction: {trips('transaction')}. A new connection: {trips('connect')}."
