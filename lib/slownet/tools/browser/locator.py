"""Elements of a page, found as Playwright finds them, and what a person does with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn, Protocol

from slownet.model.errors import ToolError, nearest
from slownet.model.shapes import Json
from slownet.tools.browser import visit
from slownet.tools.browser.visit import Tab

TIMEOUT_MS = 30_000.0
"""Playwright's, on the network's clock."""
GONE = ("context was destroyed", "Cannot find context", "navigated or closed", "Cannot find default execution context")
"""Chromium's messages if a page navigated while something was evaluated in it."""
What = Mapping[str, Json]
"""The element to find, see `what` and `actions.js`."""


class Open(Protocol):
    """An open page, as far as its elements need it."""

    tab: Tab
    timeout_ms: float

    def navigating(self, action: Callable[[], Any]) -> None:
        """Do something and wait for a document that it leads to."""


def what(kind: str, value: str, *, name: str | None = None, exact: bool = False, inside: What | None = None) -> What:
    """Return what to find."""
    return {"kind": kind, "value": value, "name": name, "exact": exact, "has": None, "nth": None, "inside": inside}


def selected(selector: str, inside: What | None = None) -> What:
    """Return what one of Playwright's selectors names: CSS, ``text=``, ``xpath=``, ``data-testid=``. Raises ToolError."""
    kind, equals, value = selector.partition("=")
    if selector.startswith(("//", "..", "xpath=")):
        return what("xpath", selector.removeprefix("xpath="), inside=inside)
    if kind in ("text", "css", "data-testid") and equals:
        quoted = kind == "text" and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        found = value[1:-1] if quoted else value
        return what("test_id" if kind == "data-testid" else kind, found, exact=quoted, inside=inside)
    if ">>" in selector:
        raise ToolError(f"unclear selector '{selector}'", "in a page's script", "write page.locator(...).locator(...) for >>")
    return what("css", selector, inside=inside)


def evaluated(tab: Tab, expression: str, seconds: float) -> Any:
    """Evaluate an expression in a page, again if the page goes elsewhere meanwhile. Raises ToolError."""
    options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
    while True:
        asked = tab.devtools.ask("Runtime.evaluate", tab.session, expression=expression, **options)
        if not tab.devtools.wait(partial(_answered, tab, asked), seconds):
            raise ToolError(f"a script in the page did not end within {seconds:g} s", where(tab))
        visit.check_crash(tab, tab.url)
        try:
            answer = tab.devtools.result(asked, "Runtime.evaluate")
        except ToolError as error:
            if any(each in error.what for each in GONE):
                continue
            raise
        if "exceptionDetails" in answer:
            detail = answer["exceptionDetails"]
            thrown = detail.get("exception", {}).get("description") or detail.get("text", "")
            raise ToolError(f"a script in the page failed: {thrown.splitlines()[0]}", where(tab))
        return answer["result"].get("value")


def _answered(tab: Tab, number: int) -> bool:
    return tab.devtools.answered(number) or visit.crashed(tab)


def where(tab: Tab) -> str:
    """Name the host of the page where something happened."""
    return f"host '{tab.browser.host.name}', {tab.url}"


def lacks(thing: object, name: str) -> NoReturn:
    """Raise AttributeError for a method of Playwright's that is not here, with those that are."""
    kind = type(thing).__name__.lower()
    known = [each for each in dir(type(thing)) if not each.startswith("_")]
    raise AttributeError(f"slownet's {kind} has no {name}: {nearest(name, known)}")


