"""PostgreSQL's synchronous_commit with a standby far away: which of its values wait for the network."""

from slownet import PrimaryReplicas, bound, experiment, law, ratio
from slownet.services.standby import SynchronousPair
from slownet.theory import published

# PostgreSQL 17, 19.5.1: what a commit waits for. Each report of the standby answers the log that was sent to it.
WAITS = {
    "off": (0, "for nothing"),
    "local": (0, "for the primary's own disk"),
    "remote_write": (1, "until the standby has written the log"),
    "on": (1, "until the standby has flushed the log"),
    "remote_apply": (1, "until a query on the standby sees the row"),
}
RTTS = ["0ms", "10ms", "100ms"]


@experiment(
    topology=PrimaryReplicas, service=SynchronousPair, vary={"synchronous_commit": list(WAITS), "rtt": RTTS},
    published=published.database("synchronous_commit"), tdf="inf", blocks=1,
)  # fmt: skip
def synchronous_commit(net, pair, synchronous_commit, rtt):
    """How much longer does a commit take with each value of synchronous_commit if the standby is 10 or 100 ms away?"""
    with net.link("replica1", "switch").set(rtt=rtt):
        return pair.insert(synchronous_commit)


def cell(value, rtt="100ms"):
    return {"synchronous_commit": value, "rtt": rtt}


# The CPU is free, so round trips are exact, and what replay costs is nothing: the order is claimed, not the published sizes.
synchronous_commit.claims(
    *(
        law("statement_ms", round_trips=trips, within=0.01, at={"synchronous_commit": value}) if trips else
        bound("statement_ms", cell(value), at_most=1, because=f"the commit waits {why}")
        for value, (trips, why) in WAITS.items()
    ),
    ratio(
        "statement_ms", cell("remote_apply"), of=cell("remote_write"), at_least=1,
        because="a row is applied after it was written; the standby reports both in the same round trip",
    ),
)  # fmt: skip


@synchronous_commit.answer
def answer(run):
    times = [f"{run.at(cell(value)).amount('statement_ms')} with {value}" for value in WAITS]
    return f"Over 100 ms a commit takes {', '.join(times)}."
