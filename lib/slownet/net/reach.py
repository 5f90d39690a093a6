"""Waits until hosts reach each other: many ICMP echo requests over one raw socket, instead of one ping after another.

Over IPv4, and over IPv6 where hosts have it.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from slownet.errors import NetworkError
from slownet.ip import ECHO, ECHO_HEADER, IP, IPV4, IPV6
from slownet.net.nodes import inside

AT_ONCE = 64  # requests at a time; their answers fit into a socket's buffer
PATIENCE_S = (0.05, 0.2, 1.0)  # to wait for answers in each round; the last one also in later rounds


def wait(first: Any, others: Sequence[Any], deadline_s: float, where: str, ipv6: Callable[[str], str] | None = None) -> None:
    """Wait until every other host has answered the first. Raises NetworkError naming one that does not.

    ipv6: returns the IPv6 address that belongs to an IPv4 address, to ask over IPv6.
    """
    ip, missing = IPV6 if ipv6 else IPV4, {}
    for host in others:
        address = host.IP()
        if not address:
            raise NetworkError(f"{host.name} has no address", where=where, fix="is the topology connected?")
        missing[ipv6(address) if ipv6 else address] = host.name
    missing.pop(ipv6(first.IP()) if ipv6 else first.IP(), None)
    deadline = time.monotonic() + deadline_s
    with inside(first):
        asking = socket.socket(ip.family, socket.SOCK_RAW, ip.icmp)
    with asking:
        asking.setblocking(False)
        rounds = 0
        while missing:
            patience = PATIENCE_S[min(rounds, len(PATIENCE_S) - 1)]
            addresses = list(missing)
            for start in range(0, len(addresses), AT_ONCE):
                for address in _answering(asking, ip, addresses[start : start + AT_ONCE], patience):
                    missing.pop(address, None)
            rounds += 1
            if missing and time.monotonic() > deadline:
                raise NetworkError(
                    f"{next(iter(missing.values()))} does not answer {first.name} after {deadline_s:g} s",
                    where=where,
                    fix="is the topology connected?",
                )


def _answering(asking: socket.socket, ip: IP, addresses: Sequence[str], seconds: float) -> set[str]:
    """Return which of the addresses answer within these seconds."""
    request = ip.echo(_identity(), 0)
    awaited = set()
    for address in addresses:
        try:
            asking.sendto(request, (address, 0))
            awaited.add(address)
        except OSError:  # no route yet, or the error of an earlier request: try again
            continue
    until = time.monotonic() + seconds
    found: set[str] = set()
    while len(found) < len(addresses):
        if not select.select([asking], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        try:
            packet, (source, *_) = asking.recvfrom(2048)
        except OSError:
            continue
        answer = packet[(packet[0] & 15) * 4 :] if ip is IPV4 else packet  # only IPv4's sockets show the header
        wanted = (ip.echo_reply, _identity())
        if source in awaited and len(answer) >= ECHO_HEADER and ECHO.unpack_from(answer)[0::3] == wanted:
            found.add(source)
    return found


def _identity() -> int:
    return os.getpid() & 0xFFFF
