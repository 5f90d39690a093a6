"""Sends messages over MPTCP or TCP, and shows when they arrived: PROTOCOL serve PORT | PROTOCOL fetch HOST PORT SECONDS.

Run by `slownet.reproductions.two_paths`. The server sends a message every hundredth of a second to the one who connects, and
who prints a line of JSON: ``gap_ms``, the longest time between two arrivals, or between the last one and the end;
``gap_at_ms``, when it began; ``bytes`` and ``bytes_after_gap``.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from contextlib import suppress

PROTOCOLS = {"MPTCP": socket.IPPROTO_MPTCP, "TCP": socket.IPPROTO_TCP}
MESSAGE, INTERVAL_S = bytes(1000), 0.01


def serve(protocol: int, port: int) -> None:
    """Send to the first one who connects, until the connection ends."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("", port))
        listening.listen(1)
        connection, _ = listening.accept()
        with connection, suppress(OSError):  # further paths join over the listening socket, so it stays open
            while True:
                connection.sendall(MESSAGE)
                time.sleep(INTERVAL_S)


def fetch(protocol: int, host: str, port: int, seconds: float) -> dict[str, float]:
    """Receive for some seconds, and return when data arrived."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as connection:
        connection.connect((host, port))
        began = last = time.monotonic()
        gap, gap_at, before, total = 0.0, 0.0, 0, 0
        while (left := began + seconds - time.monotonic()) > 0:
            connection.settimeout(left)
            try:
                size = len(connection.recv(1 << 20))
            except TimeoutError:
                size = 0
            now = time.monotonic()
            if now - last > gap:
                gap, gap_at, before = now - last, last - began, total
            last, total = now, total + size
    after = total - before
    return {"gap_ms": 1000 * gap, "gap_at_ms": 1000 * gap_at, "bytes": total, "bytes_after_gap": after}


def main() -> None:
    """Run the command line."""
    protocol, what, *words = sys.argv[1:]
    if what == "serve":
        serve(PROTOCOLS[protocol], int(words[0]))
    else:
        host, port, seconds = words
        print(json.dumps(fetch(PROTOCOLS[protocol], host, int(port), float(seconds))))


if __name__ == "__main__":
    main()
