"""Measures a service with a limited number of requests, one at a time, with a pause after each."""

from __future__ import annotations

import datetime
import os

from slownet.comparison.record import Field
from slownet.model.errors import SlownetError
from slownet.model.options import TIMEOUT, Option
from slownet.model.units import duration
from slownet.model.version import __version__
from slownet.tools.web.address import Address
from slownet.tools.web.page_requests import Follow, visit
from slownet.tools.web.protocol import BEST, PLAIN, read
from slownet.tools.web.request import USER_AGENT

MOST = 1000
"""Requests of a measurement."""


def measure(
    address: Address, requests: int, pause: str, timeout: str, follow: Follow = lambda done: None, *, http: str = PLAIN,
    tls: str = BEST,
) -> Field:  # fmt: skip
    """Measure a page, in a version of HTTP (1.1, 2, 3) and of TLS (1.2, 1.3, best).

    If the first request fails, that is an error. If a later one fails, or after an interrupt, the measurement ends and the
    record explains why. Raises SlownetError, UnitError, ServiceError.
    """
    if not 1 <= requests <= MOST:
        raise SlownetError(f"{requests} requests", Option("requests"), f"give 1 to {MOST}: field is not a load generator")
    pause_s, timeout_s = duration(pause, str(Option("pause"))), duration(timeout, str(TIMEOUT))
    if not timeout_s:
        raise SlownetError("a timeout of 0", TIMEOUT, "give more than 0, such as 10s")
    protocol = read(http, tls, address)
    started = datetime.datetime.now(datetime.UTC)
    found = visit(address, requests, pause_s, timeout_s, protocol, follow)
    facts: dict[str, object] = {
        "url": address.url,
        "address": found.endpoint.ip,
        "port": address.port,
        "started": started.isoformat(timespec="seconds"),
        "requests": requests,
        "pause_s": pause_s,
        "timeout_s": timeout_s,
        "resolved_ms": found.name_ms,
        "http": found.pages[0].http,
        "tls": found.pages[0].tls,
        "user_agent": USER_AGENT,
        "slownet": __version__,
        "kernel": os.uname().release,
    }
    return Field(facts, found.pages, found.error)
