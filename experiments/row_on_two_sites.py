"""A row that MariaDB keeps on two sites, 85 or 100 ms apart: asynchronously, semi-synchronously, and in a cluster of Galera."""

from slownet import PrimaryReplicas, bound, experiment, predicted
from slownet.reproductions.replicated_rows import GALERA, NONE, SEMI, ReplicatedRows
from slownet.theory import published

APART = {"85ms": 85, "100ms": 100}
CELLS = [{"kept": by, "rtt": rtt} for by in (NONE, SEMI, GALERA) for rtt in ("0ms", *APART)]


# One block: servers are started for each cell. The writer is on the first server's host, all others are on the other site.
@experiment(
    topology=PrimaryReplicas, service=ReplicatedRows, cells=CELLS, published=published.database("row_on_two_sites"), tdf="inf",
    blocks=1,
)  # fmt: skip
def row_on_two_sites(net, rows, kept, rtt):
    """How long does MariaDB take to insert a row that is kept on two sites, 85 or 100 ms apart?"""
    with rows.kept(kept), net.link("primary", "switch").set(rtt=rtt):
        return rows.insert()


# Sources: MariaDB, "Semisynchronous replication" (AFTER_SYNC: the commit waits for one acknowledgement); Galera Cluster,
# "Certification-based replication": a write set has its place in the order of all when every member has confirmed it.
WAITS = {SEMI: "to a replica's log and back: 1 round trip", GALERA: "all members confirm the write set: 1 round trip"}

row_on_two_sites.differs(ReplicatedRows.chance)

# The CPU is free, so times in round trips are exact; 1 % of one is 1 ms, and what the programs do without a delay takes less.
row_on_two_sites.claims(
    *(
        predicted("statement_ms", {"kept": by, "rtt": rtt}, expected=ms, within=0.01, because=because)
        for by, because in WAITS.items()
        for rtt, ms in APART.items()
    ),
    *(bound("statement_ms", {"kept": NONE, "rtt": rtt}, at_most=1, because="the commit does not wait") for rtt in APART),
    bound("statement_ms", {"kept": GALERA, "rtt": "0ms"}, at_most=1, because="on one site all members are near"),
)


@row_on_two_sites.answer
def answer(run):
    def time(by, rtt="100ms"):
        return run.at({"kept": by, "rtt": rtt}).amount("statement_ms")

    writes = 1000 / run.at({"kept": SEMI, "rtt": "85ms"}).summary("statement_ms").mean
    return (
        f"Over 100 ms {time(NONE)} asynchronously, {time(SEMI)} semi-synchronously, {time(GALERA)} with Galera on both sites "
        f"and {time(GALERA, '0ms')} on one. Over 85 ms a semi-synchronous writer gets {writes:.3g} rows a second."
    )
