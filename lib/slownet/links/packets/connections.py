"""Reads all connections of a capture at a client, with the client's key log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from slownet.links.packets import capture, quic, tls
from slownet.links.packets.capture import Datagram, Segment
from slownet.links.packets.seen import Seen
from slownet.links.packets.tls import KeyLog
from slownet.model.protocol_names import QUIC

PORT = 443
R = TypeVar("R")


def connections(pcap: Path, keys: Path, transport: str) -> list[Seen]:
    """Read the connections of a capture.

    pcap, keys: the capture, and its key log, which need not exist.
    transport: ``TCP``, or ``QUIC`` to port 443.
    returns: in the order they were opened.
    Raises ToolError: a connection cannot be read, or not without its keys.
    """
    return read_each(pcap, keys, transport, tls.read, quic.read)


def read_each(
    pcap: Path,
    keys: Path,
    transport: str,
    over_tcp: Callable[[Sequence[Segment], KeyLog], R],
    over_quic: Callable[[Sequence[Datagram], KeyLog], R],
) -> list[R]:
    """Return what a function finds in each connection; parameters and errors as for `connections`."""
    log = tls.parse(keys.read_text(errors="replace") if keys.exists() else "")
    with capture.undamaged(pcap):
        if transport == QUIC:
            return [over_quic(each, log) for each in capture.datagrams(pcap, PORT)]
        return [over_tcp(each, log) for each in capture.connections(pcap)]
