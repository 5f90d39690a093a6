"""Reads from a capture whether connections are opened with MPTCP (RFC 8684)."""

from __future__ import annotations

from pathlib import Path

from slownet.links.packets.capture import ACK, SYN, frames

OPTION = 30
"""The TCP option of MPTCP."""


def opens(source: Path | bytes) -> bool:
    """Return whether a server has agreed to MPTCP in a SYN-ACK: a new connection (MP_CAPABLE), or a further path (MP_JOIN).

    Raises
    ------
    ToolError
        It is not a capture.
    """
    from scapy.layers.inet import TCP

    answers = (frame[TCP] for _, frame in frames(source) if TCP in frame and frame[TCP].flags.value & SYN)
    return any(kind == OPTION for each in answers if each.flags.value & ACK for kind, _ in each.options)
