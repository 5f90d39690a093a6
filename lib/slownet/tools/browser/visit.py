"""Loads a page once in a browser, and returns the browser's whole record of it, as JSON."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from slownet.model.errors import ToolError, first_of
from slownet.tools.browser.chromium import MORE, Chromium
from slownet.tools.browser.devices import MOBILE, Device
from slownet.tools.browser.devtools import DevTools, Event

WORLD = "slownet"
"""The name of the scripts' world that counts the Web Vitals, apart from the page's own."""
DOMAINS = ("Page", "Network", "Runtime", "Log", "Inspector")
KEPT = ("Network.", "Page.", "Runtime.", "Log.", "Inspector.")
QUIET = "networkIdle"
"""Chromium's name for half a second without requests after the load."""
SETTLE_S = 3.0
"""The time after its load for which a page may send further requests: event streams never end."""
SHOT = {"format": "jpeg", "quality": 60, "maxWidth": 400, "maxHeight": 600, "everyNthFrame": 1}
MOST_URLS = 3


@dataclass
class Tab:
    """A page in a context of its own: no cookies, no cache, no connections but those that its own loads leave."""

    browser: Chromium
    session: str
    frame: str = ""
    events: list[Event] = field(default_factory=list)
    frames: list[Event] = field(default_factory=list)
    url: str = "about:blank"

    @property
    def devtools(self) -> DevTools:
        """The browser's protocol."""
        return self.browser.devtools

    def heard(self, event: Event) -> None:
        """Keep an event; acknowledge a picture, since the browser sends no other one before."""
        method, parameters = event["method"], event["params"]
        if method == "Page.screencastFrame":
            self.devtools.send("Page.screencastFrameAck", self.session, sessionId=parameters["sessionId"])
            self.frames.append({"s": parameters["metadata"]["timestamp"], "jpeg": parameters["data"]})
        elif method == "Page.javascriptDialogOpening":  # a page waits for its dialogs
            self.devtools.send("Page.handleJavaScriptDialog", self.session, accept=parameters["type"] == "beforeunload")
        elif method.startswith(KEPT):
            if method == "Page.frameNavigated" and "parentId" not in (frame := parameters["frame"]):
                self.url = frame["url"] + frame.get("urlFragment", "")
            elif method == "Page.navigatedWithinDocument" and parameters["frameId"] == self.frame:
                self.url = parameters["url"]
            self.events.append({"method": method, "params": parameters})

    def has(self, method: str, **wanted: Any) -> bool:
        """Return whether an event came, with these parameters."""
        return any(
            each["method"] == method and all(each["params"].get(name) == value for name, value in wanted.items())
            for each in self.events
        )


@contextmanager
def opened(
    browser: Chromium, device: Device, throttling: Mapping[str, float] | None = None, is_private: bool = True
) -> Iterator[Tab]:
    """Open an empty page in a new context for a ``with`` block, or in the browser's own profile. Raises ToolError.

    Contexts are Chromium's off-the-record profiles, which have no loading predictor, and so heed no ``preconnect`` (a policy,
    says `IsLoadingPredictorEnabled`).

    browser: the browser.
    device: size and kind of the screen.
    throttling: what Chrome itself shall simulate: see `slownet.tools.browser.browse`.
    is_private: whether it is a context of its own.
    """
    devtools = browser.devtools
    context = {"browserContextId": devtools.call("Target.createBrowserContext")["browserContextId"]} if is_private else {}
    try:
        window = {"width": device.width, "height": device.height, "newWindow": True}
        target = devtools.call("Target.createTarget", url="about:blank", **context, **window)["targetId"]
        session = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Tab(browser, session, target)
        devtools.listen(session, page.heard)
        _prepare(page, device)
        if throttling:
            devtools.call("Network.emulateNetworkConditions", session, offline=False, **throttling)
        yield page
        devtools.listen(session, None)
    finally:
        if context and browser.runs:
            devtools.send("Target.disposeBrowserContext", **context)