class Locator:
    """Elements of a page, looked for anew whenever something is done with them; actions take the first.

    Methods are named as Playwright's, wait as those do until an element can be used, and take its ``timeout`` in ms. All raise
    ToolError if none exists in time.
    """

    def __init__(self, page: Open, found: What) -> None:
        self._page, self._what = page, found

    def __getattr__(self, name: str) -> NoReturn:
        lacks(self, name)

    def __repr__(self) -> str:
        return f"Locator({describe(self._what)})"

    def locator(self, selector: str) -> Locator:
        """Return elements inside these."""
        return Locator(self._page, selected(selector, self._what))

    def get_by_role(self, role: str, *, name: str | None = None, exact: bool = False) -> Locator:
        """Return elements inside these with a role and a name for assistive technology."""
        return Locator(self._page, what("role", role, name=name, exact=exact, inside=self._what))

    def get_by_text(self, text: str, *, exact: bool = False) -> Locator:
        """Return the innermost elements inside these with a text."""
        return Locator(self._page, what("text", text, exact=exact, inside=self._what))

    def filter(self, *, has_text: str) -> Locator:
        """Return those of these elements that contain a text."""
        return Locator(self._page, {**self._what, "has": has_text})

    def nth(self, number: int) -> Locator:
        """Return one of these elements, counted from 0."""
        return Locator(self._page, {**self._what, "nth": number})

    @property
    def first(self) -> Locator:
        """The first of these elements."""
        return self.nth(0)

    def click(self, *, timeout: float | None = None) -> None:
        """Click with the left button, and wait for the document that it leads to, if any."""
        x, y = self._do("middle", timeout=timeout)
        pressed = {"x": x, "y": y, "button": "left", "clickCount": 1}
        call, session = self._page.tab.devtools.call, self._page.tab.session
        call("Input.dispatchMouseEvent", session, type="mouseMoved", x=x, y=y)
        call("Input.dispatchMouseEvent", session, type="mousePressed", buttons=1, **pressed)
        self._page.navigating(lambda: call("Input.dispatchMouseEvent", session, type="mouseReleased", **pressed))

    def check(self, *, timeout: float | None = None) -> None:
        """Click if it is not checked."""
        if not self.is_checked(timeout=timeout):
            self.click(timeout=timeout)

    def fill(self, value: str, *, timeout: float | None = None) -> None:
        """Put a text into a field in place of what it has."""
        self._do("fill", argument=value, timeout=timeout)

    def select_option(self, value: str, *, timeout: float | None = None) -> None:
        """Choose an option by its value or its label."""
        self._do("select", argument=value, timeout=timeout)

    def press(self, key: str, *, timeout: float | None = None) -> None:
        """Press a key, such as ``"Enter"`` or ``"a"``, and wait for the document that it leads to, if any."""
        if len(key) != 1 and key not in KEYS:
            fix = "press one key" if "+" in key else nearest(key, KEYS)
            raise ToolError(f"no key '{key}'", "in a page's script", f"{fix}; a letter is its own name, and a space is ' '")
        self._do("focus", timeout=timeout)
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        down = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, 0), "text": text}
        call, session = self._page.tab.devtools.call, self._page.tab.session
        self._page.navigating(lambda: call("Input.dispatchKeyEvent", session, type="keyDown" if text else "rawKeyDown", **down))
        call("Input.dispatchKeyEvent", session, type="keyUp", key=key)

    def wait_for(self, *, state: str = "visible", timeout: float | None = None) -> None:
        """Wait until the first is ``"visible"``, ``"hidden"``, ``"attached"`` or ``"detached"``."""
        if state not in STATES:
            raise ToolError(f"no state '{state}' of an element", "in a page's script", nearest(state, STATES))
        self._do("nothing", state=state, timeout=timeout)

    def text_content(self, *, timeout: float | None = None) -> str:
        """Return the text of its document nodes."""
        return str(self._do("text", state="attached", timeout=timeout))

    def inner_text(self, *, timeout: float | None = None) -> str:
        """Return its text as it is drawn."""
        return str(self._do("inner_text", state="attached", timeout=timeout))

    def inner_html(self, *, timeout: float | None = None) -> str:
        """Return its contents as HTML."""
        return str(self._do("inner_html", state="attached", timeout=timeout))

    def input_value(self, *, timeout: float | None = None) -> str:
        """Return what a field has."""
        return str(self._do("value", state="attached", timeout=timeout))

    def get_attribute(self, name: str, *, timeout: float | None = None) -> str | None:
        """Return an attribute."""
        value: str | None = self._do("attribute", state="attached", argument=name, timeout=timeout)
        return value

    def is_checked(self, *, timeout: float | None = None) -> bool:
        """Return whether a box is checked."""
        return bool(self._do("checked", state="attached", timeout=timeout))

    def is_visible(self) -> bool:
        """Return whether there is one that is visible now."""
        return bool(self._do("is"))

    def count(self) -> int:
        """Return how many there are now."""
        return int(self._do("count"))

    def _do(self, then: str, state: str = "visible", argument: str = "", timeout: float | None = None) -> Any:
        ms = self._page.timeout_ms if timeout is None else timeout
        tab = self._page.tab
        words = ", ".join(json.dumps(each) for each in (self._what, state, then, argument, ms))
        answer = evaluated(tab, f"({visit.script('actions.js')})({words})", ms / 1000 + PATIENCE_S)
        if "refused" in answer:
            raise ToolError(f"{describe(self._what)} is {answer['refused']}", where(tab))
        if "done" not in answer:
            there = f"; {answer['found']} are there but cannot be used" if answer["found"] else ""
            raise ToolError(f"no {state} element {describe(self._what)} within {ms / 1000:g} s{there}", where(tab))
        return answer["done"]


STATES = ("visible", "hidden", "attached", "detached")
PATIENCE_S = 5.0
"""The time after its own deadline in which a page may still answer."""
KEYS = {
    "Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8, "Delete": 46, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
    "ArrowRight": 39, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Insert": 45, "Shift": 16, "Control": 17, "Alt": 18,
    "Meta": 91, **{f"F{number}": 111 + number for number in range(1, 13)},
}  # fmt: skip
"""Windows' numbers of keys, which pages know as ``keyCode``."""


def describe(found: What) -> str:
    """Say what to find: ``role=button 'Buy'``."""
    name = f" '{found['name']}'" if found["name"] is not None else ""
    has = f" with '{found['has']}'" if found["has"] is not None else ""
    number = f", number {found['nth']}" if found["nth"] is not None else ""
    outer = f"{describe(found['inside'])} " if found["inside"] else ""
    own = f"'{found['value']}'" if found["kind"] == "css" else f"{found['kind']}={found['value']}"
    return f"{outer}{own}{name}{has}{number}"
