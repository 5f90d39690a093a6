"""The German article on testing with tc: a complete download of a large file over a long, lossy or narrow link."""

from slownet import FileServer, TwoHosts, bound, experiment, follows, predicted, wget
from slownet.model.units import amount
from slownet.theory import published
from slownet.theory.throughput import CUBIC_KEEPS, limited_by_queue, limited_by_rate, mathis, padhye
from slownet.tools.wget import MIB

ARTICLE = published.download()
# In the article, tc runs on the server only: it delays and loses what the server sends.
BEFORE, AFTER = ({"step": step, "rate_up": "1Gbit"} for step in ("before", "removed again"))
FAR = {"delay_up": "100ms", "queue": "1000 packets"}
FAR_SIZED = {"delay_up": "100ms"}
LOSSY = {"delay_up": "100ms", "loss_up": "10%", "seed": "1"}
NARROW = {"delay_up": "100ms", "rate_up": "2000kbit"}
SIZE_MIB = 250
CELLS = [BEFORE, FAR, FAR_SIZED, LOSSY, NARROW, AFTER]


# One block: the file is downloaded completely, and "removed again" must come after all other cells.
@experiment(topology=TwoHosts, service=FileServer, cells=CELLS, published=ARTICLE, tdf="inf", blocks=1)
def download(net, files, step="", **condition):
    """How long does a file of 250 MiB take over a link with 100 ms, 10 % loss, or 2 Mbit/s?"""
    with net.link("server", "client").set(**condition):
        return wget(net["client"], files.url)


def queue_alone(condition):
    """The rate that the queue allows, in MiB/s; None for cells that are limited by something else."""
    if condition.get("queue_packets") != 1000:
        return None
    return limited_by_queue(1000, condition["delay_up_ms"] / 1000) / 8 / MIB


download.claims(
    # CUBIC continues with 0.7 of the window that overflowed the queue (RFC 9438, 4.6), so it varies between 0.7 and 1 of it.
    follows(
        "mib_per_s", queue_alone, at_least=CUBIC_KEEPS, at_most=1, name="100 ms with tc's default queue",
        because="netem's default queue of 1000 packets also holds those in flight, so no more than 1000 pass in 100 ms",
    ),
    # Theory does not say how far TCP's buffers grow, only that half of them may be in flight. With 4 MiB at the sender
    # (tcp_wmem) that is 20 MiB/s, more than the default queue allows.
    bound(
        "mib_per_s", FAR_SIZED, at_least=limited_by_queue(1000, 0.1) / 8 / MIB,
        because="a queue with room for all packets in flight drops none, and slow start goes on to the limits of TCP's buffers",
    ),
    predicted(
        "mib_per_s", NARROW, expected=limited_by_rate(2e6) / 8 / MIB, within=0.01, name="2000 kbit/s carries its payload",
        because="a frame of 1514 bytes carries 1448 of payload, and the sender always has something to send",
    ),
    # CUBIC behaves like Reno here, whose theories are only bounds at such a loss, see packet_loss.
    bound(
        "mib_per_s", LOSSY, at_least=padhye(0.1, 0.1) / 8 / MIB, at_most=mathis(0.1, 0.1) / 8 / MIB,
        because="every tenth segment is lost, so most windows are too small for a fast retransmit and wait for a timeout",
    ),
    # A link of 1 Gbit/s stands for the article's two hosts, whose rates, 89 and 171 MB/s, were limited by their CPU; here the
    # CPU is free. If even the mildest condition stayed in place, it would limit TCP to a window per round trip, 40 MiB/s.
    *(
        predicted(
            "mib_per_s", cell, expected=limited_by_rate(1e9) / 8 / MIB, within=0.01,
            name=f"1 Gbit/s carries its payload, {cell['step']}",
            because="a condition that is removed has no effect any more",
        )
        for cell in (BEFORE, AFTER)
    ),
)  # fmt: skip


@download.answer
def answer(run):
    def took(at):
        return amount(SIZE_MIB / run.at(at).summary("mib_per_s").mean, "s")

    return (
        f"{took(BEFORE)} without a condition; over 100 ms {took(FAR)} with tc's default queue, {took(FAR_SIZED)} with room for "
        f"all that is in flight, and {took(LOSSY)} with 10 % loss; over 2 Mbit/s {took(NARROW)}."
    )