def _prepare(page: Tab, device: Device) -> None:
    devtools, session = page.devtools, page.session
    for domain in DOMAINS:
        devtools.call(f"{domain}.enable", session)
    devtools.call("Page.setLifecycleEventsEnabled", session, enabled=True)
    screen = {"width": device.width, "height": device.height, "deviceScaleFactor": device.scale, "mobile": device.mobile}
    devtools.call("Emulation.setDeviceMetricsOverride", session, **screen)
    if device.mobile:
        version = page.browser.version.rpartition("/")[2]
        devtools.call("Emulation.setUserAgentOverride", session, userAgent=MOBILE.format(version))
        devtools.call("Emulation.setTouchEmulationEnabled", session, enabled=True)
    devtools.call("Page.addScriptToEvaluateOnNewDocument", session, source=script("vitals.js"), worldName=WORLD)


def load(page: Tab, url: str, timeout: float, pictures: bool) -> Event:
    """Load a URL in an open page, and return what was heard.

    page: the page; what its earlier loads cached stays.
    url: what to load.
    timeout: seconds until the page's ``load`` event.
    pictures: whether to take a picture of each change, and one at the end.
    returns: ``{"url", "loader" (Chromium's id of the load), "events", "vitals", "tasks", "frames", "browser"}`` and, with
        pictures, "screenshot".
    Raises ToolError: the page cannot be reached or does not load in time, its process crashes, or the browser ends.
    """
    page.events.clear()
    page.frames.clear()
    if pictures:
        page.devtools.call("Page.startScreencast", page.session, **SHOT)
    loader = navigated(page, url, timeout)
    _settle(page, url, loader)
    found = {"url": url, "loader": loader, "events": page.events[:], "browser": page.browser.version}
    world = _world(page)
    found |= _evaluated(page, world, "slownet") or {"vitals": {}, "tasks": []}
    if pictures:
        page.devtools.call("Page.stopScreencast", page.session)
        found["screenshot"] = page.devtools.call("Page.captureScreenshot", page.session, format="png")["data"]
        seen = _evaluated(page, world, f"({script('speed.js')})({json.dumps([each['jpeg'] for each in page.frames])})")
        for each, complete in zip(page.frames, seen or (), strict=False):
            each["complete"] = complete
    return found | {"frames": page.frames[:]}


def navigated(page: Tab, url: str, timeout: float, until: str = "load") -> str:
    """Load a URL until a milestone, Chromium's lifecycle event; return Chromium's id of the load. Raises ToolError."""
    devtools, began = page.devtools, time.monotonic()
    asked = devtools.ask("Page.navigate", page.session, url=url)
    if not devtools.wait(lambda: devtools.answered(asked) or crashed(page), timeout):
        raise _overdue(page, url, timeout)
    check_crash(page, url)
    try:
        answer = devtools.result(asked, "Page.navigate")
    except ToolError as error:
        if INVALID not in error.what:
            raise
        where = f"host '{page.browser.host.name}'"
        raise ToolError(f"unclear address '{url}'", where, "write one such as http://10.0.0.2/") from error
    if answer.get("errorText") == ABORTED:
        devtools.wait(lambda: crashed(page), CRASH_S)  # which is said after that
        check_crash(page, url)
    if answer.get("errorText"):
        raise _unreached(page, url, answer["errorText"])
    if "loaderId" not in answer:  # another place in the same document
        return ""
    loader = str(answer["loaderId"])
    loaded = {"name": until, "loaderId": loader}
    left = timeout - (time.monotonic() - began)
    if not devtools.wait(lambda: page.has("Page.lifecycleEvent", **loaded) or crashed(page), left):
        raise _overdue(page, url, timeout)
    check_crash(page, url)
    return loader


def _settle(page: Tab, url: str, loader: str) -> None:
    quiet = {"name": QUIET, "loaderId": loader}
    page.devtools.wait(lambda: page.has("Page.lifecycleEvent", **quiet) or crashed(page), SETTLE_S)
    check_crash(page, url)


