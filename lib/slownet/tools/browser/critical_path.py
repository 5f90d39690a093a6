"""The critical path to the first paint of a page: the chain of requests that ended last before it. Pure.

A page is painted when its document has begun to come and everything that blocks it has come: stylesheets and scripts without
``async`` or ``defer``. Of these the last one counts, and what asked for it, back to the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from slownet.tools.browser.loading import Load, Request

CONNECTING = ("dns", "connect", "tls")


def critical_path(load: Load) -> list[Request]:
    """Return the requests that the first paint waited for one after the other, the document first."""
    document = load.document
    painted = load.milestones.get("first_paint", load.milestones["load"])
    blocking = [each for each in load.requests if each.blocks and 0 < each.end <= painted]
    path = [max(blocking, key=lambda each: each.end)] if blocking else []
    while path and path[-1] is not document:
        asked = [each for each in load.requests if each.url == path[-1].initiator and each.start < path[-1].start]
        path.append(asked[-1] if asked else document)
    return path[::-1] or [document]


def connecting_ms(requests: Sequence[Request]) -> float:
    """Return for how long requests waited for names and connections."""
    return sum(last - first for each in requests for name, (first, last) in each.phases.items() if name in CONNECTING)


def preconnect_ms(load: Load) -> float:
    """Return how long the critical path waited for connections to hosts other than the page's own.

    The page could have opened them while it waited for something else: ``<link rel="preconnect">``.
    """
    path = critical_path(load)
    own = urlsplit(path[0].url).netloc
    return connecting_ms([each for each in path if urlsplit(each.url).netloc != own])


def described(load: Load, rtt_ms: float | None = None) -> str:
    """Say what the first paint waited for.

    load: the load.
    rtt_ms: the round trip between the browser and the servers, to count with.
    """
    path = critical_path(load)
    painted = load.milestones.get("first_paint")
    if painted is None:
        return "Nothing was painted."
    steps = " → ".join(f"{_name(each)} ({_waits(each)})" for each in path)
    said = f"The first paint, at {painted:.0f} ms, waited for {steps}."
    connected = connecting_ms(path)
    if rtt_ms and rtt_ms >= 1 and connected > 0:
        share, all_ = connected / rtt_ms, painted / rtt_ms
        said += f" {share:.1f} of {all_:.1f} round trips before it are connections"
        saved = preconnect_ms(load) / rtt_ms
        if saved >= 1:
            said += f": preconnect saves {saved:.0f}"
        said += "."
    return said


def _name(request: Request) -> str:
    parts = urlsplit(request.url)
    return parts.path.rpartition("/")[2] or parts.path or "/"


def _waits(request: Request) -> str:
    """Say a request's phases: "80 ms to connect, 43 ms for the first byte, 12 ms to the last"."""
    connect = connecting_ms([request])
    took = {name: last - first for name, (first, last) in request.phases.items()}
    begin = min((first for first, _ in request.phases.values()), default=request.start)
    said = [
        f"{value:.0f} ms {what}"
        for value, what in (
            (begin - request.start, "in a queue"), (connect, "to connect"), (took.get("request", 0.0), "for the first byte"),
            (took.get("download", 0.0), "to the last"),
        )
        if value >= 1
    ]  # fmt: skip
    return ", ".join(said) or "at once"
