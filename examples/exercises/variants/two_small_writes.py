"""A request in two small writes, or in one: what 11_two_small_writes.toml measures."""

from slownet.reproductions.exchange import exchange
from slownet.reproductions.own_server import Peer


def peer(net, directory):
    """Answer messages on the host `server`."""
    return Peer(net, directory)


def writes(net, peer):
    """Return how long an exchange takes with two writes, if it stalls, and with one."""
    with peer.listening():
        two = exchange(net["client"], peer.address, "write-write-read", count=20)
    with peer.listening():
        one = exchange(net["client"], peer.address, "one-write", count=20)
    return {"stall_ms": list(two.stalls_ms), "one_write_ms": list(one.times_ms)}