def _world(page: Tab) -> int:
    """Return the id of `vitals.js`'s world in the page's main frame; 0 if none exists."""
    frame = page.devtools.call("Page.getFrameTree", page.session)["frameTree"]["frame"]["id"]
    contexts = (each["params"]["context"] for each in page.events if each["method"] == "Runtime.executionContextCreated")
    found = [each["id"] for each in contexts if each["name"] == WORLD and each["auxData"].get("frameId") == frame]
    return int(found[-1]) if found else 0


def _evaluated(page: Tab, world: int, expression: str) -> Any:
    """Return the value of an expression there; None if it has none."""
    if not world:
        return None
    options = {"contextId": world, "returnByValue": True, "awaitPromise": True}
    return page.devtools.call("Runtime.evaluate", page.session, expression=expression, **options)["result"].get("value")


def script(name: str) -> str:
    """Return one of this package's scripts."""
    return resources.files("slownet.tools.browser").joinpath(name).read_text("utf-8")


def crashed(page: Tab) -> bool:
    """Return whether the process that draws the page has ended."""
    return page.has("Inspector.targetCrashed")


def check_crash(page: Tab, url: str) -> None:
    """Raise ToolError, with the last line of the browser's log, if the page's process has ended."""
    if crashed(page):
        log = page.browser.log
        last = f": {log.splitlines()[-1]}" if log else ""
        where = f"host '{page.browser.host.name}', {url}"
        raise ToolError(f"the page's process crashed{last}", where, MORE, raw=log)


def _overdue(page: Tab, url: str, timeout: float) -> ToolError:
    waiting = open_requests(page.events)
    named = first_of(waiting, MOST_URLS)
    what = f"{len(waiting)} request{'s are' if len(waiting) != 1 else ' is'} open: {named}" if waiting else "no request is open"
    return ToolError(f"the page did not load within {timeout:g} s; {what}", f"host '{page.browser.host.name}', {url}")


def open_requests(events: list[Event]) -> list[str]:
    """Return the URLs of requests that have not ended, in the order they were sent."""
    waiting: dict[str, str] = {}
    for event in events:
        parameters = event["params"]
        if event["method"] == "Network.requestWillBeSent":
            waiting[parameters["requestId"]] = parameters["request"]["url"]
        elif event["method"] in ("Network.loadingFinished", "Network.loadingFailed"):
            waiting.pop(parameters["requestId"], None)
    return list(waiting.values())


INVALID = "invalid URL"
ABORTED, CRASH_S = "net::ERR_ABORTED", 1.0
CERTIFICATE, FIX = "net::ERR_CERT_", "name its file: browse(..., trust=[certificate])"
REASONS = {
    "net::ERR_CONNECTION_REFUSED": "nothing listens there", "net::ERR_NAME_NOT_RESOLVED": "its name does not resolve",
    "net::ERR_ADDRESS_UNREACHABLE": "no host has that address", "net::ERR_CONNECTION_TIMED_OUT": "it does not answer",
    "net::ERR_EMPTY_RESPONSE": "it closed the connection without an answer",
    "net::ERR_INVALID_URL": "that is no URL", "net::ERR_SSL_PROTOCOL_ERROR": "it does not speak TLS",
    "net::ERR_QUIC_PROTOCOL_ERROR": "it does not speak HTTP/3, or its certificate is not trusted",
}  # fmt: skip


def _unreached(page: Tab, url: str, why: str) -> ToolError:
    where = f"host '{page.browser.host.name}', {url}"
    if why.startswith(CERTIFICATE):
        return ToolError(f"the server's certificate is not trusted ({why})", where, FIX)
    said = f"{REASONS[why]} ({why})" if why in REASONS else why
    return ToolError(f"the page cannot be loaded: {said}", where)


def png(screenshot: str) -> bytes:
    """Return a picture's bytes."""
    return base64.b64decode(screenshot)
