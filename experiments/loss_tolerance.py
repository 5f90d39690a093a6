"""What random loss leaves of 100 Mbit/s over 100 ms to CUBIC and to BBR, beside what was published of it."""

from slownet import TwoHosts, bound, experiment, follows, iperf3, published, ratio
from slownet.loss_tolerance import LINUX_SEND_BUFFER, bbr, cubic, limit
from slownet.throughput import cubic_in_renos_region, padhye
from slownet.tools.tool import run

MBIT, RATE, RTT, PAPER = 1e6, 100e6, 0.1, published.bbr_paper()
# Linux's own limit, and one that holds a segment lost five times in a row: six pipes of 1.25 MB, each counted nearly twice.
BUFFERS = {"4 MiB": LINUX_SEND_BUFFER, "32 MiB": 32 * 2**20}
# From 0.1 % on there are at least 80 losses, 240 in three runs: chance leaves 3 %, and a 99 % interval of 9 %.
SECONDS = {"0.001%": 20, "0.01%": 60, "0.1%": 200, "1%": 200, "5%": 400, "10%": 400}


def cell(congestion, percent, send_buffer="4 MiB"):
    link = {"rate": "100Mbit", "rtt": "100ms", "queue": "1 bdp", "loss_up": f"{percent:g}%", "seed": "1"}
    return {"congestion": congestion, "send_buffer": send_buffer, **link}


CUBIC = {percent: cell("cubic", percent) for percent in PAPER["reproduction"]["loss_percent"]}
BBR = {percent: cell("bbr", percent) for percent in CUBIC}
ROOMY = {percent: cell("bbr", percent, "32 MiB") for percent in (5, 10)}
CELLS = [*CUBIC.values(), *BBR.values(), *ROOMY.values()]


@experiment(topology=TwoHosts, cells=CELLS, published=published.loss_tolerance(), tdf="inf")
def loss_tolerance(net, congestion, send_buffer, **condition):
    """How much of 100 Mbit/s is left to CUBIC and to BBR if 0.001 to 10 % of packets are lost?"""
    run(net["server"], ["sysctl", "-qw", f"net.ipv4.tcp_wmem=4096 16384 {BUFFERS[send_buffer]}"])
    run(net["client"], ["sysctl", "-qw", f"net.ipv4.tcp_rmem=4096 131072 {BUFFERS['32 MiB']}"])
    with net.link("server", "client").set(**condition):
        # Without the start, where CUBIC's window falls from the whole link's. BBR measures the round trip once in 10 s.
        seconds, omit = (10, 3) if congestion == "bbr" else (SECONDS[condition["loss_up"]], 10)
        return iperf3(net["server"], net["client"], seconds=seconds, omit=omit, congestion=congestion)


def predicted(condition):
    """Mbit/s by theory; None where chance or timeouts leave bounds only."""
    percent = condition["loss_up_percent"]
    if condition["congestion"] == "bbr":
        return bbr(percent / 100, RTT, RATE, BUFFERS[condition["send_buffer"]]) / MBIT
    return cubic(percent / 100, RTT, RATE) / MBIT if 0.1 <= percent <= 1 else None


BOUNDS = {
    # Few losses fit into a minute. Reno's line is what CUBIC's curve only adds to.
    **{percent: (cubic_in_renos_region(percent / 100, RTT), most) for percent, most in ((0.001, RATE), (0.01, RATE / 2))},
    PAPER["cubic_a_tenth_percent"]: (0, RATE / 10),
    # Timeouts only lower the rate; what is newer than Padhye's Reno of 1998 avoids some of them (see packet_loss).
    **{percent: (padhye(percent / 100, RTT), cubic_in_renos_region(percent / 100, RTT)) for percent in (5, 10)},
}
loss_tolerance.claims(
    *(
        bound(
            "mbit_per_s", CUBIC[percent], at_least=least / MBIT, at_most=most / MBIT,
            because="each loss takes 0.3 of the window: by the paper a tenth of the link is left at 0.1 %",
        )
        for percent, (least, most) in BOUNDS.items()
    ),
    # Left out: of CUBIC, whole segments, segments lost twice, and losses that prolong a repair, less than 5 % each, and 9 % are
    # chance; of BBR, the queue of its probes, up to a quarter of a round trip in one of eight, which a full buffer waits for, 5 %,
    # and one ProbeRTT more or less in 10 s, 3 %.
    follows(
        "mbit_per_s", predicted, at_least=0.8, at_most=1.2, name="CUBIC's window and BBR's pacing under random loss",
        because="CUBIC grows by the larger of its curve and Reno's line, BBR paces by the link's rate until its buffer is full",
    ),
    # Of the link's rate times the part of packets that arrives; 1 % is BBR's pacing margin, 3 % ProbeRTT.
    *(
        bound(
            "mbit_per_s", ROOMY[percent], at_least=part * limit(percent / 100, RATE) / MBIT,
            because="as the paper says, BBR is at the limit up to 5 %, and close to it up to 15 %",
        )
        for percent, part in ((PAPER["bbr_at_the_limit_percent"], 0.93), (10, 0.9))
    ),
    # By theory 0.75. The reproduction had 0.81 of its rate at 0.001 %, counted before the loss.
    ratio(
        "mbit_per_s", BBR[5], of=ROOMY[5], at_most=0.85,
        because="4 MiB hold two pipes, and a segment that is lost twice keeps its place for three round trips",
    ),
)  # fmt: skip
