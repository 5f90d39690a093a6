"""Waits until hosts reach each other: many ICMP echo requests over one raw socket, instead of one ping after another."""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from slownet.errors import NetworkError
from slownet.net.nodes import inside

AT_ONCE = 64  # requests at a time; their answers fit into a socket's buffer
PATIENCE_S = (0.05, 0.2, 1.0)  # to wait for answers in each round; the last one also in later rounds
ECHO_REPLY, ECHO_REQUEST = 0, 8  # RFC 792
HEADER = struct.Struct("!BBHHH")


def wait(first: Any, others: Sequence[Any], deadline_s: float, where: str) -> None:
    """Wait until every other host has answered the first. Raises NetworkError naming one that does not."""
    missing = {}
    for host in others:
        address = host.IP()
        if not address:
            raise NetworkError(f"{host.name} has no address", where=where, fix="is the topology connected?")
        missing[address] = host.name
    missing.pop(first.IP(), None)
    deadline = time.monotonic() + deadline_s
    with inside(first):
        asking = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with asking:
        asking.setblocking(False)
        rounds = 0
        while missing:
            patience = PATIENCE_S[min(rounds, len(PATIENCE_S) - 1)]
            addresses = list(missing)
            for start in range(0, len(addresses), AT_ONCE):
                for address in _answering(asking, addresses[start : start + AT_ONCE], patience):
                    missing.pop(address, None)
            rounds += 1
            if missing and time.monotonic() > deadline:
                raise NetworkError(
                    f"{next(iter(missing.values()))} does not answer {first.name} after {deadline_s:g} s",
                    where=where,
                    fix="is the topology connected?",
                )


def _answering(asking: socket.socket, addresses: Sequence[str], seconds: float) -> set[str]:
    """Return which of the addresses answer within these seconds."""
    request = _request()
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
            packet, (source, _) = asking.recvfrom(2048)
        except OSError:
            continue
        answer = packet[(packet[0] & 15) * 4 :]
        if source in awaited and len(answer) >= HEADER.size and HEADER.unpack_from(answer)[0::3] == (ECHO_REPLY, _identity()):
            found.add(source)
    return found


def _identity() -> int:
    return os.getpid() & 0xFFFF


def _request() -> bytes:
    checksum = ~_fold((ECHO_REQUEST << 8) + _identity()) & 0xFFFF
    return HEADER.pack(ECHO_REQUEST, 0, checksum, _identity(), 0)


def _fold(total: int) -> int:
    return (total & 0xFFFF) + (total >> 16)
