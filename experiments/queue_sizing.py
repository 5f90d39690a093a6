"""How long a queue a bottleneck needs to be busy: a pipe for one connection, less for several."""

from slownet import TwoHosts, bound, experiment, predicted, ratio
from slownet.judge.records.repeatability import Spread
from slownet.theory.buffers import busy_apart, busy_in_step, rule
from slownet.theory.throughput import limited_by_rate
from slownet.tools.competing import competing

RATE_MBIT, PIPE = 10, 100  # a pipe of 100 full frames
RTT_MS = PIPE * 1514 * 8 / RATE_MBIT / 1000
MANY = 16
FULL = limited_by_rate(RATE_MBIT * 1e6) / 1e6


def cell(connections, pipes):
    link = {"rate": f"{RATE_MBIT}Mbit", "rtt": f"{RTT_MS:.2f}ms"}
    return {"connections": f"{connections}", **link, "queue": f"{round(pipes * PIPE)} packets"}


ONE, ONE_SHORT, SOME, SEVERAL = (cell(n, pipes) for n, pipes in ((1, 1), (1, rule(MANY)), (4, rule(4)), (MANY, rule(MANY))))


@experiment(topology=TwoHosts, cells=[ONE, ONE_SHORT, SOME, SEVERAL], tdf="inf")
def queue_sizing(net, connections, **condition):
    """How busy do 1, 4 and 16 Reno connections keep 10 Mbit/s with a queue of RTT x C divided by the root of their number?"""
    with net.link("client", "server").set(**condition):
        return competing(net["client"], net["server"], ["reno"], seconds=60, connections=int(connections))


queue_sizing.differs(
    "which of several connections loses a packet depends on the order in which they start",
    Spread("mbit_per_s", 0.003),  # 9 boots: 0.19 %
)

queue_sizing.claims(
    predicted(
        "mbit_per_s", ONE, expected=FULL, within=0.02, name="A queue of a pipe keeps the link busy",
        because="half of the window is left after a loss, and that still fills the pipe",
    ),
    # The window is not a whole number of peaks in a minute, and a lost packet takes a round trip to be seen: 5 %.
    predicted(
        "mbit_per_s", ONE_SHORT, expected=busy_in_step(rule(MANY)) * FULL, within=0.05,
        name="A quarter of a pipe is too short for one connection",
        because="half of the window does not fill the pipe, and takes dozens of round trips to grow",
    ),
    # Whether few connections lose in step or not is not known: the lower of both.
    bound(
        "mbit_per_s", SOME, at_least=min(busy_in_step(rule(4)), busy_apart(rule(4), 4)) * FULL,
        because="half a pipe is enough for four connections",
    ),
    bound(
        "mbit_per_s", SEVERAL, at_least=busy_apart(rule(MANY), MANY) * FULL,
        because="losses hit few of sixteen connections at a time, and the sum of their windows hardly varies",
    ),
    ratio(
        "mbit_per_s", SEVERAL, of=ONE_SHORT, at_least=1.03,
        because="in the same queue a loss concerns a sixteenth of what is in flight, not all",
    ),
)  # fmt: skip


@queue_sizing.answer
def answer(run):
    def busy(at):
        return f"{run.at(at).summary('mbit_per_s').mean / FULL:.0%}".replace("%", " %")

    return (
        f"One connection keeps the link {busy(ONE)} busy with a queue of RTT x C, and {busy(ONE_SHORT)} with a quarter of it; "
        f"four {busy(SOME)} with half of it, sixteen {busy(SEVERAL)} with a quarter."
    )
