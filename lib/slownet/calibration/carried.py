"""Finds the highest rate that the CPU carries between two hosts: `python -m slownet.calibration.carried` in a place."""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from slownet.links.conditions.link import ETHERNET, MTU
from slownet.links.ip import IP, IPV4, TCP_HEADER
from slownet.model.errors import LabError

if TYPE_CHECKING:
    from slownet.net.network_link import Link

BEYOND = 1e11  # a rate in bit/s that no CPU carries
KEPT = 0.95  # part of a carried rate that gets through
NEAR = 1.2  # the search ends when a rate this many times higher is not carried
QUEUE = "1000 packets"
CHUNK, LEAST_BYTES, MOST_BYTES, LONG_S = 1 << 16, 1 << 18, 1 << 23, 0.2
TIMES = 2


def carried(link: Link, source: Any, target: Any, ip: IP = IPV4) -> float:
    """Return the highest rate in bit/s that can be set on a link between two Mininet hosts and is reached."""

    frame_to_payload = (MTU + ETHERNET) / (MTU - ip.header - TCP_HEADER)

    def through(rate: float) -> float:
        count = int(min(max(rate * LONG_S / 8, LEAST_BYTES), MOST_BYTES)) // CHUNK * CHUNK
        with link.set(rate=f"{int(rate)}bit", queue=QUEUE, ping=False):
            return max(_poured(source, target, count, ip) for _ in range(TIMES)) * frame_to_payload

    return highest(through)


def highest(through: Callable[[float], float]) -> float:
    """Return the highest rate that is carried nearly whole; `through(rate)` measures how much of a stated rate does.

    A much higher rate does not show it: packets are then handled in batches, which takes less CPU per packet.
    """
    most, least = BEYOND, through(BEYOND)
    while (passed := through(least)) < KEPT * least:
        most, least = least, passed
    while most / least > NEAR:
        rate = math.sqrt(most * least)
        most, least = (most, rate) if through(rate) >= KEPT * rate else (rate, least)
    return least


def _poured(source: Any, target: Any, count: int, ip: IP) -> float:
    """Return the TCP throughput in bit/s from another process to this one."""
    from slownet.net import ipv6
    from slownet.net.namespace import inside

    with inside(target):
        listener = socket.create_server((ipv6.address(ip, target.IP()), 0), family=ip.family)
    with inside(source), closing(listener):
        child = os.fork()
        if not child:
            _pour(listener.getsockname()[:2], count)
        receiver, _ = listener.accept()
    with closing(receiver):
        buffer = bytearray(CHUNK)
        first = receiver.recv_into(buffer)
        began, total = time.monotonic(), 0
        while part := receiver.recv_into(buffer):
            total += part
        seconds = time.monotonic() - began
    os.waitpid(child, 0)
    if first + total != count:
        raise LabError(f"{first + total} of {count} bytes arrived")
    return 8 * total / seconds


def _pour(address: tuple[str, int], count: int) -> None:
    """Send in the other process, and end it without any output."""
    try:
        with socket.create_connection(address) as connection:
            chunk = bytes(CHUNK)
            for _ in range(count // CHUNK):
                connection.sendall(chunk)
    finally:
        os._exit(0)


def main() -> int:
    """Print {"bit_s"}, measured between client and web server of `ClientWebDb`, the topology of the first experiments."""
    from slownet.net.network import Network
    from slownet.topologies import ClientWebDb

    with Network(ClientWebDb) as net:
        print(json.dumps({"bit_s": carried(net.link("client", "switch"), net["client"], net["web"])}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
