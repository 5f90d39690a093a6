"""One connection as a capture shows it: its protocols, and when its first and last byte of an answer arrived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from slownet.model.protocol_names import TLS12, TLS13, Traits

VERSIONS = {0x0303: TLS12, 0x0304: TLS13}
HELLO_RETRY = sha256(b"HelloRetryRequest").digest()
"""The random of a ServerHello that is a HelloRetryRequest (RFC 8446, 4.1.3)."""


@dataclass(frozen=True)
class Seen:
    """One connection of a capture; times in ns since 1970.

    traits: how it was opened.
    application: the protocol that ALPN agreed on: "h2"; empty if none or not known.
    certificate: bytes of the server's Certificate message; 0 if it sent none.
    handshake: bytes of the server's first messages up to its Finished, or up to ServerHelloDone before TLS 1.3; 0 without TLS.
    began, first, last: when the client's first packet left, and when the first and the last byte of the answer arrived.
    answer: bytes of the answer, with its header and framing but without encryption.
    flights: the client's flights until the first byte arrived: round trips counted in packets.
    """

    traits: Traits
    application: str
    certificate: int
    handshake: int
    began: int
    first: int
    last: int
    answer: int
    flights: int

    @property
    def first_ms(self) -> float:
        """The time from the client's first packet to the first byte of the answer, in ms."""
        return (self.first - self.began) / 1e6

    @property
    def last_ms(self) -> float:
        """The time from the client's first packet to the last byte of the answer, in ms."""
        return (self.last - self.began) / 1e6


def flights(packets: Sequence[tuple[int, bool]], until: int) -> int:
    """Count the client's flights that a byte, which arrived at a time, can have waited for.

    packets: (ns, outward) in order. Packets less than half a round trip apart are one flight, and one that left less than half
    a round trip before the byte arrived is too late; the first answer shows how long a round trip is.
    """
    half = next((ns - packets[0][0] for ns, outward in packets if not outward), 0) / 2
    count, latest = 0, -half
    for ns, outward in ((ns - packets[0][0], outward) for ns, outward in packets):
        if outward and latest + half <= ns <= until - packets[0][0] - half:
            count, latest = count + 1, ns
    return count


def messages(data: bytes) -> list[tuple[int, bytes]]:
    """Return the whole handshake messages in a stream: type, and the message with its header of four bytes."""
    found, at = [], 0
    while at + 4 <= len(data):
        end = at + 4 + int.from_bytes(data[at + 1 : at + 4])
        if end > len(data):
            break
        found.append((data[at], bytes(data[at:end])))
        at = end
    return found


def sizes(found: Sequence[tuple[int, bytes]], kind: int) -> int:
    """Return the bytes of all messages of a type."""
    return sum(len(message) for each, message in found if each == kind)
