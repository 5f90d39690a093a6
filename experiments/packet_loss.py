"""Loss against theory: what Mathis and Padhye say of TCP, and where Mathis does not hold."""

from slownet.claim import follows
from slownet.experiment import experiment
from slownet.throughput import mathis, padhye, timeouts_rule
from slownet.tools.iperf3 import iperf3
from slownet.topologies import TwoHosts

SECONDS = {"100ms": 600, "20ms": 300}  # some hundred losses each, and enough seconds for the claims to be decided


@experiment(
    topology=TwoHosts,
    cells=[{"delay_up": rtt, "loss_up": loss, "seed": "1"} for rtt in SECONDS for loss in ("0.1%", "1%", "5%", "10%")],
    tdf="inf",
)
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
    follows(
        "mbit_per_s", by(mathis, where=lambda loss: not timeouts_rule(loss)), 0.85, 1.2, name="Mathis's rate up to 1 % of loss",
        because="each loss halves the window, and the window is wide enough to repair it at once",
    ),
    follows(
        "mbit_per_s", by(mathis, where=timeouts_rule), 0.5, 1.0, name="less than Mathis's rate from 5 % on",
        because="a window below six segments leaves too few duplicate acknowledgements, so some losses wait for a timeout",
    ),
    follows(
        "mbit_per_s", by(padhye, where=timeouts_rule), 1.0, 4.0, name="more than Padhye's rate from 5 % on",
        because="his Reno of 1998 has no selective acknowledgements, tail loss probes and RACK, which save most timeouts",
    ),
)  # fmt: skip
