"""Two connections of different congestion controls on one bottleneck: which share each gets, and how long the queue is."""

from slownet import TwoHosts, bound, experiment, ratio
from slownet.judge.records.repeatability import Spread
from slownet.theory.shares import bbr_in_long_queue, cubic_beside_bbr_in_short_queue, dctcp_beside_cubic
from slownet.tools.competing import competing

RATE_MBIT, RTT_MS, FRAME = 5, 120, 1514
FRAME_MS = 8 * FRAME / RATE_MBIT / 1000
PIPE = RTT_MS / FRAME_MS  # in full frames: 49.5
THRESHOLD, SHORT, LONG = 10, 12, 200  # 0.2, 0.24 and 4 pipes
MARKING = {"aqm": f"red {THRESHOLD * FRAME}B {(THRESHOLD + 1) * FRAME}B", "ecn": "on", "queue": f"{LONG} packets"}


def cell(pair, **queue):
    return {"pair": pair, "rate": f"{RATE_MBIT}Mbit", "rtt": f"{RTT_MS}ms", **queue}


ALIKE = cell("cubic and cubic", queue="1 bdp")
BESIDE_SHORT, BESIDE_LONG = (cell("bbr and cubic", queue=f"{length} packets") for length in (SHORT, LONG))
MARKED = cell("dctcp and cubic", **MARKING)


@experiment(topology=TwoHosts, cells=[ALIKE, BESIDE_SHORT, BESIDE_LONG, MARKED], tdf="inf")
def fairness(net, pair, **condition):
    """Which share of 5 Mbit/s does each of two connections get: CUBIC beside CUBIC, BBR and DCTCP?"""
    # With a long plain queue a loss comes every few seconds, and shares vary as slowly; the other two are quick.
    seconds = 240 if {"pair": pair, **condition} in (ALIKE, BESIDE_LONG) else 30
    with net.link("client", "server").set(**condition):
        return competing(net["client"], net["server"], pair.split(" and "), seconds=seconds)


CUBIC_BESIDE_BBR = cubic_beside_bbr_in_short_queue(PIPE)
CUBIC_BESIDE_DCTCP = 1 - dctcp_beside_cubic(PIPE, THRESHOLD)
BBR_LEAST, BBR_MOST = bbr_in_long_queue(LONG, PIPE, RTT_MS / 1000)
fairness.differs(
    "BBR starts its cycle of rates at random, and its share differs",
    # 17 boots: 1.8 % of BBR's share in the long queue, and 0.5 % of the round trip; 0.6 % in the short one.
    Spread("first_share", 0.025),
    Spread("rtt_ms", 0.01),
)

fairness.claims(
    # 0.9 is the index of one third and two thirds.
    bound(
        "jain_index", ALIKE, at_least=0.9,
        because="who has more gives up more at a loss, and both add the same in a round trip",
    ),
    # All but full when both lose at once: 0.7 of two pipes, less one, is 0.4 of a pipe in the queue.
    bound(
        "rtt_ms", ALIKE, at_least=1.4 * RTT_MS, at_most=2 * RTT_MS,
        because="CUBIC fills the queue, which holds another round trip, and leaves 0.4 of it after a loss",
    ),
    # Theory does not know whose packets the queue drops or marks: the next two allow CUBIC twice what it says.
    bound(
        "first_share", BESIDE_SHORT, at_least=1 - 2 * CUBIC_BESIDE_BBR,
        because=f"each probe of BBR's costs CUBIC a packet, which leaves it {CUBIC_BESIDE_BBR:.2f}; BBR ignores losses",
    ),
    bound(
        "first_share", MARKED, at_least=1 - 2 * CUBIC_BESIDE_DCTCP,
        because=f"marks in one round trip of several are little to DCTCP and a loss to CUBIC: {CUBIC_BESIDE_DCTCP:.2f} for it",
    ),
    # What was refuted before: docs/explanation/protocols/fairness.md.
    bound(
        "first_share", BESIDE_LONG, at_least=BBR_LEAST, at_most=BBR_MOST,
        because="BBR has at most two of what it takes for the pipe in flight, and CUBIC's window is part of that",
    ),
    ratio("first_share", BESIDE_SHORT, of=BESIDE_LONG, at_least=1, because="only a long queue limits BBR's window"),
    bound(
        "rtt_ms", MARKED, at_most=RTT_MS + 2 * THRESHOLD * FRAME_MS,
        because="the queue marks from ten packets on, and may grow as much again until marks arrive",
    ),
)  # fmt: skip


@fairness.answer
def answer(run):
    def second(at):
        return f"{1 - run.at(at).summary('first_share').mean:.0%}".replace("%", " %")

    return (
        f"CUBIC gets {second(ALIKE)} beside another CUBIC; beside BBR {second(BESIDE_SHORT)} with a queue of {SHORT} packets "
        f"and {second(BESIDE_LONG)} with {LONG}; beside DCTCP {second(MARKED)} in a queue that marks."
    )
