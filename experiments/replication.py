"""The first question of the article on tc: how does a slow link between two rooms affect a replicated database?"""

from slownet import PrimaryReplicas, bound, experiment, predicted, ratio
from slownet.judge.records.repeatability import Spread
from slownet.reproductions.replication import Replicated

COMMITS, BYTES, EVERY_MS = 100, 1000, 50
# The replicas of which one must acknowledge a commit before its writer gets the answer: none, the far one, or either.
ACKNOWLEDGED_BY = {"asynchronous": (), "semi-synchronous": ("replica1",), "semi-synchronous-near": ("replica1", "replica2")}
DELAYS = {"10ms": 10, "40ms": 40}
LINKS = {
    "none": {},
    **{text: {"rtt": text} for text in DELAYS},
    "lossy": {"rtt": "10ms", "loss": "10%", "seed": 1},
    "narrow": {"rtt": "10ms", "rate": "100kbit"},
}


# One block: the last lag is the backlog of all commits, so their number must not change.
@experiment(
    topology=PrimaryReplicas, service=Replicated, vary={"mode": list(ACKNOWLEDGED_BY), "link": list(LINKS)}, tdf="inf", blocks=1
)  # fmt: skip
def replication(net, database, mode, link):
    """How do delay, loss and a narrow link to the replica affect a commit and its replication?"""
    database.acknowledged_by(*ACKNOWLEDGED_BY[mode])
    with net.link("replica1", "switch").set(**LINKS[link]):
        return database.commits(count=COMMITS, size=BYTES, every_ms=EVERY_MS)


def cell(mode, link):
    return {"mode": mode, "link": link}


def backlog(run):
    """The last lag if commits come faster than the link carries them; one commit's time is measured where the writer waits."""
    on_the_link = run.at(cell("semi-synchronous", "narrow")).summary("lag_ms") - 5
    return COMMITS * on_the_link - (COMMITS - 1) * EVERY_MS + 5


# The CPU is free, so times in round trips are exact; the margin allows 0.1 ms for the programs, which is 1 % of a round trip of
# 10 ms, and 2 % of half of one. A commit that does not wait for the far replica takes less than 1 ms, a tenth of that.
replication.differs(
    Replicated.chance, Spread("lag_last_ms", 0.007, {"link": "narrow"})
)  # 16 boots: 0.48 %, one packet of the backlog

replication.claims(
    *(
        predicted("commit_ms", cell("semi-synchronous", link), expected=ms, within=0.01,
                  because="to the replica's log and back: 1 round trip")
        for link, ms in DELAYS.items()
    ),
    *(
        predicted("lag_ms", cell("asynchronous", link), expected=ms / 2, within=0.02,
                  because="the primary sends the log without being asked: half a round trip")
        for link, ms in DELAYS.items()
    ),
    *(bound("commit_ms", cell("asynchronous", link), at_most=1, because="the commit does not wait") for link in LINKS),
    *(bound("commit_ms", cell("semi-synchronous-near", link), at_most=1, because="the near replica answers") for link in LINKS),
    *(
        bound("stale_ms", cell("semi-synchronous", link), at_most=1,
              because="AFTER_SYNC: the row can be read before the writer has its answer")
        for link in LINKS
    ),
    # One of ten acknowledgements is lost and waits for TCP's minimum timeout, 200 ms: 30 ms on average instead of 10. Half of
    # that ratio is claimed, because of chance and because tail loss probes repair some losses earlier.
    ratio("commit_ms", cell("semi-synchronous", "lossy"), of=cell("semi-synchronous", "10ms"), at_least=1.5,
          because="one of ten acknowledgements waits for TCP's timeout, 200 ms"),
    # 100 kbit/s carries less than 20 commits of 1 kB per second.
    predicted("lag_last_ms", cell("asynchronous", "narrow"), expected=backlog, within=0.05,
              because="the backlog grows with every commit"),
    ratio("lag_last_ms", cell("semi-synchronous", "narrow"), of=cell("asynchronous", "narrow"), at_most=0.1,
          because="waiting slows the writer down to the rate of the link"),
)  # fmt: skip


@replication.answer
def answer(run):
    def commits(mode):
        return {link: run.at(cell(mode, link)) for link in LINKS}

    waits = {link: each.amount("commit_ms") for link, each in commits("semi-synchronous").items()}
    quick = max(commits("asynchronous").values(), key=lambda each: each.summary("commit_ms").mean).amount("commit_ms")
    last = run.at(cell("asynchronous", "narrow")).amount("lag_last_ms")
    return (
        f"A commit that waits for the far replica takes {waits['10ms']} over 10 ms, {waits['40ms']} over 40 ms, "
        f"{waits['lossy']} with 10 % loss, and {waits['narrow']} over 100 kbit/s; one that does not, at most {quick}, but over "
        f"100 kbit/s the replica is {last} behind after {COMMITS} commits."
    )
