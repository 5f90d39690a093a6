"""Measures a service with a limited number of requests, one at a time, with a pause after each."""

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
    """Measure a page.

    If the first request fails, that is an error. If a later one fails, or after an interrupt, the measurement ends and the
    record says why. Raises SlownetError, UnitError, ServiceError.
    """
    if not 1 <= requests <= MOST:
        raise SlownetError(f"{requests} requests", "--requests", f"give 1 to {MOST}: this is not a load generator")
    pause_s, timeout_s = duration(pause), duration(timeout)
    if not timeout_s:
        raise SlownetError("a timeout of 0", "--timeout", "give more than 0, such as 10s")
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
    """Return the first page and the first of the host's addresses that accepts a connection, which the other requests use too.

    Only a failed connection makes it try the next address: any other error is the service's.
    """
    errors: list[NoConnectionError] = []
    for endpoint in endpoints:
        try:
            page = get(address, endpoint, timeout_s, context, time.perf_counter())
        except NoConnectionError as error:
            errors.append(error)
            continue
        if page.location and page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="measure that URL, redirects are not followed")
        if page.problem:
            raise ServiceError(f"{address.url} {page.problem}", fix="give the URL of a page that exists")
        return page, endpoint
    raise errors[0]
