"""The receiver's part in the 40 ms stall: segments crafted by scapy instead of a socket, and a real listener."""

from slownet import TwoHosts, bound, experiment, predicted
from slownet.reproductions.delayed_ack import delayed_ack
from slownet.reproductions.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS
from slownet.reproductions.own_server import Peer
from slownet.theory import published

ARTICLE = published.article("nagle-delayed-ack")
KINDS = {"answered": ("answered", ""), "silent": ("silent", ""), "quickack-route": ("answered", "route")}


# One block: this measures the kernel's timers, and shorter blocks would gain nothing.
@experiment(
    topology=TwoHosts, service=Peer, vary={"listener": list(KINDS)}, published=published.crafted_segments(), tdf="inf", blocks=1
)  # fmt: skip
def crafted_segments(net, peer, listener):
    """How long does a peer delay the ACK of a small segment while a second one waits for it?"""
    kind, quickack = KINDS[listener]
    with peer.listening(quickack=quickack):
        return delayed_ack(net["client"], peer.address, kind)


crafted_segments.claims(
    # The article's kernel may have another tick. The minimum is 40 ms on both, and up to 4 ms more here: 44.1 / 39.7.
    predicted(
        "delayed_ack_ms", {"listener": "answered"}, expected=1000 * ARTICLE["stall_s"], within=0.12,
        because="this is the article's stall, measured without a TCP socket",
    ),
    bound(
        "delayed_ack_ms", {"listener": "answered"}, at_least=DELAYED_ACK_LEAST_MS, at_most=DELAYED_ACK_MOST_MS,
        because="the kernel's minimum delay is HZ / 25, plus up to a tick of 4 ms",
    ),
    bound(
        "quick_acks", {"listener": "answered"}, at_least=1, at_most=1,
        because="a new connection sends its ACKs at once, until its first answer",
    ),
    bound("answer_ms", {"listener": "answered"}, at_most=1, because="the answer follows the second segment at once"),
    bound(
        "delayed", {"listener": "silent"}, at_most=0,
        because="a listener that never answers is not interactive, so it delays no ACK",
    ),
    bound("delayed", {"listener": "quickack-route"}, at_most=0, because="the route's quickack overrides the delay"),
)  # fmt: skip


@crafted_segments.answer
def answer(run):
    answered, silent, quick = (run.at({"listener": listener}) for listener in KINDS)
    counts = [each.summary("delayed").mean for each in (silent, quick)]
    rest = "not at all" if not any(counts) else f"{counts[0]:.3g} and {counts[1]:.3g} times"
    return (
        f"{answered.amount('delayed_ack_ms')} behind a listener that answers, as most programs do; {rest} behind one "
        "that never answers, or over a route with quickack."
    )
