"""TCP's throughput under packet loss, compared with theory: the square-root law, and the losses where it does not hold."""

from slownet import TwoHosts, bound, experiment, follows, iperf3
from slownet.hypotheses.experiment import condition as numbers
from slownet.theory.throughput import aimd, padhye, timeouts_rule

# For each of at least three seeds. That is at least 250 separate losses in all where they are rarest (24 round trips of 100 ms
# apart), so chance leaves a deviation of 3 %, and a 99 % interval of 9 %; elsewhere there are at least twice as many losses.
SECONDS = {"100ms": 200, "20ms": 100}
CELLS = [{"delay_up": rtt, "loss_up": loss, "seed": "1"} for rtt in SECONDS for loss in ("0.1%", "1%", "5%", "10%")]


@experiment(topology=TwoHosts, cells=CELLS, tdf="inf")
def packet_loss(net, delay_up, **condition):
    """How much does one connection carry when every thousandth, hundredth, twentieth or tenth packet is lost?"""
    with net.link("server", "client").set(delay_up=delay_up, **condition):
        # The theories describe Reno. Slow start is left out.
        return iperf3(net["server"], net["client"], seconds=SECONDS[delay_up], omit=10, congestion="reno")


def by(theory, where=lambda loss: True):
    """A function of the condition that returns the rate by a theory in Mbit/s; None where the theory is not used."""

    def mbit_per_s(condition):
        loss, rtt = condition["loss_up_percent"] / 100, condition["delay_up_ms"] / 1000
        return theory(loss, rtt) / 1e6 if where(loss) else None

    return mbit_per_s


def arriving(loss, rtt):
    return (1 - loss) * padhye(loss, rtt)


packet_loss.claims(
    # The theory's error is largest at 1 %, with a window of 13 segments and a loss every 8 round trips: a second loss in a
    # window does not halve it again (probability p W = 0.13, half of that in the rate: + 6 %), the window does not grow in the
    # round trip of the repair (1 of 8, half of that: - 6 %), and retransmissions do not count (- 1 %). So the margin is 15 %.
    follows(
        "mbit_per_s", by(aimd, where=lambda loss: not timeouts_rule(loss)), at_least=0.85, at_most=1.15,
        name="the rate of a window that losses halve, up to 1 % of loss",
        because="each loss halves the window, and the window is wide enough to repair it at once",
    ),
    # From 5 % on these are bounds without a margin: timeouts only lower the rate of the same formula, and what is newer than
    # Padhye's Reno of 1998 (selective acknowledgements, tail loss probes, RACK) only avoids some of them. Of what Reno sends,
    # 1 - p arrives.
    *(
        bound(
            "mbit_per_s", cell, at_least=by(arriving)(numbers(cell)), at_most=by(aimd)(numbers(cell)),
            because="a window below six segments gives too few duplicate ACKs, so some losses wait for a timeout",
        )
        for cell in CELLS
        if timeouts_rule(numbers(cell)["loss_up_percent"] / 100)
    ),
)  # fmt: skip


@packet_loss.answer
def answer(run):
    def carried(delay):
        rates = [run.at(each).summary("mbit_per_s").mean for each in CELLS if each["delay_up"] == delay]
        return [f"{rate:.3g}" for rate in rates]

    shares = [each["loss_up"].replace("%", " %") for each in CELLS if each["delay_up"] == "100ms"]
    far = ", ".join(f"{rate} with {share}" for rate, share in zip(carried("100ms"), shares, strict=True))
    return f"Over 100 ms, in Mbit/s: {far} of the packets lost; over 20 ms: {', '.join(carried('20ms'))}."
