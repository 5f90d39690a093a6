"""Requests a page several times, one request at a time, with a pause after each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from slownet.model.errors import ServiceError
from slownet.tools.web.address import Address, Endpoint, resolve
from slownet.tools.web.protocol import Protocol
from slownet.tools.web.request import NoConnectionError, Page, get

INTERRUPTED = "interrupted"
Follow = Callable[[int], None]


@dataclass(frozen=True)
class Visit:
    """The pages that came."""

    endpoint: Endpoint
    """The address that they came from."""
    name_ms: float
    """Time to look up the host's addresses, which is done once."""
    pages: tuple[Page, ...]
    error: str | None = None
    """Why it ended early; None if it did not."""


def visit(
    address: Address, requests: int, pause_s: float, timeout_s: float, protocol: Protocol, follow: Follow = lambda done: None
) -> Visit:
    """Request a page ``requests`` times.

    If the first request fails, that is an error. If a later one fails, or after an interrupt, the pages until then are kept.
    Raises ServiceError.
    """
    origin = time.perf_counter()
    endpoints = resolve(address)
    name_ms = (time.perf_counter() - origin) * 1000
    first, endpoint = _first(address, endpoints, timeout_s, protocol)
    origin = time.perf_counter() - first.total_ms / 1000
    pages, error = [first], None
    follow(1)
    try:
        while len(pages) < requests:
            time.sleep(pause_s)
            page = get(address, endpoint, timeout_s, protocol, time.perf_counter() - origin)
            if page.problem:
                raise ServiceError(f"{address.url} {page.problem}")
            pages.append(page)
            follow(len(pages))
    except ServiceError as broken:
        error = broken.line
    except KeyboardInterrupt:
        error = INTERRUPTED
    return Visit(endpoint, name_ms, tuple(pages), error)


def _first(address: Address, endpoints: list[Endpoint], timeout_s: float, protocol: Protocol) -> tuple[Page, Endpoint]:
    """Return the first page and the first of the host's addresses that accepts a connection, which the other requests use too.

    Only a failed connection makes it try the next address: any other error is the service's.
    """
    errors: list[NoConnectionError] = []
    for endpoint in endpoints:
        try:
            page = get(address, endpoint, timeout_s, protocol, 0.0)
        except NoConnectionError as error:
            errors.append(error)
            continue
        if page.location and page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="measure that URL, redirects are not followed")
        if page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="give the URL of a page that exists")
        return page, endpoint
    raise errors[0]
