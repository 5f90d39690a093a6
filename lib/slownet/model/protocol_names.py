"""Names of protocols, and how a connection is opened: what packets show, and what theory computes with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PLAIN, TLS12, TLS13 = "no TLS", "TLS 1.2", "TLS 1.3"
TCP, QUIC, UDP = "TCP", "QUIC", "UDP"
DNS_PORTS: Mapping[str, int] = {UDP: 53, "TCP": 53, "TLS": 853, "HTTPS": 443}
"""The server's port by transport."""


@dataclass(frozen=True)
class Traits:
    """The ways to open a connection.

    transport: `TCP` or `QUIC`.
    security: `PLAIN`, `TLS12` or `TLS13`.
    resumed: whether the server accepts an earlier session: a session id, a ticket or a PSK.
    early: whether the server accepts early data (0-RTT).
    fast_open: whether the server acknowledges data in the SYN.
    hello_retry, retry: whether the server sends a HelloRetryRequest, or a Retry packet.
    """

    transport: str
    security: str
    resumed: bool = False
    early: bool = False
    fast_open: bool = False
    hello_retry: bool = False
    retry: bool = False

    def __str__(self) -> str:
        names = ("resumed", "early", "fast_open", "hello_retry", "retry")
        extras = (name.replace("_", " ") for name in names if getattr(self, name))
        return ", ".join([f"{self.transport} with {self.security}", *extras])
