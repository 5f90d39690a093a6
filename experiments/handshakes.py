"""What a connection costs before its first byte: TCP, TLS, QUIC, their resumptions, and what adds a round trip to them."""

from slownet import TwoHosts, experiment, predicted
from slownet.reproductions.protocols import Opening, Protocols
from slownet.theory.handshakes import NGINX_QUIC_WINDOW, STACKS, round_trips

MORE = {
    "": Opening(),
    "HelloRetryRequest": Opening(hello_retry=True),
    "Retry": Opening(retry=True),
    "certificate of 7 kB": Opening(certificate=7_000),
    "certificate of 16 kB": Opening(certificate=16_000),
    "document of 20 kB": Opening(document=20_000),
}
WITH = [
    ("TLS 1.3", "HelloRetryRequest"), ("QUIC", "HelloRetryRequest"), ("QUIC", "Retry"),
    ("TLS 1.3", "certificate of 7 kB"), ("QUIC", "certificate of 7 kB"), ("TLS 1.3", "certificate of 16 kB"),
    ("TCP", "document of 20 kB"), ("TLS 1.3", "document of 20 kB"), ("QUIC", "document of 20 kB"),
]  # fmt: skip
CELLS = [{"stack": stack} for stack in STACKS] + [{"stack": stack, "more": more} for stack, more in WITH]


# One block: each request is made at two round-trip times, and nothing is random.
@experiment(topology=TwoHosts, service=Protocols, cells=CELLS, tdf="inf", blocks=1)
def handshakes(net, protocols, stack, more=""):
    """How many round trips does a new connection take to the first byte of a document?"""
    link = net.link("server", "client")
    return protocols.handshake(net["client"], stack, lambda rtt: link.set(delay_up=rtt), MORE[more])


WHY = {
    "TCP": "the handshake, and the request",
    "TCP Fast Open": "the request is in the SYN, beside the cookie of an earlier connection (RFC 7413)",
    "TLS 1.2": "two more before the request (RFC 5246, 7.3)",
    "TLS 1.2 resumed": "one more, because the server has the session's keys",
    "TLS 1.3": "one more: the ClientHello has the key share (RFC 8446, 2)",
    "TLS 1.3 PSK": "a PSK saves the certificate, but no round trip (RFC 8446, 2.2)",
    "TLS 1.3 0-RTT": "the request comes with the ClientHello (RFC 8446, 2.3)",
    "TLS 1.3 over Fast Open": "the ClientHello is in the SYN",
    "TLS 1.3 0-RTT over Fast Open": "ClientHello and request are in the SYN",
    "QUIC": "one handshake for transport and TLS (RFC 9001)",
    "QUIC 0-RTT": "the request comes with the first Initial packet (RFC 9001, 4.6)",
    "HelloRetryRequest": "the client has to send its key share again (RFC 8446, 2.1)",
    "Retry": "the client has to show its address first (RFC 9000, 8.1)",
    "certificate of 7 kB": "TCP's first window holds it; QUIC sends three times 1200 bytes to a client it does not know",
    "certificate of 16 kB": "it is larger than the initial window of ten segments (RFC 6928)",
    "document of 20 kB": "more than TCP's first window of 14,480 bytes; that of nginx over QUIC is 131,054",
}


def claim(metric, cell, **asked):
    """Claim the round trips of a cell; nginx's own window counts only for what it serves over QUIC."""
    opening, window = MORE[cell.get("more", "")], NGINX_QUIC_WINDOW if cell["stack"] == "QUIC" else None
    trips = round_trips(
        stack=cell["stack"], certificate=opening.certificate, hello_retry=opening.hello_retry, retry=opening.retry,
        window=window, **asked,
    )  # fmt: skip
    return predicted(metric, cell, expected=trips, within=0.01, because=WHY[cell.get("more", cell["stack"])])


handshakes.claims(
    *(claim("round_trips", cell) for cell in CELLS),
    *(claim("round_trips_to_end", cell, bytes=20_000) for cell in CELLS if "document" in cell.get("more", "")),
)


@handshakes.answer
def answer(run):
    def trips(stack):
        return f"{run.at({'stack': stack}).summary('round_trips').mean:.3g}"

    stacks = ("TCP", "TLS 1.2", "TLS 1.3", "TLS 1.3 0-RTT", "QUIC", "QUIC 0-RTT")
    return f"{', '.join(f'{stack}: {trips(stack)}' for stack in stacks)}, the request's own round trip included."
