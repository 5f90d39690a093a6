"""``browse``: loads a page in a real browser, as a person at a host would.

Loads are also written as a HAR 1.2 file, which any browser's developer tools and HAR viewers open:
http://www.softwareishard.com/blog/har-12-spec/
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from slownet.judge.measured import Metrics
from slownet.links.conditions import profiles
from slownet.model.errors import ToolError, first_of, nearest
from slownet.model.units import duration, rate
from slownet.net.process import Host
from slownet.net.tool import beside
from slownet.tools.browser import chromium, loading, visit
from slownet.tools.browser.chromium import Chromium
from slownet.tools.browser.devices import device as named
from slownet.tools.browser.devtools import Event
from slownet.tools.browser.loading import Load, Request, Said
from slownet.tools.numbers import Metric, series
from slownet.tools.register import tool

CACHES = ("cold", "warm", "both")
WINDOWS = ("private", "ordinary")
WARM = "warm_"
"""The prefix of the metrics of warm loads beside cold ones."""
PAINTS = ("first_paint_ms", "largest_paint_ms")
PAINT_STEP_MS = 4.0
"""Chromium rounds the times of paints up to this for pages to see (crbug.com/1498557); Web Vitals are such times."""
FRAME_MS = 1000 / 60
"""A paint waits for the next frame, and Chromium draws 60 in a second."""
PROTOCOLS = {"1.1": ("http/1.1",), "2": ("h2",), "3": ("h3",)}
MOST_LISTED = 5
FAILED = 400
"""The least HTTP status that is an error."""


@dataclass(frozen=True)
class Browse(Metrics):
    """Loads of one page in a browser, one after the other.

    Attributes
    ----------
    command : tuple of str
        The browser's command line.
    raw : str
        Its output: a JSON object for each load.
    loads : tuple of Load
        The loads: requests with their phases, milestones, complaints and pictures.
    speeds_ms : tuple of float
        The speed index of each load; empty if no pictures were taken.
    cache : str
        ``cold``, ``warm`` or ``both``.
    warm : tuple of Load
        With ``both``, the second load of each context, with what the first one cached.
    files : mapping of str to bytes
        The loads as a HAR file, and the last one's filmstrip and screenshot.
    """

    command: tuple[str, ...]
    raw: str
    loads: tuple[Load, ...]
    speeds_ms: tuple[float, ...] = ()
    cache: str = "cold"
    warm: tuple[Load, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    def metrics(self) -> dict[str, Metric]:
        """Return the times of milestones in ms, and numbers of bytes, requests and connections.

        ``first_byte_ms``, ``dom_ready_ms`` and ``load_ms`` are Chromium's, to the microsecond, as is ``first_paint_ms``, the
        first contentful paint; ``largest_paint_ms`` and ``layout_shift`` are counted as by Google's web-vitals, times in
        steps of 4 ms.
        ``dns_ms``, ``connect_ms`` and ``tls_ms`` are those of the page's own request, if it had them. Warm loads beside cold
        ones have the same milestones and numbers as ``warm_load_ms``, ``warm_requests`` and so on.
        """
        found = _milestones(self.loads)
        for phase in ("dns", "connect", "tls"):
            took = [each.document.phases[phase] for each in self.loads if phase in each.document.phases]
            if len(took) == len(self.loads):
                found[f"{phase}_ms"] = series([last - first for first, last in took])
        if self.speeds_ms:
            found["speed_index_ms"] = series(self.speeds_ms)
        if any(each.tasks for each in self.loads):
            found["blocked_ms"] = series([each.blocked_ms for each in self.loads])
        found |= {"layout_shift": series([each.layout_shift for each in self.loads])} | _numbers(self.loads)
        again = _milestones(self.warm) | _numbers(self.warm) if self.warm else {}
        return found | {f"{WARM}{name}": metric for name, metric in again.items()}

    def facts(self) -> dict[str, object]:
        """Return the browser, the last load's requests and bytes by kind and protocol, and all loads' complaints."""
        last, all_ = self.loads[-1], (*self.loads, *self.warm)
        failed = dict.fromkeys(f"{each.url}: {each.failed}" for load in all_ for each in load.requests if each.failed)
        errors = dict.fromkeys(error for load in all_ for error in load.errors)
        return {
            "browser": last.browser, "cache": self.cache, "by_kind": last.by("kind"), "by_protocol": last.by("protocol"),
            "failed_requests": list(failed), "errors": list(errors),
        }  # fmt: skip


def _milestones(loads: Sequence[Load]) -> dict[str, Metric]:
    # A record's first metric is the one that reports show.
    order = ("load", *(each for each in loads[0].milestones if each != "load"))
    names = [name for name in order if all(name in each.milestones for each in loads)]
    found = {f"{name}_ms": series([each.milestones[name] for each in loads]) for name in names}
    if "largest_paint_ms" in found:
        found["largest_paint_ms"]["step"] = PAINT_STEP_MS
    for name in set(PAINTS) & found.keys():
        found[name]["waits"] = FRAME_MS
    return found


def _numbers(loads: Sequence[Load]) -> dict[str, Metric]:
    return {
        "received_bytes": series([float(each.received_bytes) for each in loads]),
        "requests": series([float(len(each.requests)) for each in loads]),
        "connections": series([float(each.connections) for each in loads]),
    }


@tool(lasts=True, warm_up=1, versions=("http",), without=("pictures", "strict", "simulate"))
def browse(
    host: Host, url: str, *, loads: int = 1, cache: str = "cold", device: str = "desktop", http: str = "",
    trust: Sequence[str | Path] = (), timeout: float = 60.0, pause: float = 0.0, pictures: bool = True, strict: bool = False,
    simulate: str = "", window: str = "private", flags: Sequence[str] = (),
) -> Browse:  # fmt: skip
    """Load a page in Chromium on a host.

    The browser is started by the first call of a boot and stays; each load has a context of its own, without cookies, cache
    or connections.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    url : str
        The page.
    loads : int
        How often it is loaded.
    cache : str
        ``"warm"`` loads the page in each context once before the load that is measured; ``"both"`` measures both loads.
    device : str
        ``"desktop"``, ``"phone"``, ``"tablet"``, or a size such as ``"1280x720"``.
    http : str
        ``"1.1"``, ``"2"`` or ``"3"``; by default what browser and server agree on.
    trust : sequence of str or Path
        Files of certificates (PEM) that are trusted, whatever names they are for.
    timeout : float
        Seconds until the page's ``load`` event, on the network's clock.
    pause : float
        Seconds between the two loads of a context: servers close idle connections.
    pictures : bool
        Whether to keep a filmstrip and a screenshot, and to compute the speed index.
    strict : bool
        Whether a request that fails, or a script that throws, is an error.
    simulate : str
        What Chrome shall simulate, to compare it with a network: ``"Slow 4G"``, ``"Fast 4G"`` or ``"Slow 3G"``.
    window : str
        ``"private"``, or ``"ordinary"``: a window of a browser of its own, started anew for each load, which takes seconds.
        Chromium heeds ``<link rel="preconnect">`` and ``dns-prefetch`` only there.
    flags : sequence of str
        Further options of Chromium's.

    Returns
    -------
    Browse
        Times in ms.

    Raises
    ------
    ToolError
        Chromium is not in the layer, lacks memory or crashes; the page cannot be reached, is an error such as 404, does not
        load in time, is not trusted, or comes in another version of HTTP.
    """
    _check(url, loads, cache, window)
    throttling = simulated(simulate) if simulate else None
    options = chromium.flags(http, _origin(url), trust, flags)
    where = f"host '{host.name}', {url}"
    heard = []
    for _ in range(loads):
        is_private = window == "private"
        browser = chromium.on(host, options) if is_private else chromium.anew(host, options)
        with visit.opened(browser, named(device), throttling, is_private=is_private) as page:
            if cache == "warm":
                visit.load(page, url, timeout, pictures=False)
            for number in range(2 if cache == "both" else 1):
                if number or cache == "warm":
                    page.devtools.wait(lambda: False, pause)
                heard.append(_watched(page, url, timeout, pictures) | {"again": bool(number)})
    found = _record(browser, heard, cache)
    _confirm(found, http, where)
    if strict:
        _strict(found, where)
    return found


def _watched(page: visit.Tab, url: str, timeout: float, pictures: bool) -> Event:
    began = time.monotonic()
    with beside():
        heard = visit.load(page, url, timeout, pictures)
    return heard | {"began": began, "watched_s": time.monotonic() - began}


def parse(text: str, command: Sequence[str] = ("chromium",), cache: str = "cold") -> Browse:
    """Parse what `browse` keeps of its loads, a JSON object in each line. Raises ToolError."""
    try:
        heard = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    except ValueError as error:
        raise ToolError(f"the browser's answer cannot be read: {error}", raw=text) from None
    if not heard:
        raise ToolError("the browser loaded no page", raw=text)
    first, again = ([each for each in heard if bool(each.get("again")) is second] for second in (False, True))
    if not first or (again and len(again) != len(first)):
        raise ToolError(f"{len(first)} loads with a cold cache and {len(again)} with a warm one", raw=text)
    found = tuple(loading.read(each) for each in first)
    speeds = [speed_index(each["frames"], load.began) for each, load in zip(first, found, strict=True)]
    known = tuple(each for each in speeds if each is not None)
    warm = tuple(loading.read(each) for each in again)
    return Browse(tuple(command), text, found, known if len(known) == len(found) else (), cache, warm)


def _record(browser: Chromium, heard: Sequence[Event], cache: str) -> Browse:
    pictures = [each.pop("screenshot", "") for each in heard]
    text = "".join(f"{json.dumps(each)}\n" for each in heard)
    found = parse(text, browser.argv, cache)
    files: dict[str, str | bytes] = {"har": json.dumps(archive((*found.loads, *found.warm)))}
    if pictures[-1]:
        files["png"] = visit.png(pictures[-1])
    return replace(found, files=files)


def _check(url: str, loads: int, cache: str, window: str) -> None:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ToolError(f"unclear address '{url}'", "in browse", "write one such as http://10.0.0.2/")
    if loads < 1:
        raise ToolError(f"loads is {loads}", "in browse", "write 1 or more")
    for name, value, known in (("cache", cache, CACHES), ("window", window, WINDOWS)):
        if value not in known:
            raise ToolError(f"no {name} '{value}'", "in browse", f"write one of {', '.join(known)}")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _confirm(found: Browse, http: str, where: str) -> None:
    for each in (*found.loads, *found.warm):
        if (status := each.document.status) >= FAILED:
            what = f"the page's own answer is an error, status {status}"
            raise ToolError(what, where, "name a page that exists", found.raw)
    used = [each.document.protocol for each in found.loads]
    if http and any(each not in PROTOCOLS[http] for each in used):
        seen = ", ".join(f"{number} over {name}" for name, number in Counter(used).items())
        raise ToolError(f"the page was not loaded over HTTP/{http}: {seen}", where, "does the server speak it?")


def _strict(found: Browse, where: str) -> None:
    facts = cast("dict[str, list[str]]", found.facts())
    for names, what in (("errors", "a script failed"), ("failed_requests", "a request failed")):
        if facts[names]:
            raise ToolError(f"{what}: {first_of(facts[names], MOST_LISTED, '; ')}", where, raw=found.raw)


# Chrome's own throttling, which is not a network: it delays each request's answer and slows its bytes, above the connections.
#
# The numbers are those of Chrome's DevTools (front_end/core/sdk/NetworkManager.ts): a network's, multiplied by factors that
# make pages take about as long as on it (https://crbug.com/721112).

FACTORS: Mapping[str, tuple[float, float]] = {"Fast 4G": (2.75, 0.9), "Slow 4G": (3.75, 0.9), "Slow 3G": (5.0, 0.8)}
"""By what the delay and the rates of a named condition are multiplied."""


def simulated(name: str) -> dict[str, float]:
    """Return the parameters of ``Network.emulateNetworkConditions`` for a preset: ms and bytes per second. Raises ToolError."""
    if name not in FACTORS:
        raise ToolError(f"Chrome simulates no '{name}'", "in browse", nearest(name, FACTORS))
    fields, (slower, narrower) = profiles.row(name).fields, FACTORS[name]
    down, up = (rate(str(fields.get(f"rate_{way}", fields.get("rate")))) * narrower / 8 for way in ("down", "up"))
    return {"latency": 1000 * duration(fields["rtt"]) * slower, "downloadThroughput": down, "uploadThroughput": up}


# The speed index: how long, on average over its pixels, a page looked unfinished. Pure.
#
# WebPageTest's definition: the integral of 1 minus visual completeness. https://docs.webpagetest.org/metrics/speedindex/


def speed_index(frames: Sequence[Said], began: float) -> float | None:
    """Compute the speed index in ms.

    frames: pictures in order: ``{"s": when, in seconds, "complete": visual completeness, 0 to 1}``.
    began: when the load began, in seconds of the same clock.
    returns: none if the pictures' completeness is not known.

    Examples
    --------
    >>> speed_index([{"s": 10.0, "complete": 0.0}, {"s": 10.1, "complete": 0.5}, {"s": 10.3, "complete": 1.0}], 10.0)
    200.0
    """
    if not frames or any("complete" not in each for each in frames):
        return None
    total, complete, since = 0.0, 0.0, began
    for each in frames:
        total += (1 - complete) * max(0.0, each["s"] - since)
        complete, since = max(complete, float(each["complete"])), max(since, each["s"])
    return round(1000 * total, 3)


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
