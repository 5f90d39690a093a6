"""``act``: runs a person's way through pages, a function in Playwright's words, in a real browser on a host."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.judge.measured import Metrics
from slownet.model.errors import SlownetError, ToolError
from slownet.net.process import Host
from slownet.net.tool import beside
from slownet.tools.browser import chromium, visit
from slownet.tools.browser.devices import device as named
from slownet.tools.browser.loading import Said
from slownet.tools.browser.locator import Locator
from slownet.tools.browser.page import Page
from slownet.tools.numbers import Metric, series
from slownet.tools.register import lasting

WHOLE = "script"
LOCATES = ("locator", "get_by_role", "get_by_text", "get_by_label", "get_by_placeholder", "get_by_test_id", "filter", "nth")
"""Methods that Playwright does not await either."""


@dataclass(frozen=True)
class Act(Metrics):
    """A script that was run in a browser, once or several times.

    Attributes
    ----------
    command : tuple of str
        The browser's command line.
    raw : str
        Its steps: a JSON object for each time.
    times : tuple of mapping
        ``{"steps": [[name, ms], ...], "requests": number, "url": where it ended}`` for each time.
    files : mapping of str to bytes
        A picture of the last page at the end.
    """

    command: tuple[str, ...]
    raw: str
    times: tuple[Said, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    def metrics(self) -> dict[str, Metric]:
        """Return ``script_ms``, the time of each step, such as ``add_to_cart_ms``, and the number of requests."""
        found: dict[str, list[float]] = {}
        for each in self.times:
            for name, ms in each["steps"]:
                found.setdefault(f"{_metric(name)}_ms", []).append(ms)
        requests = series([float(each["requests"]) for each in self.times])
        return {name: series(values) for name, values in found.items()} | {"requests": requests}

    def facts(self) -> dict[str, object]:
        """Return where the script ended."""
        return {"browser": self.times[-1]["browser"], "ended_at": self.times[-1]["url"]}


@lasting
def act(
    host: Host, script: Callable[[Any], Any], *, times: int = 1, device: str = "desktop", http: str = "",
    trust: Sequence[str | Path] = (), timeout: float = 30.0, flags: Sequence[str] = (),
) -> Act:  # fmt: skip
    """Run a script, such as a checkout, in Chromium on a host, and time its steps.

    Parameters
    ----------
    host : Host
        The host that the browser runs on.
    script : callable
        ``def checkout(page)`` or ``async def checkout(page)``; the page has the methods of Playwright's that
        `slownet.tools.browser.page.Page` lists, and ``with page.step("add to cart"):`` times what is in the block.
    times : int
        How often it is run, each time without cookies, cache and connections.
    device, http, trust, flags
        As for `browse`.
    timeout : float
        Seconds that a page or an element may take, unless a call overrides it; on the network's clock.

    Returns
    -------
    Act
        Times in ms.

    Raises
    ------
    ToolError
        The browser does not run, the script does not find an element in time, or it raises: its file and line are named.
    """
    if times < 1:
        raise ToolError(f"times is {times}", "in act", "write 1 or more")
    browser = chromium.on(host, chromium.flags(http, "", trust, flags))
    found, picture = [], b""
    for _ in range(times):
        with visit.opened(browser, named(device)) as tab, beside():
            page = Page(tab)
            page.set_default_timeout(1000 * timeout)
            with page.step(WHOLE):
                _run(script, page, f"host '{host.name}'")
            steps = sorted(page.steps, key=lambda step: step[0] != WHOLE)  # a record's first metric is the one that is shown
            found.append({"steps": steps, "requests": page.requests_sent, "url": page.url, "browser": browser.version})
            picture = page.screenshot()
    text = "".join(f"{json.dumps(each)}\n" for each in found)
    return Act(browser.argv, text, tuple(found), {"png": picture})


def _metric(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_") or "step"


def _run(script: Callable[[Any], Any], page: Page, where: str) -> None:
    try:
        if inspect.iscoroutinefunction(script):
            asyncio.run(script(Awaited(page)))
        else:
            script(page)
    except Exception as error:  # whatever the script raises is its own
        code = getattr(inspect.unwrap(script), "__code__", None)  # a partial has none
        file, name = code.co_filename if code else "", getattr(script, "__name__", "the script")
        lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
        said = str(error) if isinstance(error, SlownetError) else f"{type(error).__name__}: {error}".splitlines()[0]
        what = f"{name} failed at {Path(file).name}:{lines[-1] if lines else 0}: {said}"
        raise ToolError(what, "" if where in said else where) from error


class Awaited:
    """A page or its elements as Playwright's asynchronous interface has them: what takes time is awaited.

    of : Page or Locator
    """

    def __init__(self, of: Page | Locator) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        if isinstance(found, Locator):
            return Awaited(found)
        if name == "step":
            return lambda text: _Step(found(text))
        if name in LOCATES:
            return lambda *words, **options: Awaited(found(*words, **options))
        if not callable(found):
            return found

        async def awaited(*words: Any, **options: Any) -> Any:
            value = found(*words, **options)
            return Awaited(value) if isinstance(value, Locator) else value

        return awaited


class _Step:
    """A step for ``with`` and ``async with``."""

    def __init__(self, step: AbstractContextManager[None]) -> None:
        self._step = step

    def __enter__(self) -> None:
        self._step.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        return self._step.__exit__(*error)

    async def __aenter__(self) -> None:
        self._step.__enter__()

    async def __aexit__(self, *error: Any) -> bool | None:
        return self._step.__exit__(*error)
