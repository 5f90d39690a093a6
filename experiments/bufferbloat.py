"""Bufferbloat: the round trip on a link that is full in both directions, with a long queue and with active queue management."""

from slownet import TwoHosts, bound, experiment, ratio
from slownet.tools.under_load import under_load

RATE_MBIT, RTT_MS, QUEUE, FRAME = 10, 40, 256, 1514
FIFO = {"queue": f"{QUEUE} packets"}
MANAGED = {name: {"aqm": name} for name in ("fq_codel", "cake")}
CELLS = [{"rate": f"{RATE_MBIT}Mbit", "rtt": f"{RTT_MS}ms", **each} for each in (FIFO, *MANAGED.values())]
FRAME_MS = 8 * FRAME / RATE_MBIT / 1000
# A queue counts packets. At most each is a full frame, at least half of them are: the others acknowledge, in 66 bytes,
# the other direction's data, at most one for each frame.
LEAST_MS, MOST_MS = QUEUE * 8 * (FRAME + 66) / 2 / RATE_MBIT / 1000, QUEUE * FRAME_MS


@experiment(topology=TwoHosts, cells=CELLS, tdf="inf")
def bufferbloat(net, **condition):
    """How long does a ping take while four connections each way fill a link of 10 Mbit/s?"""
    with net.link("client", "server").set(**condition):
        return under_load(net["client"], net["server"])


PLAIN, *OTHERS = CELLS
bufferbloat.claims(
    # CUBIC keeps 0.7 of its window after a loss (RFC 9438, 4.6). If all connections lose at once, 0.7 (B + C R) - C R of a full
    # queue B is left, where R is the round trip with the other direction's queue: 0.4 of a full queue less 0.3 round trips.
    bound(
        "rtt_ms", PLAIN, at_least=RTT_MS + 2 * (0.4 * LEAST_MS - 0.3 * RTT_MS), at_most=RTT_MS + 2 * MOST_MS,
        because="the connections fill the queue, whatever its length, and everybody waits behind them",
    ),
    # A ping's flow is new each time, and served first (RFC 8290, 4.2): it waits for the frame that is being sent, and for
    # those that the bucket below let go together, three in all.
    *(
        bound(
            "rtt_ms", cell, at_least=RTT_MS, at_most=RTT_MS + 2 * 3 * FRAME_MS,
            because="flows have queues of their own, and one that sends little is served first",
        )
        for cell in OTHERS
    ),
    # CoDel drops early, and each direction's acknowledgements are data to the other one: wide.
    *(
        ratio(
            "download_mbit_per_s", cell, of=PLAIN, at_least=0.9,
            because="a queue of 5 ms is enough to keep a link busy that several connections share",
        )
        for cell in OTHERS
    ),
)  # fmt: skip


@bufferbloat.answer
def answer(run):
    plain, *managed = (run.at(each) for each in CELLS)
    most = max(managed, key=lambda each: each.summary("rtt_ms").mean)
    return (
        f"A ping takes {plain.amount('rtt_ms')} behind a plain queue of {QUEUE} packets, and at most {most.amount('rtt_ms')} "
        f"with fq_codel or cake; the empty link's round trip is {RTT_MS} ms."
    )
