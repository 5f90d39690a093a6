"""The article's patterns of writes on real sockets: which of them wait for the peer's delayed ACK, and which cures help."""

from slownet import TwoHosts, bound, experiment
from slownet.reproductions.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS, exchange, witnessed
from slownet.reproductions.own_server import Peer
from slownet.theory import published

# Settings of the peer: TCP_QUICKACK once, before every read, or quickack on the route. All other patterns are the client's.
PEER = {"quickack-once": "once", "quickack-always": "always", "quickack-route": "route"}
STALLS = {
    "write-write-read": "Nagle's algorithm holds the second small write until the first is acknowledged, and the peer, which "
    "has no answer yet, delays that ACK by HZ / 25 = 40 ms plus up to a tick of 4 ms",
    "quickack-once": "TCP_QUICKACK does not last: the first answer makes the connection interactive again",
}
FINE = {
    "write-read-write-read": "each write is answered, and the answer carries the ACK",
    "write-write-write": "the client does not wait for answers: a hundred messages share at most one delayed ACK",
    "one-write": "there is one segment, and nothing to hold back",
    "nodelay": "TCP_NODELAY turns Nagle's algorithm off",
    "cork": "TCP_CORK keeps the first write until the second, and both are one segment",
    "full-segment-first": "Linux has Minshall's variant: a small segment waits only for an earlier small one",
    "quickack-always": "set before each read, TCP_QUICKACK makes the kernel send every ACK at once",
    "quickack-route": "the route's quickack overrides the connection's delay",
}


# One block: the claims count on a hundred exchanges per connection, of which the first is quick.
@experiment(
    topology=TwoHosts, service=Peer, vary={"pattern": [*STALLS, *FINE]}, published=published.nagle_patterns(), tdf="inf",
    blocks=1,
)  # fmt: skip
def nagle_patterns(net, peer, pattern):
    """Which patterns of small writes stall for 40 ms because of Nagle's algorithm and the peer's delayed ACK?"""
    how = "write-write-read" if pattern in PEER else pattern
    with peer.listening(quickack=PEER.get(pattern, "")):
        return witnessed(exchange(net["client"], peer.address, how, count=100), net["client"], peer.address)


nagle_patterns.claims(
    *(
        bound("stall_ms", {"pattern": name}, at_least=DELAYED_ACK_LEAST_MS, at_most=DELAYED_ACK_MOST_MS, because=because)
        for name, because in STALLS.items()
    ),
    # The quick ACKs at the start are counted rather than skipped.
    *(
        bound("quick_exchanges", {"pattern": name}, at_least=1, at_most=1, because="ACKs are quick until the first answer")
        for name in STALLS
    ),
    *(
        bound("stalls", {"pattern": name}, at_least=99, at_most=99, because="after the first answer every exchange stalls")
        for name in STALLS
    ),
    # Without a delayed ACK, an exchange on these links takes far less than a millisecond.
    *(bound("exchange_ms", {"pattern": name}, at_most=1, because=because) for name, because in FINE.items()),
)


@nagle_patterns.answer
def answer(run):
    times = {name: run.at({"pattern": name}) for name in (*STALLS, *FINE)}
    slow = [name for name, each in times.items() if each.summary("exchange_ms").mean > 1]
    fine = max((each for name, each in times.items() if name not in slow), key=lambda each: each.summary("exchange_ms").mean)
    said = [f"{name} ({times[name].amount('exchange_ms')} an exchange)" for name in slow]
    return (
        f"{len(slow)} of {len(times)}{': ' * bool(slow)}{' and '.join(said)}. An exchange of the others takes at most "
        f"{fine.amount('exchange_ms')}."
    )
