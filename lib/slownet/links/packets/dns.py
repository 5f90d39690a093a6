"""Reads from a capture how a name was looked up before a page, and when: DNS over UDP, TCP, TLS and HTTPS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.links.packets.capture import SYN, carried, frames, undamaged
from slownet.links.packets.seen import VERSIONS, messages
from slownet.model.errors import ToolError
from slownet.model.protocol_names import DNS_PORTS, TLS13, UDP

PAGE_PORT = 80
RECORD_HEADER = 5
HANDSHAKE, DATA, SERVER_HELLO = 22, 23, 2
TRANSPORTS = {(UDP if name == UDP else "TCP", port): name for name, port in DNS_PORTS.items()}
"""The transports by protocol and the server's port."""


@dataclass(frozen=True)
class Lookup:
    """A lookup, and the page that was requested after it; times in ns since 1970.

    transports: the transports of its packets, by their ports and, if they have TLS 1.3, their records: names in `DNS_PORTS`.
    opened: whether a connection was opened for it.
    began, ended, first: when its first packet left, when the page's first packet left, and when the page's first byte arrived.
    """

    transports: tuple[str, ...]
    opened: bool
    began: int
    ended: int
    first: int

    @property
    def lookup_ms(self) -> float:
        """The time of the lookup, in ms."""
        return (self.ended - self.began) / 1e6

    @property
    def first_ms(self) -> float:
        """The time from the lookup's first packet to the page's first byte, in ms."""
        return (self.first - self.began) / 1e6


@dataclass(frozen=True)
class _Packet:
    """A packet of TCP or UDP: whether to the server's port, that port, the client's, the SYN flag, its payload."""

    ns: int
    outward: bool
    kind: str
    port: int
    own: int
    syn: bool
    data: bytes


def read(source: Path | bytes) -> Lookup:
    """Read the last page of a capture at the client, and the lookup before it.

    source: the capture.
    returns: how the name was looked up.
    Raises ToolError: the capture has no page, or no lookup, or one over a version of TLS other than 1.3.
    """
    packets = list(_packets(source))
    page = [each for each in packets if (each.kind, each.port) == ("TCP", PAGE_PORT)]
    ended = next((each.ns for each in page if each.syn and each.outward), None)
    first = next((each.ns for each in page if each.data and not each.outward), None)
    if ended is None or first is None:
        raise ToolError("the capture has no page")
    asked = [each for each in packets if (each.kind, each.port) in TRANSPORTS and (each.data or each.syn) and each.ns < ended]
    # Others end what an earlier resolver began: their client says nothing anymore.
    speaking = {(each.port, each.own) for each in asked if each.outward}
    asked = [each for each in asked if (each.port, each.own) in speaking]
    if not asked:
        raise ToolError("the capture has no lookup before its page")
    names = {TRANSPORTS[each.kind, each.port] for each in asked}
    opened = any(each.syn for each in asked)
    for name in names & {"TLS", "HTTPS"}:
        with undamaged(source):
            _check([each for each in asked if each.port == DNS_PORTS[name] and each.data], name, opened)
    return Lookup(tuple(sorted(names)), opened, asked[0].ns, ended, first)


def _packets(source: Path | bytes) -> Iterable[_Packet]:
    from scapy.layers.inet import TCP, UDP

    ports = {PAGE_PORT, *DNS_PORTS.values()}
    for ns, frame in frames(source):
        for layer in (TCP, UDP):
            if layer not in frame:
                continue
            one = frame[layer]
            outward = one.dport in ports
            port, own = (one.dport, one.sport) if outward else (one.sport, one.dport)
            tcp = layer is TCP
            size = carried(frame) if tcp else one.len - 8
            syn = tcp and bool(one.flags.value & SYN)
            yield _Packet(ns, outward, layer.__name__, port, own, syn, bytes(one.payload)[:size])


def _check(packets: list[_Packet], name: str, opened: bool) -> None:
    """Raise ToolError unless these packets have a connection of TLS 1.3 from its start, or if it is open, only its data."""
    found: Any = None
    if opened:
        hello = next((each.data for each in packets if not each.outward), b"")
        found = _version(hello)
    elif all(each.data[:1] == bytes([DATA]) for each in packets):
        found = TLS13
    if found != TLS13:
        raise ToolError(f"the capture shows {found or 'no TLS'} on the port of {name} instead of {TLS13}")


def _version(data: bytes) -> str | None:
    """Return the version of TLS in the ServerHello that a server's first segment has."""
    from aioquic.buffer import Buffer
    from aioquic.tls import pull_server_hello

    if data[:1] != bytes([HANDSHAKE]):
        return None
    content = data[RECORD_HEADER : RECORD_HEADER + int.from_bytes(data[3:RECORD_HEADER])]
    hello = next((message for kind, message in messages(content) if kind == SERVER_HELLO), None)
    return VERSIONS.get(pull_server_hello(Buffer(data=hello)).supported_version or 0x0303) if hello else None
