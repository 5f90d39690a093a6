"""Parses the URL of a service and looks up its IP addresses."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from slownet.model.errors import ServiceError, SlownetError, nearest

PORTS = {"http": 80, "https": 443}
KEPT = "/?%:@!$&'()*+,;=~"
"""Characters that need no quoting in a path or query, besides letters, digits and ``_.-`` (RFC 3986, 3.3 and 3.4)."""


@dataclass(frozen=True)
class Address:
    """The parts of a URL without the fragment, which a client does not send."""

    url: str
    scheme: str
    host: str
    port: int
    path: str
    """Including the query."""


@dataclass(frozen=True)
class Endpoint:
    """One IP address of the host, to connect to."""

    family: socket.AddressFamily
    address: Any
    """In the form that ``socket.connect`` takes."""

    @property
    def ip(self) -> str:
        """The address without its port."""
        return str(self.address[0])


def read(text: str) -> Address:
    """Parse a URL. Raises SlownetError."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SlownetError(f"'{text}' is not a URL", fix=str(error)) from None
    if parts.scheme not in PORTS:
        fix = f"write it like http://{text}" if "://" not in text else nearest(parts.scheme, PORTS)
        raise SlownetError(f"'{text}' is not an http or https URL", fix=fix)
    if not host:
        raise SlownetError(f"'{text}' has no host", fix="write it like http://www.example.org/")
    if parts.username is not None:
        raise SlownetError("the URL contains a user name", f"in {parts.scheme}://...@{host}", "measure a page without login")
    path = quote(parts.path or "/", safe=KEPT) + (f"?{quote(parts.query, safe=KEPT)}" if parts.query else "")
    return Address(text.strip().partition("#")[0], parts.scheme, host, PORTS[parts.scheme] if port is None else port, path)


def resolve(address: Address) -> list[Endpoint]:
    """Look up the host's addresses, in the order of preference of the system. Raises ServiceError."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else "not a name"
        raise ServiceError(f"unknown host '{address.host}' ({why})", f"in {address.url}", "check name and DNS") from None
    return [Endpoint(family, where) for family, _, _, _, where in found]
