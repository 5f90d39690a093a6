"""A web address as a person writes it, and where the name service says that it is."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from slownet.errors import ServiceError, SlownetError, nearest

PORTS = {"http": 80, "https": 443}
KEPT = "/?%:@!$&'()*+,;=~"
"""What a path with its query may hold besides letters, digits and ``_.-`` (RFC 3986, 3.3 and 3.4)."""


@dataclass(frozen=True)
class Address:
    """What a URL says, its fragment left out: that never leaves the browser."""

    url: str
    scheme: str
    host: str
    port: int
    path: str
    """With the query."""


@dataclass(frozen=True)
class Endpoint:
    """Where a connection goes: an address of the host."""

    family: socket.AddressFamily
    address: Any
    """As ``socket.connect`` takes it."""

    @property
    def ip(self) -> str:
        return str(self.address[0])


def read(text: str) -> Address:
    """The address in a URL. Raises SlownetError."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SlownetError(f"'{text}' is no web address", fix=str(error)) from None
    if parts.scheme not in PORTS:
        fix = f"write it like http://{text}" if "://" not in text else nearest(parts.scheme, PORTS)
        raise SlownetError(f"'{text}' is no address of http or https", fix=fix)
    if not host:
        raise SlownetError(f"'{text}' names no host", fix="write it like http://www.example.org/")
    if parts.username is not None:
        raise SlownetError("an address with a user's name", f"in {parts.scheme}://...@{host}", "measure a page that takes none")
    path = quote(parts.path or "/", safe=KEPT) + (f"?{quote(parts.query, safe=KEPT)}" if parts.query else "")
    return Address(text.strip().partition("#")[0], parts.scheme, host, PORTS[parts.scheme] if port is None else port, path)


def resolve(address: Address) -> list[Endpoint]:
    """The host's addresses in the system's order. Raises ServiceError."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else "not a name"
        raise ServiceError(f"no host '{address.host}' ({why})", f"in {address.url}", "check its name and your DNS") from None
    return [Endpoint(family, where) for family, _, _, _, where in found]
