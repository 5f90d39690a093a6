"""A browser on a host as tests have it: it starts once, and its pages are those of `slownet.tools.browser.page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from slownet.net.process import Host
from slownet.tools.browser import chromium, visit
from slownet.tools.browser.chromium import Chromium
from slownet.tools.browser.devices import device as named
from slownet.tools.browser.page import Page


class Browser:
    """Chromium on a host.

    host: where it runs.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._chromium: Chromium | None = None

    def start(self) -> Browser:
        """Start it, or take the one that `browse` started; return it. Raises ToolError."""
        self._chromium = chromium.on(self.host)
        return self

    @property
    def running(self) -> bool:
        """True if it can be used."""
        return self._chromium is not None and self._chromium.answers()

    def stop(self) -> None:
        """End it. Fine to call twice."""
        if self._chromium:
            self._chromium.close()

    @property
    def version(self) -> str:
        """Its version: ``"Chrome/149.0.7827.196"``."""
        return self._started().version

    @contextmanager
    def page(
        self, *, device: str = "desktop", viewport: Mapping[str, int] | None = None, ignore_https_errors: bool = True
    ) -> Iterator[Page]:
        """Open a page, without cookies, cache and connections, for a ``with`` block. Raises ToolError.

        device: as for `browse`.
        viewport: its size instead: ``{"width": 1280, "height": 720}``.
        ignore_https_errors: whether certificates of one's own are trusted.
        """
        size = f"{viewport['width']}x{viewport['height']}" if viewport else device
        with visit.opened(self._started(), named(size)) as tab:
            tab.devtools.call("Security.setIgnoreCertificateErrors", tab.session, ignore=ignore_https_errors)
            yield Page(tab)

    def _started(self) -> Chromium:
        if not self.running:
            self.start()
        assert self._chromium
        return self._chromium
