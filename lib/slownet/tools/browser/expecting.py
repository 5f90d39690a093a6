"""``expect``: what a page or an element shall become, waited for, as Playwright writes it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import NoReturn

from slownet.tools.browser.locator import Locator, describe, lacks
from slownet.tools.browser.page import FRAME_S, Page, matches

PATIENCE_MS = 5_000.0
"""Playwright's, on the network's clock."""


def expect(thing: Page | Locator) -> Expected:
    """Return what can be expected of a page or of elements: ``expect(page.locator("h1")).to_have_text("Cart")``."""
    return Expected(thing)


class Expected:
    """Expectations of a page or an element; each method waits, and raises AssertionError if it does not."""

    def __init__(self, thing: Page | Locator, negated: bool = False) -> None:
        self._thing, self._negated = thing, negated

    def __getattr__(self, name: str) -> NoReturn:
        lacks(self, name)

    @property
    def not_(self) -> Expected:
        """The opposite."""
        return Expected(self._thing, not self._negated)

    def to_be_visible(self, *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the first element is visible."""
        self._until(lambda one: (one.is_visible(), "is not visible" if not self._negated else "is visible"), timeout)

    def to_be_hidden(self, *, timeout: float = PATIENCE_MS) -> None:
        """Wait until no element is visible."""
        self.not_.to_be_visible(timeout=timeout)

    def to_have_count(self, count: int, *, timeout: float = PATIENCE_MS) -> None:
        """Wait until there are so many elements."""
        self._until(lambda one: (one.count() == count, f"are {one.count()}, expected {count}"), timeout)

    def to_have_text(self, expected: str | re.Pattern[str], *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the first element has this text."""
        self._text(expected, timeout, str.__eq__)

    def to_contain_text(self, expected: str | re.Pattern[str], *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the first element contains this text."""
        self._text(expected, timeout, str.__contains__)

    def to_have_value(self, value: str, *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the first field has this value."""
        self._until(lambda one: _compared(one.input_value() if one.count() else "", value, str.__eq__), timeout)

    def to_have_title(self, expected: str | re.Pattern[str], *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the page has this title."""
        page = self._page()
        self._until(lambda _: _compared(page.title(), expected, str.__eq__), timeout)

    def to_have_url(self, expected: str | re.Pattern[str], *, timeout: float = PATIENCE_MS) -> None:
        """Wait until the page has this address."""
        page = self._page()
        self._until(lambda _: (matches(expected, page.url), f"is at {page.url}, expected {expected}"), timeout)

    def _page(self) -> Page:
        if not isinstance(self._thing, Page):
            raise TypeError("this matcher expects a page, not an element")
        return self._thing

    def _text(self, expected: str | re.Pattern[str], timeout: float, holds: Callable[[str, str], bool]) -> None:
        self._until(lambda one: _compared(one.text_content() if one.count() else "", expected, holds), timeout)

    def _until(self, looked: Callable[[Locator], tuple[bool, str]], timeout: float) -> None:
        thing = self._thing
        page = thing if isinstance(thing, Page) else thing._page
        name = "the page" if isinstance(thing, Page) else describe(thing._what)
        deadline = time.monotonic() + timeout / 1000
        while True:
            holds, said = looked(thing)  # type: ignore[arg-type]  # methods of pages do not use it
            if holds != self._negated:
                return
            if time.monotonic() >= deadline:
                raise AssertionError(
                    f"{name} {said}{', and should not be' if self._negated else ''}, {timeout / 1000:g} s long"
                )
            page.tab.devtools.wait(lambda: False, FRAME_S)


def _compared(found: str, expected: str | re.Pattern[str], holds: Callable[[str, str], bool]) -> tuple[bool, str]:
    text = " ".join(found.split())
    if isinstance(expected, re.Pattern):
        return expected.search(text) is not None, f"has '{text}', expected {expected.pattern}"
    return holds(text, " ".join(expected.split())), f"has '{text}', expected '{expected}'"
