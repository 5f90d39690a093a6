"""Loss against theory: what is known of TCP under loss, and where the square root of it does not hold."""

from slownet.claim import bound, follows
from slownet.experiment import condition as numbers
from slownet.experiment import experiment
from slownet.throughput import aimd, padhye, timeouts_rule
from slownet.tools.iperf3 import iperf3
from slownet.topologies import TwoHosts

# Of each seed, and there are three at least: 250 losses apart in all where they are rarest (24 round trips of 100 ms), so that
# chance leaves 3 % of the rate, and 9 % a 99 % interval; twice as many and more elsewhere.
SECONDS = {"100ms": 200, "20ms": 100}


CELLS = [{"delay_up": rtt, "loss_up": loss, "seed": "1"} for rtt in SECONDS for loss in ("0.1%", "1%", "5%", "10%")]


@experiment(topology=TwoHosts, cells=CELLS, tdf="inf")
def packet_loss(net, delay_up, **condition):
    """How much does one connection carry when every thousandth, hundredth, twentieth or tenth packet is lost?"""
    with net.link("server", "client").set(delay_up=delay_up, **condition):
        # Reno, which the theories speak of; the seconds of slow start are left out.
        return iperf3(net["server"], net["client"], seconds=SECONDS[delay_up], omit=10, congestion="reno")


def by(theory, where=lambda loss: True):
    """Mbit/s by a theory, for the losses where it is asked."""

    def mbit_per_s(condition):
        loss, rtt = condition["loss_up_percent"] / 100, condition["delay_up_ms"] / 1000
        return theory(loss, rtt) / 1e6 if where(loss) else None

    return mbit_per_s


packet_loss.claims(
    # What the theory leaves out is most at 1 %, where a window has 13 segments and a loss comes every 8 round trips: a second
    # loss in the window does not halve it again (p W = 0.13 of them, half of that in the rate: + 6 %), the round trip of the
    # repair brings no growth (1 of 8, half of that: - 6 %), and what is sent again does not count (- 1 %). So 15 %.
    follows(
        "mbit_per_s", by(aimd, where=lambda loss: not timeouts_rule(loss)), at_least=0.85, at_most=1.15,
        name="the rate of a window that losses halve, up to 1 % of loss",
        because="each loss halves the window, and the window is wide enough to repair it at once",
    ),
    # From 5 % on there are bounds, without a margin: timeouts only take from the same formula, and what is newer than Padhye's
    # Reno of 1998 (selective acknowledgements, tail loss probes, RACK) only saves some of them.
    *(
        bound(
            "mbit_per_s", cell, at_least=by(padhye)(numbers(cell)), at_most=by(aimd)(numbers(cell)),
            because="a window below six segments leaves too few duplicate acknowledgements, so some losses wait for a timeout",
        )
        for cell in CELLS
        if timeouts_rule(numbers(cell)["loss_up_percent"] / 100)
    ),
)  # fmt: skip
