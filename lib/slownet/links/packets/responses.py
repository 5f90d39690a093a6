"""Mapping of a server's packets to the answers that they carry, over HTTP/2 on TLS 1.3 (RFC 9113) and HTTP/3 (RFC 9114)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.links.packets import quic, tls
from slownet.links.packets.capture import Datagram, Segment
from slownet.links.packets.connections import read_each
from slownet.links.packets.seen import Seen
from slownet.links.packets.tls import KeyLog, Piece

DATA, HEADERS, CONTINUATION = 0x0, 0x1, 0x9
FRAME = 9
"""Bytes before a frame's payload over HTTP/2: length, type, flags, stream."""
BIDIRECTIONAL = 4
"""Every fourth QUIC stream is one of the client's requests: 0, 4, 8 (RFC 9000, 2.1)."""


@dataclass(frozen=True)
class Answered:
    """One connection at its client.

    seen: its protocols and times.
    carried: for each packet of the server, in order, the answers that it has bytes of: 0 is the one that begins first. Over
        TLS, a packet with bytes of a record has those of all answers in the record, since that is decrypted as a whole.
    """

    seen: Seen
    carried: tuple[frozenset[int], ...]


def answered(pcap: Path, keys: Path, transport: str) -> list[Answered]:
    """Read the connections of a capture.

    pcap, keys: the capture, and its key log.
    transport: ``TCP``, or ``QUIC`` to port 443.
    returns: in the order they were opened.
    Raises ToolError: a connection cannot be read, or not without its keys.
    """
    return read_each(pcap, keys, transport, _over_tcp, _over_quic)


def _over_quic(datagrams: Sequence[Datagram], log: KeyLog) -> Answered:
    seen, streams = quic.with_streams(datagrams, log)
    return Answered(seen, numbered([{each for each in found if not each % BIDIRECTIONAL} for found in streams]))


def _over_tcp(segments: Sequence[Segment], log: KeyLog) -> Answered:
    seen, pieces = tls.with_pieces(segments, log)
    records = list(in_records(pieces))
    carried = [
        {stream for piece, found in records if each.sequence < piece.end and piece.begin < each.end for stream in found}
        for each in segments
        if not each.outward
    ]
    return Answered(seen, numbered(carried))


def in_records(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, set[int]]]:
    """Yield each record with the streams that it has bytes of answers of; none of what is not HTTP/2."""
    data = b"".join(each.content for each in pieces)
    answers = list(_frames(data))
    begin = 0
    for piece in pieces:
        end = begin + len(piece.content)
        yield piece, {stream for first, last, stream in answers if first < end and begin < last}
        begin = end


def _frames(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield where each frame of an answer begins and ends, and its stream."""
    at = 0
    while at + FRAME <= len(data):
        end = at + FRAME + int.from_bytes(data[at : at + 3])
        if data[at + 3] in (DATA, HEADERS, CONTINUATION):
            yield at, end, int.from_bytes(data[at + 5 : at + FRAME])
        at = end


def numbered(carried: Sequence[Collection[int]]) -> tuple[frozenset[int], ...]:
    """Number the streams of packets in the order they begin; those that begin in one packet, in their own order."""
    order = list(dict.fromkeys(stream for each in carried for stream in sorted(each)))
    return tuple(frozenset(order.index(stream) for stream in each) for each in carried)
