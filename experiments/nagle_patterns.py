"""The article's patterns of writes on real sockets: which of them wait for the peer's delayed ACK, and what cures it."""

from slownet import published
from slownet.claim import bound
from slownet.experiment import experiment
from slownet.services.peer import Peer
from slownet.tools.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS, exchange, witnessed
from slownet.topologies import TwoHosts

# Of the peer: TCP_QUICKACK once, TCP_QUICKACK before every read, or quickack on the route. All else is the client's.
PEER = {"quickack-once": "once", "quickack-always": "always", "quickack-route": "route"}
STALLS = {
    "write-write-read": "Nagle holds the second small write until the first is acknowledged, and the peer, which has "
    "nothing to answer yet, delays that ACK by HZ / 25 = 40 ms and up to a tick of 4 ms",
    "quickack-once": "TCP_QUICKACK does not stick: the first answer makes the connection interactive again",
}
FINE = {
    "write-read-write-read": "each write is answered, and the answer carries the ACK",
    "write-write-write": "nobody waits for answers: a hundred messages share one delayed ACK at most",
    "one-write": "one segment, nothing held back",
    "nodelay": "TCP_NODELAY turns Nagle off",
    "cork": "TCP_CORK keeps the first write until the second is there: one segment",
    "full-segment-first": "Linux has Minshall's variant: a small segment waits only for an earlier small one",
    "quickack-always": "set before each read, TCP_QUICKACK has every ACK sent at once",
    "quickack-route": "the route's quickack overrides what the connection would do",
}


# One block: of a hundred exchanges on one connection the first is quick, whichever hundred it is.
@experiment(
    topology=TwoHosts, service=Peer, vary={"pattern": [*STALLS, *FINE]}, published=published.nagle_patterns(), tdf="inf",
    blocks=1,
)  # fmt: skip
def nagle_patterns(net, peer, pattern):
    """Which patterns of small writes stall for 40 ms between Nagle's algorithm and the peer's delayed ACK?"""
    how = "write-write-read" if pattern in PEER else pattern
    with peer.listening(quickack=PEER.get(pattern, "")):
        return witnessed(exchange(net["client"], peer.address, how, count=100), net["client"], peer.address)


nagle_patterns.claims(
    *(
        bound("stall_ms", {"pattern": name}, at_least=DELAYED_ACK_LEAST_MS, at_most=DELAYED_ACK_MOST_MS, because=because)
        for name, because in STALLS.items()
    ),
    # The quick-ACK phase is counted, not slept through.
    *(
        bound("quick_exchanges", {"pattern": name}, at_least=1, at_most=1, because="ACKs are quick until the first answer")
        for name in STALLS
    ),
    *(
        bound("stalls", {"pattern": name}, at_least=99, at_most=99, because="and from then on every exchange stalls")
        for name in STALLS
    ),
    # Without a stall there is nothing to wait for on these links: all but a delayed ACK is far below a millisecond.
    *(bound("exchange_ms", {"pattern": name}, at_most=1, because=because) for name, because in FINE.items()),
)
