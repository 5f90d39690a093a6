"""A page's load as reported by a browser: its requests with their phases, its milestones, its complaints. Pure.

Chromium's times are seconds of its monotonic clock, to the microsecond; here they are ms since the load began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.model.errors import ToolError
from slownet.model.shapes import Json

Said = Mapping[str, Json]
"""A message of the browser, or a part of one, as the DevTools protocol defines it."""
LEAST_MS = 0.01
"""An address is looked up, too, in less time than this."""
ICON = "/favicon.ico"
PAINTS = {"firstContentfulPaint": "first_paint"}
"""Milestones by Chromium's names of its lifecycle events."""


@dataclass(frozen=True)
class Request:
    """One request of a load. Times are in ms since the load began.

    url, method, kind: the kind is Chromium's type of resource: ``Document``, ``Script``, ``Image``...
    protocol: ``http/1.1``, ``h2``, ``h3``; empty without an answer.
    status: the HTTP status; 0 without an answer.
    connection: chromium's number of its connection; 0 if it used none.
    start, first_byte, end: when it was asked for, when its header came and when it was complete.
    phases: those that it had, in ms: "dns", "connect", "tls" (over QUIC both at once), "request" until the first byte,
        "download".
    received_bytes: all that came for it, headers included.
    initiator: the URL of what asked for it; empty if it is the page itself.
    blocks: whether nothing is painted before it is complete.
    cached: whether the cache had it.
    failed: why it failed; empty if it did not.
    reported: chromium's own ``request`` and ``response``, for the HAR.
    """

    url: str
    method: str
    kind: str
    start: float
    protocol: str = ""
    status: int = 0
    connection: int = 0
    first_byte: float = 0.0
    end: float = 0.0
    phases: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    received_bytes: int = 0
    initiator: str = ""
    blocks: bool = False
    cached: bool = False
    failed: str = ""
    reported: Said = field(default_factory=dict, repr=False)

    @property
    def connects(self) -> bool:
        """True if it waited for a new connection; over QUIC that is one with TLS."""
        return "connect" in self.phases or "tls" in self.phases


@dataclass(frozen=True)
class Load:
    """One load of a page.

    url: what was loaded.
    began: its beginning, in seconds since 1970.
    requests: in the order they were sent, without the browser's own for the page's icon.
    milestones: in ms since the beginning: ``first_byte``, ``first_paint``, ``largest_paint``, ``dom_ready``, ``load``.
    layout_shift: cumulative layout shift.
    received: when bytes of contents came, and how many.
    tasks: tasks of its thread of 50 ms and longer: beginning and duration.
    errors: what its scripts threw and wrote to the console as errors, with file and line.
    frames: pictures: when they were taken, and the JPEG in base64.
    browser: the browser's version.
    watched: what else was watched during the load, such as queues: from when to when, in ms since the load began.
    """

    url: str
    began: float
    requests: Sequence[Request]
    milestones: Mapping[str, float]
    layout_shift: float = 0.0
    received: Sequence[tuple[float, int]] = ()
    tasks: Sequence[tuple[float, float]] = ()
    errors: Sequence[str] = ()
    frames: Sequence[tuple[float, str]] = field(default=(), repr=False)
    browser: str = ""
    watched: tuple[float, float] | None = None

    @property
    def document(self) -> Request:
        """The request for the page itself: the last of its redirections."""
        return next(each for each in reversed(self.requests) if each.kind == "Document" and not each.initiator)

    @property
    def connections(self) -> int:
        """The number of connections that were opened."""
        return sum(each.connects for each in self.requests)

    @property
    def received_bytes(self) -> int:
        """All that came."""
        return sum(each.received_bytes for each in self.requests)

    @property
    def blocked_ms(self) -> float:
        """Total blocking time: what tasks lasted beyond 50 ms after the first paint (Lighthouse's definition of the sum)."""
        painted = self.milestones.get("first_paint", 0.0)
        return sum(max(0.0, duration - 50.0) for start, duration in self.tasks if start + duration > painted)

    def by(self, attribute: str) -> dict[str, tuple[int, int]]:
        """Count requests and bytes by ``kind`` or ``protocol``."""
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for each in self.requests:
            name = str(getattr(each, attribute)) or "none"
            counts[name] += 1
            sizes[name] += each.received_bytes
        return {name: (counts[name], sizes[name]) for name in counts}


def read(heard: Said) -> Load:
    """Return a load from what `slownet.tools.browser.visit.load` returned. Raises ToolError without a request."""
    try:
        return _read(heard)
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise ToolError(f"the browser's answer cannot be read: {error!r}") from None


def _read(heard: Said) -> Load:
    events: Sequence[Said] = heard["events"]
    first = next(_of(events, "Network.requestWillBeSent"))
    origin, wall = float(first["timestamp"]), float(first["wallTime"])

    def at(seconds: float) -> float:
        return 1000 * (seconds - origin)

    requests = [each for each in _Requests(events, at).read() if not each.url.endswith(ICON) or each.kind != "Other"]
    life = {
        each["name"]: at(each["timestamp"])
        for each in _of(events, "Page.lifecycleEvent")
        if each["loaderId"] == heard["loader"]
    }
    vitals = heard["vitals"]
    milestones = {"dom_ready": life["DOMContentLoaded"], "load": life["load"]}
    milestones |= {name: life[event] for event, name in PAINTS.items() if event in life}
    if "LCP" in vitals:
        milestones["largest_paint"] = float(vitals["LCP"])
    received = [(at(each["timestamp"]), int(each["dataLength"])) for each in _of(events, "Network.dataReceived")]
    found = Load(
        str(heard["url"]), wall, tuple(requests), milestones, float(vitals.get("CLS", 0.0)), tuple(received),
        tuple((float(start), float(duration)) for start, duration in heard.get("tasks", ())), tuple(_errors(events)),
        tuple((1000 * (each["s"] - wall), each["jpeg"]) for each in heard.get("frames", ())), heard.get("browser", ""),
        (at(heard["began"]), at(heard["began"] + heard["watched_s"])) if "watched_s" in heard else None,
    )  # fmt: skip
    return _with_first_byte(found)


