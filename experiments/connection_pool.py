"""What a connection to a far database costs, and what a pool saves."""

from slownet import TwoHosts, experiment, round_trips_between
from slownet.reproductions.pooled import FarPostgreSQL
from slownet.tools.programs.statement_timer import CHECKED, KEPT, NEW

RTT = "100ms"
PLAIN, TLS = {"sslmode": "disable"}, {"sslmode": "require"}
# Round trips of a request that asks the database once. Sources: PostgreSQL 17, 53.2 "Message Flow" (SSLRequest; start-up and
# two for SCRAM-SHA-256), 53.2.11 and libpq's sslnegotiation (TLS without asking first); RFC 8446, 2 (TLS 1.3: one round trip);
# RFC 1035, 3.2.1 (an answer whose TTL is 0 is not cached); SQLAlchemy 2.0, pool_pre_ping (SELECT 1 before each use). Here with
# psycopg 3.2.6 with OpenSSL 3.5, Debian 13's.
WAYS = {
    "new": (5, NEW, PLAIN, "TCP, user, two for SCRAM-SHA-256, and the query"),
    "new, TLS": (8, NEW, TLS, "whether there is TLS, and TLS 1.3, twice: PostgreSQL 17 takes no key share but P-256's"),
    "new, TLS with P-256": (7, NEW, {**TLS, "group": "P-256"}, "the client's first key share is of the server's group"),
    "new, TLS at once": (7, NEW, {**TLS, "sslnegotiation": "direct"}, "nobody asks whether there is TLS"),
    "new, TLS, name with TTL 0": (9, NEW, {**TLS, "ttl": 0}, "the name is looked up for each connection"),
    "new, TLS, name with TTL 60": (8, NEW, {**TLS, "ttl": 60}, "the resolver remembers the name's address"),
    "pool": (1, KEPT, TLS, "the query alone"),
    "pool that checks": (2, CHECKED, TLS, "SELECT 1 before the query"),
}


@experiment(topology=TwoHosts, service=FarPostgreSQL, vary={"way": list(WAYS), "rtt": ["0ms", RTT]}, tdf="inf", blocks=1)
def connection_pool(net, database, way, rtt):
    """How many round trips does a request with one query take on a new connection, with TLS, by name, and from a pool?"""
    _, connection, parameters, _ = WAYS[way]
    with net.link("client", "server").set(rtt=rtt):
        return database.ask(connection, **parameters)


# The CPU is free, so round trips are exact; 1 % of one is 1 ms, and what the programs do without a delay takes less than that.
connection_pool.claims(
    *(
        round_trips_between(
            "statement_ms", {"way": way, "rtt": RTT}, of={"way": way, "rtt": "0ms"}, expected=trips, within=0.01, because=why,
            name=f"a request, {way}",
        )
        for way, (trips, _, _, why) in WAYS.items()
    ),
)  # fmt: skip


@connection_pool.answer
def answer(run):
    def trips(way):
        return f"{run.round_trips('statement_ms', {'way': way}):.2g}"

    return (
        f"{trips('new')} on a new connection, {trips('new, TLS')} with TLS, {trips('new, TLS, name with TTL 0')} if its "
        f"name is looked up each time; {trips('pool')} from a pool, {trips('pool that checks')} if that checks "
        "connections first."
    )
