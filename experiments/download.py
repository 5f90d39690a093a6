"""The German article on testing with tc: one large file over a link that delays, loses or is narrow. All runs to the end."""

from slownet import published
from slownet.claim import follows, predicted, times
from slownet.experiment import experiment
from slownet.services.files import FileServer
from slownet.throughput import limited_by_queue, limited_by_rate
from slownet.tools.wget import MIB, wget
from slownet.topologies import TwoHosts

ARTICLE = published.download()
# The article's tc stands on the server's side only: it delays and loses what the server sends.
BEFORE, AFTER = {"step": "before"}, {"step": "removed again"}
FAR = {"delay_up": "100ms", "queue": "1000 packets"}
FAR_SIZED = {"delay_up": "100ms"}
LOSSY = {"delay_up": "100ms", "loss_up": "10%", "seed": "1"}
NARROW = {"delay_up": "100ms", "rate_up": "2000kbit"}


# One block: a file is downloaded to its end, and "after" means after all others.
@experiment(
    topology=TwoHosts, service=FileServer, cells=[BEFORE, FAR, FAR_SIZED, LOSSY, NARROW, AFTER], published=ARTICLE, blocks=1
)  # fmt: skip
def download(net, files, step="", **condition):
    """How long does a file of 250 MiB take over a link with 100 ms, 10 % loss, or 2 Mbit/s?"""
    with net.link("server", "client").set(**condition):
        return wget(net["client"], files.url)


CUBIC_KEEPS = 0.7


def queue_alone(condition):
    """What passes the queue, in MiB/s, where nothing else is in the way."""
    if condition.get("queue_packets") != 1000:
        return None
    return limited_by_queue(1000, condition["delay_up_ms"] / 1000) / 8 / MIB


download.claims(
    # CUBIC goes on with 0.7 of the window that overflowed the queue (RFC 9438, 4.6), so it swings between that and all of it.
    follows(
        "mib_per_s", queue_alone, CUBIC_KEEPS, 1, name="100 ms with tc's own queue",
        because="netem's default queue of 1000 packets holds what travels too, so no more than 1000 pass in 100 ms",
    ),
    # At least half of tcp_rmem's 6 MiB is window (the kernel's ip-sysctl, tcp_adv_win_scale 1): 3 MiB a round trip, reached
    # by doubling in 0.8 s, are 28 MiB/s of this file, and the other queue lets 13.8 pass at most: twice. Half of that gain
    # tells the two limits apart.
    times(
        "mib_per_s", FAR_SIZED, against=FAR, least=1.5,
        because="a queue with room for all that travels drops nothing, and slow start goes on to the limits of TCP's buffers",
    ),
    predicted(
        "mib_per_s", NARROW, limited_by_rate(2e6) / 8 / MIB, within=0.01, name="2000 kbit carry their payload",
        because="a frame of 1514 bytes carries 1448: all else is headers, and a sender has always something to send",
    ),
    times(
        "mib_per_s", LOSSY, against=FAR, most=1 / 100,
        because="every tenth segment is lost, so most windows are too small for a quick repair and wait for a timeout",
    ),
    # Left behind, the mildest of the conditions would hold it to a window a round trip, 60 MiB/s: an eighth of what this
    # machine moves at TDF 3. Half is nearer to all of it than to that; what is between is how evenly CPU is charged.
    times(
        "mib_per_s", AFTER, against=BEFORE, least=0.5,
        because="a condition that is taken away leaves nothing behind: what is left is the machine's own pace",
    ),
)  # fmt: skip
