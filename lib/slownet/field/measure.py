"""Measures a service: a bounded number of requests, one at a time, with a pause after each."""

from __future__ import annotations

import datetime
import os
import ssl
import time
from collections.abc import Callable
from typing import Any

from slownet import __version__
from slownet.errors import ServiceError, SlownetError
from slownet.field.address import Address, Endpoint, resolve
from slownet.field.record import Field
from slownet.field.request import USER_AGENT, NoConnectionError, Page, get
from slownet.units import duration

REQUESTS, MOST = 20, 1000
PAUSE, TIMEOUT = "500ms", "10s"
INTERRUPTED = "interrupted"
Follow = Callable[[int], None]


def measure(address: Address, requests: int, pause: str, timeout: str, follow: Follow = lambda done: None) -> Field:
    """Measures a page.

    A first request that fails is an error; a later one ends the measurement politely, and the record says why. So does
    an interrupt. Raises SlownetError, UnitError, ServiceError.
    """
    if not 1 <= requests <= MOST:
        raise SlownetError(f"{requests} requests", "--requests", f"give 1 to {MOST}: this is no load generator")
    pause_s, timeout_s = duration(pause), duration(timeout)
    if not timeout_s:
        raise SlownetError("a timeout of 0", "--timeout", "give it some time, such as 10s")
    context = ssl.create_default_context() if address.scheme == "https" else None
    started, origin = datetime.datetime.now(datetime.UTC), time.perf_counter()
    endpoints = resolve(address)
    resolved_ms = (time.perf_counter() - origin) * 1000
    first, endpoint = _first(address, endpoints, timeout_s, context)
    origin = time.perf_counter() - first.total_ms / 1000
    pages, error = [first], None
    follow(1)
    try:
        while len(pages) < requests:
            time.sleep(pause_s)
            page = get(address, endpoint, timeout_s, context, origin)
            if page.problem:
                raise ServiceError(f"{address.url} {page.problem}")
            pages.append(page)
            follow(len(pages))
    except ServiceError as broken:
        error = broken.line
    except KeyboardInterrupt:
        error = INTERRUPTED
    facts: dict[str, Any] = {
        "url": address.url,
        "address": endpoint.ip,
        "port": address.port,
        "started": started.isoformat(timespec="seconds"),
        "requests": requests,
        "pause_s": pause_s,
        "timeout_s": timeout_s,
        "resolved_ms": resolved_ms,
        "user_agent": USER_AGENT,
        "slownet": __version__,
        "kernel": os.uname().release,
    }
    return Field(facts, tuple(pages), error)


def _first(
    address: Address, endpoints: list[Endpoint], timeout_s: float, context: ssl.SSLContext | None
) -> tuple[Page, Endpoint]:
    """The first page, from the first of the host's addresses that takes the connection, and that address: the other pages
    are asked for there too. What goes wrong with a connection goes wrong with the service, so it is not asked again."""
    errors: list[NoConnectionError] = []
    for endpoint in endpoints:
        try:
            page = get(address, endpoint, timeout_s, context, time.perf_counter())
        except NoConnectionError as error:
            errors.append(error)
            continue
        if page.location and page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="measure that address, redirects are not followed")
        if page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="give the address of a page that is there")
        return page, endpoint
    raise errors[0]
