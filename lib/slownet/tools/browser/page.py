"""A page as Playwright for Python has it: the names of its methods, for scripts and tests, over a slow network.

Playwright itself does not run in a lab, see the limitations. These are the methods that simple scripts use; they wait as
Playwright's do, on the network's clock, and ``timeout`` is in ms.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from slownet.model import whole_file
from slownet.model.errors import ToolError, nearest
from slownet.tools.browser import visit
from slownet.tools.browser.locator import TIMEOUT_MS, Locator, evaluated, lacks, selected, what, where
from slownet.tools.browser.visit import Tab

UNTIL = {"load": "load", "domcontentloaded": "DOMContentLoaded", "networkidle": "networkIdle", "commit": "commit"}
"""Chromium's milestones by Playwright's names."""
FUNCTION = re.compile(r"\s*(async\b\s*)?(function\b|\w+\s*=>|\([^()]*\)\s*=>)")
"""The beginning of a function of JavaScript."""
STARTED = ("Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameScheduledNavigation")
ENDED = ("Page.frameNavigated", "Page.navigatedWithinDocument", "Page.frameStoppedLoading")


@dataclass(frozen=True)
class Response:
    """The answer to a page's own request."""

    url: str
    status: int
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """True if its status is from 200 to 299."""
        return 200 <= self.status < 300


