"""Writes loads as a HAR 1.2 file, which any browser's developer tools and HAR viewers open. Pure.

http://www.softwareishard.com/blog/har-12-spec/
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from slownet.tools.browser.loading import Load, Request, Said

UNKNOWN = -1
"""HAR's number for what is not known or does not apply."""


def archive(loads: Sequence[Load]) -> dict[str, object]:
    """Return loads as a HAR object: a page and its entries for each load."""
    pages, entries = [], []
    for number, load in enumerate(loads, 1):
        page = f"load_{number}"
        pages.append(_page(page, load))
        entries += [_entry(page, load, request) for request in load.requests]
    browser = loads[0].browser if loads else ""
    name, _, version = browser.partition("/")
    return {
        "log": {
            "version": "1.2", "creator": {"name": "slownet", "version": ""},
            "browser": {"name": name or "Chrome", "version": version}, "pages": pages, "entries": entries,
        }
    }  # fmt: skip


def _page(page: str, load: Load) -> dict[str, object]:
    times = load.milestones
    timings = {"onContentLoad": times["dom_ready"], "onLoad": times["load"]}
    timings |= {f"_{name}": times[name] for name in ("first_paint", "largest_paint") if name in times}
    return {"startedDateTime": _date(load.began), "id": page, "title": load.url, "pageTimings": timings}


def _entry(page: str, load: Load, request: Request) -> dict[str, object]:
    timings = _timings(request)
    found: dict[str, object] = {
        "pageref": page, "startedDateTime": _date(load.began + request.start / 1000),
        "time": sum(timings[name] for name in timings if name != "ssl" and timings[name] > 0),
        "request": _request(request), "response": _response(request), "cache": {}, "timings": timings,
        "_resourceType": request.kind.lower(), "_initiator": request.initiator, "_renderBlocking": request.blocks,
    }  # fmt: skip
    return found | ({"connection": str(request.connection)} if request.connection else {})


def _timings(request: Request) -> dict[str, float]:
    """Return HAR's phases in ms; its ``connect`` includes ``ssl``."""

    def took(name: str, absent: float) -> float:
        return request.phases[name][1] - request.phases[name][0] if name in request.phases else absent

    begin = min((first for first, _ in request.phases.values()), default=request.end)
    tls = took("tls", UNKNOWN)
    connect = took("connect", UNKNOWN)
    return {
        "blocked": max(0.0, begin - request.start), "dns": took("dns", UNKNOWN),
        "connect": connect + max(0.0, tls) if connect >= 0 else UNKNOWN, "ssl": tls, "send": 0.0,
        "wait": took("request", 0.0), "receive": took("download", 0.0),
    }  # fmt: skip


def _request(request: Request) -> dict[str, object]:
    asked = request.reported.get("request", {})
    query = [{"name": name, "value": value} for name, value in parse_qsl(urlsplit(request.url).query, keep_blank_values=True)]
    return {
        "method": request.method, "url": request.url, "httpVersion": request.protocol, "cookies": [],
        "headers": _headers(asked), "queryString": query, "headersSize": UNKNOWN, "bodySize": len(asked.get("postData", "")),
    }  # fmt: skip


def _response(request: Request) -> dict[str, object]:
    answer = request.reported.get("response", {})
    headers = _headers(answer)
    moved = next((each["value"] for each in headers if each["name"].lower() == "location"), "")
    found = {
        "status": request.status, "statusText": answer.get("statusText", ""), "httpVersion": request.protocol, "cookies": [],
        "headers": headers, "content": {"size": UNKNOWN, "mimeType": answer.get("mimeType", "")}, "redirectURL": moved,
        "headersSize": UNKNOWN, "bodySize": request.received_bytes, "_transferSize": request.received_bytes,
    }  # fmt: skip
    return found | ({"_error": request.failed} if request.failed else {})


def _headers(of: Said) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in of.get("headers", {}).items()]


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
