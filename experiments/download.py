"""The German article on testing with tc: one large file over a link that delays, loses or is narrow. All runs to the end."""

from slownet import published
from slownet.claim import predicted, times
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


@experiment(topology=TwoHosts, service=FileServer, cells=[BEFORE, FAR, FAR_SIZED, LOSSY, NARROW, AFTER], published=ARTICLE)
def download(net, files, step="", **condition):
    """How long does a file of 250 MiB take over a link with 100 ms, 10 % loss, or 2 Mbit/s?"""
    with net.link("server", "client").set(**condition):
        return wget(net["client"], files.url)


download.claims(
    predicted(
        "mib_per_s", FAR, limited_by_queue(1000, 0.1) / 8 / MIB, within=0.3, name="100 ms with tc's own queue",
        because="netem's default queue of 1000 packets holds what travels too, so no more than 1000 pass in 100 ms",
    ),
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
    times(
        "mib_per_s", AFTER, against=BEFORE, least=0.5,
        because="a condition that is taken away leaves nothing behind: what is left is the machine's own pace",
    ),
)  # fmt: skip
