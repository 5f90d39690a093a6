"""The German article on testing with tc: one large file over a link that delays, loses or is narrow. All runs to the end."""

from slownet import published
from slownet.claim import bound, follows, predicted
from slownet.experiment import experiment
from slownet.services.files import FileServer
from slownet.throughput import CUBIC_KEEPS, limited_by_queue, limited_by_rate, mathis, padhye
from slownet.tools.wget import MIB, wget
from slownet.topologies import TwoHosts

ARTICLE = published.download()
# The article's tc stands on the server's side only: it delays and loses what the server sends.
BEFORE, AFTER = ({"step": step, "rate_up": "1Gbit"} for step in ("before", "removed again"))
FAR = {"delay_up": "100ms", "queue": "1000 packets"}
FAR_SIZED = {"delay_up": "100ms"}
LOSSY = {"delay_up": "100ms", "loss_up": "10%", "seed": "1"}
NARROW = {"delay_up": "100ms", "rate_up": "2000kbit"}
CELLS = [BEFORE, FAR, FAR_SIZED, LOSSY, NARROW, AFTER]


# One block: a file is downloaded to its end, and "after" means after all others.
@experiment(topology=TwoHosts, service=FileServer, cells=CELLS, published=ARTICLE, tdf="inf", blocks=1)
def download(net, files, step="", **condition):
    """How long does a file of 250 MiB take over a link with 100 ms, 10 % loss, or 2 Mbit/s?"""
    with net.link("server", "client").set(**condition):
        return wget(net["client"], files.url)


def queue_alone(condition):
    """What passes the queue, in MiB/s, where nothing else is in the way."""
    if condition.get("queue_packets") != 1000:
        return None
    return limited_by_queue(1000, condition["delay_up_ms"] / 1000) / 8 / MIB


download.claims(
    # CUBIC goes on with 0.7 of the window that overflowed the queue (RFC 9438, 4.6), so it swings between that and all of it.
    follows(
        "mib_per_s", queue_alone, at_least=CUBIC_KEEPS, at_most=1, name="100 ms with tc's own queue",
        because="netem's default queue of 1000 packets holds what travels too, so no more than 1000 pass in 100 ms",
    ),
    # How far TCP's buffers grow is no matter of theory, only that half of them may be under way: with the 6 MiB that a receiver
    # has at least (tcp_rmem) 30 MiB/s, so more than the other queue lets pass.
    bound(
        "mib_per_s", FAR_SIZED, at_least=limited_by_queue(1000, 0.1) / 8 / MIB,
        because="a queue with room for all that travels drops nothing, and slow start goes on to the limits of TCP's buffers",
    ),
    predicted(
        "mib_per_s", NARROW, expected=limited_by_rate(2e6) / 8 / MIB, within=0.01, name="2000 kbit carry their payload",
        because="a frame of 1514 bytes carries 1448: all else is headers, and a sender has always something to send",
    ),
    # CUBIC is in Reno's region here, whose theories are bounds at so much loss: see packet_loss.
    bound(
        "mib_per_s", LOSSY, at_least=padhye(0.1, 0.1) / 8 / MIB, at_most=mathis(0.1, 0.1) / 8 / MIB,
        because="every tenth segment is lost, so most windows are too small for a quick repair and wait for a timeout",
    ),
    # A cable of 1 Gbit/s stands for the article's two hosts, whose pace, 89 and 171 MB/s, was their CPU's: where that is free,
    # only a link has a rate. Left behind, the mildest of the conditions would hold it to a window a round trip, 40 MiB/s.
    *(
        predicted(
            "mib_per_s", cell, expected=limited_by_rate(1e9) / 8 / MIB, within=0.01,
            name=f"1 Gbit/s carries its payload, {cell['step']}",
            because="a condition that is taken away leaves nothing behind",
        )
        for cell in (BEFORE, AFTER)
    ),
)  # fmt: skip