class Page:
    """An open page of a browser on a host.

    ``step`` and ``requests_sent`` are slownet's own; all other methods are Playwright's, and raise ToolError if they fail.
    """

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.timeout_ms = TIMEOUT_MS
        self.steps: list[tuple[str, float]] = []
        self._sent_before = 0

    def __getattr__(self, name: str) -> NoReturn:
        lacks(self, name)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a ``with`` block; it becomes a metric: ``step("add to cart")`` is ``add_to_cart_ms``."""
        began = time.monotonic()
        yield
        self.steps.append((name, 1000 * (time.monotonic() - began)))

    def set_default_timeout(self, timeout: float) -> None:
        """Let all methods wait so many ms for an element, a document or a condition."""
        self.timeout_ms = timeout

    def goto(self, url: str, *, timeout: float | None = None, wait_until: str = "load") -> Response | None:
        """Load a page until ``"load"``, ``"domcontentloaded"``, ``"networkidle"`` or ``"commit"``.

        None is returned for another place in the same document.
        """
        if wait_until not in UNTIL:
            raise ToolError(f"no load state '{wait_until}'", "in page.goto", nearest(wait_until, UNTIL))
        ms = self.timeout_ms if timeout is None else timeout
        self._sent_before = self.requests_sent
        self.tab.events.clear()
        loader = visit.navigated(self.tab, url, ms / 1000, UNTIL[wait_until])
        return self._response(loader) if loader else None

    def reload(self, *, timeout: float | None = None, wait_until: str = "load") -> Response | None:
        """Load the page again."""
        return self.goto(self.url, timeout=timeout, wait_until=wait_until)

    def _response(self, loader: str) -> Response | None:
        for each in self.tab.events:
            parameters = each["params"]
            is_it = each["method"] == "Network.responseReceived" and parameters.get("loaderId") == loader
            if is_it and parameters["type"] == "Document":
                found = parameters["response"]
                return Response(found["url"], int(found["status"]), dict(found.get("headers", {})))
        return None

    @property
    def requests_sent(self) -> int:
        """The number of requests that its documents have sent."""
        return self._sent_before + len([each for each in self.tab.events if each["method"] == "Network.requestWillBeSent"])

    @property
    def url(self) -> str:
        """Its address."""
        return self.tab.url

    def title(self) -> str:
        """Return its title."""
        return str(self.evaluate("document.title"))

    def content(self) -> str:
        """Return its document as HTML."""
        return str(self.evaluate("document.documentElement.outerHTML"))

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Return the value of an expression in the page, or of a function called with ``arg``; promises are awaited."""
        source = f"({expression})({json.dumps(arg)})" if FUNCTION.match(expression) else expression
        return evaluated(self.tab, source, self.timeout_ms / 1000)

    def locator(self, selector: str) -> Locator:
        """Return the elements that a selector names: CSS, ``text=Buy``, ``xpath=//a``."""
        return Locator(self, selected(selector))

    def get_by_role(self, role: str, *, name: str | None = None, exact: bool = False) -> Locator:
        """Return the elements with a role and a name for assistive technology: ``get_by_role("button", name="Buy")``."""
        return Locator(self, what("role", role, name=name, exact=exact))

    def get_by_text(self, text: str, *, exact: bool = False) -> Locator:
        """Return the innermost elements with a text."""
        return Locator(self, what("text", text, exact=exact))

    def get_by_label(self, text: str, *, exact: bool = False) -> Locator:
        """Return the fields with a label."""
        return Locator(self, what("label", text, exact=exact))

    def get_by_placeholder(self, text: str, *, exact: bool = False) -> Locator:
        """Return the fields with a placeholder."""
        return Locator(self, what("placeholder", text, exact=exact))

    def get_by_test_id(self, name: str) -> Locator:
        """Return the elements with a ``data-testid``."""
        return Locator(self, what("test_id", name))

    def click(self, selector: str, *, timeout: float | None = None) -> None:
        """Click the first element."""
        self.locator(selector).click(timeout=timeout)

    def check(self, selector: str, *, timeout: float | None = None) -> None:
        """Click the first element if it is not checked."""
        self.locator(selector).check(timeout=timeout)

    def fill(self, selector: str, value: str, *, timeout: float | None = None) -> None:
        """Put a text into the first field."""
        self.locator(selector).fill(value, timeout=timeout)

    def press(self, selector: str, key: str, *, timeout: float | None = None) -> None:
        """Press a key in the first element."""
        self.locator(selector).press(key, timeout=timeout)

    def select_option(self, selector: str, value: str, *, timeout: float | None = None) -> None:
        """Choose an option by its value or label."""
        self.locator(selector).select_option(value, timeout=timeout)

    def text_content(self, selector: str, *, timeout: float | None = None) -> str:
        """Return the text of the first element's nodes."""
        return self.locator(selector).text_content(timeout=timeout)

    def inner_text(self, selector: str, *, timeout: float | None = None) -> str:
        """Return the text of the first element as it is drawn."""
        return self.locator(selector).inner_text(timeout=timeout)

    def is_visible(self, selector: str) -> bool:
        """Return whether the first element is visible now."""
        return self.locator(selector).is_visible()

    def wait_for_selector(self, selector: str, *, state: str = "visible", timeout: float | None = None) -> Locator:
        """Wait until the first element is ``"visible"``, ``"hidden"``, ``"attached"`` or ``"detached"``; return it."""
        found = self.locator(selector).first
        found.wait_for(state=state, timeout=timeout)
        return found

    def wait_for_function(self, expression: str, arg: Any = None, *, timeout: float | None = None) -> None:
        """Wait until an expression, or a function called with ``arg``, is true; it is asked with every frame."""
        self._until(lambda: bool(self.evaluate(expression, arg)), timeout, f"{expression} was not true")

    def wait_for_url(self, url: str | re.Pattern[str] | Callable[[str], bool], *, timeout: float | None = None) -> None:
        """Wait until the address matches a pattern such as ``"**/cart"``, a regular expression or a function."""
        self._until(lambda: matches(url, self.url), timeout, f"the address did not become {url}")
        self.wait_for_load_state(timeout=timeout)

    def wait_for_load_state(self, state: str = "load", *, timeout: float | None = None) -> None:
        """Wait until the document has reached a milestone: see `goto`."""
        if state not in UNTIL:
            raise ToolError(f"no load state '{state}'", "in page.wait_for_load_state", nearest(state, UNTIL))
        if state == "networkidle":
            self._until(lambda: self.tab.has("Page.lifecycleEvent", name=UNTIL[state]), timeout, "the network was not idle")
            return
        wanted = ("complete",) if state == "load" else ("complete", "interactive")
        self._until(lambda: self.evaluate("document.readyState") in wanted, timeout, f"the page did not reach {state}")

    def wait_for_timeout(self, timeout: float) -> None:
        """Let ms pass."""
        self.tab.devtools.wait(lambda: False, timeout / 1000)

    def screenshot(self, *, path: str | Path | None = None) -> bytes:
        """Return a picture as PNG, and write it to a file if one is named."""
        found = visit.png(self.tab.devtools.call("Page.captureScreenshot", self.tab.session, format="png")["data"])
        if path is not None:
            whole_file.write(path, found, "in page.screenshot")
        return found

    def navigating(self, action: Callable[[], Any]) -> None:
        """Do something and wait for a document that it leads to, as Playwright's actions do."""
        tab = self.tab
        before = len(tab.events)
        action()
        evaluated(tab, "new Promise(done => setTimeout(done))", self.timeout_ms / 1000)  # its events have come when it answers

        def came(methods: tuple[str, ...]) -> bool:
            return any(each["method"] in methods for each in tab.events[before:])

        if came(STARTED) and not tab.devtools.wait(lambda: came(ENDED) or visit.crashed(tab), self.timeout_ms / 1000):
            raise ToolError(f"no document came within {self.timeout_ms / 1000:g} s", where(tab))
        visit.check_crash(tab, tab.url)

    def _until(self, holds: Callable[[], bool], timeout: float | None, otherwise: str) -> None:
        ms = self.timeout_ms if timeout is None else timeout
        deadline = time.monotonic() + ms / 1000
        while not holds():
            if time.monotonic() >= deadline:
                raise ToolError(f"{otherwise} within {ms / 1000:g} s", where(self.tab))
            self.tab.devtools.wait(lambda: False, FRAME_S)


FRAME_S = 1 / 60
"""The interval between checks of a condition."""


def matches(pattern: str | re.Pattern[str] | Callable[[str], bool], url: str) -> bool:
    """Return whether an address is what Playwright's pattern means: ``**`` and ``*`` are any letters."""
    if isinstance(pattern, re.Pattern):
        return pattern.search(url) is not None
    if isinstance(pattern, str):
        return fnmatchcase(url, re.sub(r"\*+", "*", pattern.replace("[", "[[]")))
    return bool(pattern(url))
