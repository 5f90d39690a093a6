"""Requests a page with asyncio's happy eyeballs: HOST PORT PATH SECONDS.

Run by `slownet.reproductions.dual_stack`. It prints the first byte of the answer.
"""

from __future__ import annotations

import asyncio
import sys


async def request(host: str, port: int, path: str, delay: float) -> bytes:
    """Return the answer's first byte; ``delay``: seconds until the next address is tried beside the first."""
    reader, writer = await asyncio.open_connection(host, port, happy_eyeballs_delay=delay)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    found = await reader.readexactly(1)
    writer.close()
    return found


def main() -> None:
    """Request the page that the command line names."""
    host, port, path, delay = sys.argv[1:]
    print(asyncio.run(request(host, int(port), path, float(delay))).decode())


if __name__ == "__main__":
    main()