def _with_first_byte(load: Load) -> Load:
    return Load(**{**load.__dict__, "milestones": {"first_byte": load.document.first_byte, **load.milestones}})


def _of(events: Sequence[Said], method: str) -> Iterator[Said]:
    return (each["params"] for each in events if each["method"] == method)


class _Requests:
    """Puts the events of each request together; a redirection ends one and begins another with the same id."""

    def __init__(self, events: Sequence[Said], at: Any) -> None:
        self._events, self._at = events, at
        self._open: dict[str, dict[str, Json]] = {}
        self._found: list[dict[str, Json]] = []

    def read(self) -> list[Request]:
        for event in self._events:
            method, parameters = event["method"], event["params"]
            if method == "Network.requestWillBeSent":
                self._sent(parameters)
            elif (request := self._open.get(parameters.get("requestId", ""))) is None:
                continue
            elif method == "Network.responseReceived":
                request |= {"response": parameters["response"], "type": parameters["type"]}
            elif method == "Network.requestServedFromCache":
                request["cached"] = True
            elif method == "Network.loadingFinished":
                request |= {"end": parameters["timestamp"], "bytes": parameters["encodedDataLength"]}
            elif method == "Network.loadingFailed":
                why = parameters.get("blockedReason") or parameters["errorText"]
                request |= {"end": parameters["timestamp"], "failed": why}
        return [self._request(each) for each in self._found]

    def _sent(self, parameters: Said) -> None:
        before = self._open.get(parameters["requestId"])
        if before is not None and "redirectResponse" in parameters:
            moved = parameters["redirectResponse"]
            before |= {"response": moved, "end": parameters["timestamp"], "bytes": moved.get("encodedDataLength", 0)}
        request = dict(parameters)
        self._found.append(request)
        self._open[parameters["requestId"]] = request

    def _request(self, raw: Said) -> Request:
        response = raw.get("response", {})
        start = self._at(raw["timestamp"])
        end = self._at(raw["end"]) if "end" in raw else 0.0
        phases = self._phases(response.get("timing"), end)
        return Request(
            raw["request"]["url"], raw["request"]["method"], raw.get("type", "Other"), start,
            protocol=response.get("protocol", ""), status=int(response.get("status", 0)),
            connection=int(response.get("connectionId", 0)), first_byte=phases.get("request", (0.0, end))[1], end=end,
            phases=phases, received_bytes=int(raw.get("bytes", 0)), initiator=_initiator(raw),
            blocks=raw.get("renderBlockingBehavior") in ("Blocking", "InBodyParserBlocking"),
            cached=bool(raw.get("cached") or response.get("fromDiskCache")), failed=raw.get("failed", ""),
            reported={"request": raw["request"], "response": response, "wallTime": raw.get("wallTime", 0.0)},
        )  # fmt: skip

    def _phases(self, timing: Mapping[str, float] | None, end: float) -> dict[str, tuple[float, float]]:
        """Return a request's phases; those that it did not have are -1 in Chromium's timing."""
        if not timing:
            return {}
        base = self._at(timing["requestTime"])
        secure = timing["sslStart"] >= 0
        ends = {
            "dns": ("dnsStart", "dnsEnd"), "connect": ("connectStart", "sslStart" if secure else "connectEnd"),
            "tls": ("sslStart", "sslEnd"), "request": ("sendStart", "receiveHeadersStart"),
        }  # fmt: skip
        found = {
            name: (base + timing[first], base + timing[last])
            for name, (first, last) in ends.items()
            if timing.get(first, -1) >= 0 and timing.get(last, -1) > timing[first] + (LEAST_MS if name == "dns" else 0.0)
        }
        headers = timing.get("receiveHeadersStart", -1)
        if headers >= 0 and end > base + headers:
            found["download"] = (base + headers, end)
        return found


def _initiator(raw: Said) -> str:
    """Return the URL of what asked for a request: a parser's document, or the script on top of a stack."""
    initiator = raw.get("initiator", {})
    if "url" in initiator:
        return str(initiator["url"])
    stack: Said | None = initiator.get("stack")
    while stack:
        for call in stack.get("callFrames", ()):
            if call.get("url"):
                return str(call["url"])
        stack = stack.get("parent")
    return "" if raw.get("type") == "Document" else str(raw.get("documentURL", ""))


def _errors(events: Sequence[Said]) -> Iterator[str]:
    for event in events:
        parameters = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            detail = parameters["exceptionDetails"]
            thrown = detail.get("exception", {}).get("description") or detail.get("text", "an exception")
            place = f"{detail.get('url', '')}:{detail['lineNumber'] + 1}:{detail['columnNumber'] + 1}"
            yield f"{thrown.splitlines()[0]}, {place}"
        elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            yield " ".join(str(each.get("value", each.get("description", ""))) for each in parameters["args"])
        elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            if not entry.get("url", "").endswith(ICON):
                yield f"{entry['text']}, {entry.get('url', '')}".removesuffix(", ")
