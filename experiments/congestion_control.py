"""The German article's links again, with iperf3 and with other congestion control than the stock one."""

from slownet.claim import times
from slownet.experiment import experiment
from slownet.tools.iperf3 import iperf3
from slownet.topologies import TwoHosts

FAR = {"delay_up": "100ms", "queue": "1000 packets"}
LOSSY = {"delay_up": "100ms", "loss_up": "10%", "seed": "1"}
NARROW = {"delay_up": "100ms", "rate_up": "2000kbit"}


def using(name, condition):
    return {"congestion": name, **condition}


CELLS = [using(name, condition) for condition in (FAR, LOSSY, NARROW) for name in ("cubic", "reno", "bbr")]


@experiment(topology=TwoHosts, cells=CELLS, tdf="inf")
def congestion_control(net, congestion, **condition):
    """Which congestion control carries how much over 100 ms with tc's own queue, 10 % loss, or 2 Mbit/s?"""
    with net.link("server", "client").set(**condition):
        slow = "loss_up" in condition and congestion != "bbr"  # so few packets that a minute would say little
        return iperf3(net["server"], net["client"], seconds=600 if slow else 60, congestion=congestion)


congestion_control.claims(
    times(
        "mbit_per_s", using("bbr", LOSSY), against=using("cubic", LOSSY), least=20,
        because="BBR models the path's rate and round trip, and does not take every loss for a full queue as CUBIC does",
    ),
    # There it adds 3 (1 - 0.7) / (1 + 0.7) = 0.53 segments a round trip where Reno adds one, and keeps 0.7 of a window where
    # Reno keeps 0.5 (RFC 9438, 4.3 and 4.6): after any losses its window is 0.53 to 1.4 times Reno's, on average the same.
    times(
        "mbit_per_s", using("cubic", LOSSY), against=using("reno", LOSSY), least=0.53, most=1.4,
        because="p is far above 0.548 RTT^3, where CUBIC keeps to Reno's curve",
    ),
    times(
        "mbit_per_s", using("cubic", FAR), against=using("reno", FAR), least=1.0,
        because="after a drop Reno wins back one segment a round trip, 50 s for half a window of 1000; CUBIC is quicker",
    ),
    times(
        "mbit_per_s", using("bbr", NARROW), against=using("cubic", NARROW), least=0.85, most=1.15,
        because="where the rate is the limit, each of them finds it",
    ),
)  # fmt: skip
