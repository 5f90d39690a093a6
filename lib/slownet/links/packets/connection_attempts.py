"""Reads from captures how connections to a page were opened: over IPv4, IPv6 or both, with MPTCP (RFC 8684) or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.links.packets.capture import ACK, SYN, between, carried, frames
from slownet.model.errors import ToolError

OPTION = 30
"""The TCP option of MPTCP."""


def opens(source: Path | bytes) -> bool:
    """Return whether a server has agreed to MPTCP in a SYN-ACK: a new connection (MP_CAPABLE), or a further path (MP_JOIN).

    Raises ToolError: it is not a capture.
    """
    from scapy.layers.inet import TCP

    answers = (frame[TCP] for _, frame in frames(source) if TCP in frame and frame[TCP].flags.value & SYN)
    return any(kind == OPTION for each in answers if each.flags.value & ACK for kind, _ in each.options)


PORT = 80


@dataclass(frozen=True)
class Attempts:
    """The connections that a client tried to open for one page; times in ns since 1970.

    families: "IPv4" or "IPv6" for each connection, in the order of their first SYN.
    answered: over which one the page came.
    began, first: when the first SYN left, and when the page's first byte arrived.
    """

    families: tuple[str, ...]
    answered: str
    began: int
    first: int

    @property
    def first_byte_ms(self) -> float:
        """The time from the first SYN to the page's first byte, in ms."""
        return (self.first - self.began) / 1e6


def read(sources: Iterable[Path | bytes]) -> Attempts:
    """Read captures of one client's interfaces.

    sources: the captures.
    returns: the connections to port 80.
    Raises ToolError: no connection was tried, or none brought a page.
    """
    from scapy.layers.inet import TCP

    packets = sorted((ns, number, frame) for number, source in enumerate(sources) for ns, frame in _tcp(source))
    tried: dict[tuple[str, int, str, int], int] = {}
    for ns, _, frame in packets:
        if frame[TCP].dport == PORT and frame[TCP].flags.value & (SYN | ACK) == SYN:
            tried.setdefault(between(frame, TCP), ns)
    if not tried:
        raise ToolError("no connection to port 80 begins in the captures")
    came = next(((ns, frame) for ns, _, frame in packets if frame[TCP].sport == PORT and carried(frame)), None)
    if came is None:
        raise ToolError(f"none of {len(tried)} connections brought a page")
    families = tuple(_family(ends[0]) for ends in tried)
    return Attempts(families, _family(between(came[1], TCP)[0]), min(tried.values()), came[0])


def _tcp(source: Path | bytes) -> list[tuple[int, Any]]:
    from scapy.layers.inet import TCP

    return [(ns, frame) for ns, frame in frames(source) if TCP in frame]


def _family(address: str) -> str:
    return "IPv6" if ":" in address else "IPv4"
