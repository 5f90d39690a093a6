"""The first byte of a page on new connections of three kinds: what 15_the_first_byte.toml measures."""

from slownet.reproductions.protocols import NAME, USUAL, Protocols, observe
from slownet.theory.handshakes import opened

WAYS = {"https_ms": "TLS 1.3", "http3_ms": "QUIC", "early_ms": "QUIC 0-RTT"}


def server(net, directory):
    """Serve a page of 1 kB on the host `server`, in each of the ways."""
    return Protocols(net, directory)


def ways(net, server):
    """Return the time from the first packet to the first byte of the page, in ms, as a capture at the client shows it."""
    found = {}
    for name, stack in WAYS.items():
        with server.serving(opened(stack), USUAL):
            found[name] = observe(net["client"], server.host.IP(), NAME, opened(stack)).seen.first_ms
    return found
