"""Reads all connections of a capture at a client, with the client's key log."""

from __future__ import annotations

from pathlib import Path

from slownet.handshakes import QUIC
from slownet.packets import capture, keylog, quic, tls
from slownet.packets.seen import Seen

PORT = 443


def connections(pcap: Path, keys: Path, transport: str) -> list[Seen]:
    """Read the connections of a capture.

    Parameters
    ----------
    pcap, keys : Path
        The capture, and its key log, which need not exist.
    transport : str
        ``TCP``, or ``QUIC`` to port 443.

    Returns
    -------
    list of Seen
        In the order in which they were opened.

    Raises
    ------
    ToolError
        A connection cannot be read, or not without its keys.
    """
    log = keylog.parse(keys.read_text() if keys.exists() else "")
    if transport == QUIC:
        return [quic.read(each, log) for each in capture.datagrams(pcap, PORT)]
    return [tls.read(each, log) for each in capture.connections(pcap)]
