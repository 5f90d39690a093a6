"""The question that the article on tc opens with: how does a replicated database take a slow link between its rooms?"""

from slownet.claim import bound, predicted, ratio
from slownet.experiment import experiment
from slownet.services.replication import Replicated
from slownet.topologies import PrimaryReplicas

COMMITS, BYTES, EVERY_MS = 100, 1000, 50
# Who must have a commit before its writer is told: nobody, the replica far away, or that one or another next door.
ACKNOWLEDGED_BY = {"asynchronous": (), "semi-synchronous": ("replica1",), "semi-synchronous-near": ("replica1", "replica2")}
DELAYS = {"10ms": 10, "40ms": 40}
LINKS = {
    "none": {},
    **{text: {"rtt": text} for text in DELAYS},
    "lossy": {"rtt": "10ms", "loss": "10%", "seed": 1},
    "narrow": {"rtt": "10ms", "rate": "100kbit"},
}


# One block: the last lag is that of the backlog of all commits.
@experiment(
    topology=PrimaryReplicas, service=Replicated, vary={"mode": list(ACKNOWLEDGED_BY), "link": list(LINKS)}, tdf="inf", blocks=1
)  # fmt: skip
def replication(net, database, mode, link):
    """What do a commit and its replica pay for delay, loss and a narrow link between them?"""
    database.acknowledged_by(*ACKNOWLEDGED_BY[mode])
    with net.link("replica1", "switch").set(**LINKS[link]):
        return database.commits(count=COMMITS, size=BYTES, every_ms=EVERY_MS)


def cell(mode, link):
    return {"mode": mode, "link": link}


def backlog(run):
    """The last lag when commits come faster than the link carries them; what one takes is seen where the writer waits."""
    on_the_link = run.at(cell("semi-synchronous", "narrow")).summary("lag_ms") - 5
    return COMMITS * on_the_link - (COMMITS - 1) * EVERY_MS + 5


# The CPU is free, so what is counted in round trips is exact; a tenth of a millisecond is room for the programs, 1 % of a round
# trip of 10 ms and 2 % of half of one. Who waits for no distance takes less than a millisecond, a tenth of the least.
replication.claims(
    *(
        predicted("commit_ms", cell("semi-synchronous", link), expected=ms, within=0.01,
                  because="to the replica's log and back: 1 round trip")
        for link, ms in DELAYS.items()
    ),
    *(
        predicted("lag_ms", cell("asynchronous", link), expected=ms / 2, within=0.02,
                  because="the log is sent unasked: half a round trip")
        for link, ms in DELAYS.items()
    ),
    *(bound("commit_ms", cell("asynchronous", link), at_most=1, because="nobody is waited for") for link in LINKS),
    *(bound("commit_ms", cell("semi-synchronous-near", link), at_most=1, because="the near replica answers") for link in LINKS),
    *(
        bound("stale_ms", cell("semi-synchronous", link), at_most=1, because="AFTER_SYNC: read before the writer is told")
        for link in LINKS
    ),
    # One of ten acknowledgements is lost, and waits for TCP's least timeout, 200 ms: 30 ms on average where 10 were. Half of
    # that is left to chance and to what tail loss probes repair.
    ratio("commit_ms", cell("semi-synchronous", "lossy"), of=cell("semi-synchronous", "10ms"), at_least=1.5,
          because="of ten acknowledgements one waits for TCP's timeout, 200 ms"),
    # 100 kbit/s carry less than 20 commits of 1 kB a second.
    predicted("lag_last_ms", cell("asynchronous", "narrow"), expected=backlog, within=0.05,
              because="the backlog grows with every commit"),
    ratio("lag_last_ms", cell("semi-synchronous", "narrow"), of=cell("asynchronous", "narrow"), at_most=0.1,
          because="the wait slows the writer to what the link carries"),
)  # fmt: skip
