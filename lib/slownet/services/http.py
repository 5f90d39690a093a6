"""HTTP requests through a server's Unix socket, which uses no link."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slownet.model.units import whole_number


@dataclass(frozen=True)
class Page:
    """An HTTP response.

    status: the status code; 0 if none exists.
    body: the content.
    headers: the headers, with names in lower case.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def get(server: Path, path: str, host: str, timeout_s: float = 60.0) -> Page:
    """Get a page in HTTP/1.0, so that the server closes the connection after it.

    server: the server's Unix socket.
    path, host: the page's path, and the ``Host`` header.
    timeout_s: seconds to wait for the connection, and for each part of the response.
    returns: the response.
    Raises OSError: the server does not answer.
    """
    return parse(exchange(server, f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n", timeout_s))


def speaks(server: Path, request: str) -> bool:
    """Return whether the server gives any HTTP response to a request within a second. Raises OSError."""
    return exchange(server, request, 1.0, enough=5)[:5] == b"HTTP/"


def exchange(server: Path, request: str, timeout_s: float, enough: int | None = None) -> bytes:
    """Return what a server sends until it closes the connection or has sent ``enough`` bytes. Raises OSError."""
    answer = b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(server))
        connection.sendall(request.encode())
        while (enough is None or len(answer) < enough) and (more := connection.recv(1 << 16)):
            answer += more
    return answer


def parse(answer: bytes) -> Page:
    """Parse a response."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(None, 2)
    status = (whole_number(words[1]) or 0) if len(words) > 1 else 0
    pairs = (line.partition(":") for line in lines)
    return Page(status, body, {name.strip().lower(): value.strip() for name, _, value in pairs})
