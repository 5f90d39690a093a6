"""Progress of runs, on standard error: as bars on a terminal, as lines in a pipe, as one text in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from slownet.model.control_characters import guard, visible
from slownet.report.run_progress import RunProgress
from slownet.report.screen import Screen

EVERY_S = 60.0
"""The interval between lines to a pipe."""
EVERY_NOTEBOOK_S = 1.0
ROOM = 60
"""Columns from which on a bar is drawn."""
BAR = 20


class Shown(Protocol):
    """The places where progress is shown."""

    def begin(self) -> None:
        """Begin to show."""

    def update(self, changed: RunProgress) -> None:
        """Show that an experiment has got further."""

    def complain(self, line: str) -> None:
        """Show an error that does not end the run."""

    def end(self) -> None:
        """Stop."""


class Follower:
    """Follows the events of runs and shows how far each is, with its time left, its estimate and what the clock saved."""

    def __init__(self, totals: Mapping[str, int], shown: Callable[[Mapping[str, RunProgress]], Shown] | None = None) -> None:
        self.runs = {name: RunProgress(name, total) for name, total in totals.items()}
        self._shown = (shown or _place())(self.runs)
        self._lock = threading.Lock()
        self._said: set[str] = set()

    def __enter__(self) -> Follower:
        self._shown.begin()
        return self

    def __call__(self, name: str, event: Mapping[str, Any]) -> None:
        with self._lock:
            going = self.runs[name]
            going.take(event, time.monotonic())
            said = event.get("error") or event.get("note")
            line = f"slownet: {name}: {said}"
            if said and line not in self._said:
                self._said.add(line)
                self._shown.complain(line)
            self._shown.update(going)

    def __exit__(self, *error: object) -> None:
        self._shown.end()


def _place() -> Callable[[Mapping[str, RunProgress]], Shown]:
    """Choose by where standard error goes."""
    if _notebook():
        return Notebook
    errors = Screen(stderr=True)
    return Terminal if errors.is_terminal and not errors.is_dumb_terminal else Lines


class Terminal:
    """Two lines an experiment, redrawn in place and removed at the end: a bar, if there is room, and what is measured now.

    Of several experiments those that are being measured, as many as the terminal has lines for; the others are counted.
    """

    def __init__(self, runs: Mapping[str, RunProgress], console: Console | None = None) -> None:
        self._runs = runs
        self.console = console or Screen(stderr=True)
        self._live = Live(self, console=self.console, transient=True, refresh_per_second=4)

    def begin(self) -> None:
        self._live.start()
        guard()  # what is printed meanwhile, which Rich reads the styles of

    def update(self, changed: RunProgress) -> None:
        """Nothing: it is redrawn four times a second."""

    def complain(self, line: str) -> None:
        self.console.print(line, style="yellow", highlight=False)

    def end(self) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        now = time.monotonic()
        runs = list(self._runs.values())
        shown = [each for each in runs if each.is_going or len(runs) == 1][: max(1, console.height // 2 - 1)]
        for each in shown:
            first = Table.grid(padding=(0, 1))
            bar = ProgressBar(total=each.total, completed=each.done, width=BAR)
            words = [Text(each.name, style="bold"), Text(each.progress(now))]
            first.add_row(*([words[0], bar, words[1]] if options.max_width >= ROOM else words))
            yield first
            yield Text(f"  {each.activity(now)}", style="dim", no_wrap=True, overflow="ellipsis")
        waiting = sum(each.began is None for each in runs)
        others = {"more": len(runs) - waiting - len(shown), "waiting": waiting}
        if len(runs) > 1 and any(others.values()):
            yield Text(", ".join(f"{count} {what}" for what, count in others.items() if count), style="dim")


class Lines:
    """A line a minute for each experiment that has got further, for logs."""

    def __init__(self, runs: Mapping[str, RunProgress]) -> None:
        self._last: dict[str, float] = {}
        self._began = time.monotonic()

    def begin(self) -> None:
        self._began = time.monotonic()

    def update(self, changed: RunProgress) -> None:
        now = time.monotonic()
        if now - self._last.get(changed.name, self._began) >= EVERY_S:
            self._last[changed.name] = now
            self.complain(f"slownet: {changed.name}: {changed.progress(now)}; {changed.activity(now)}")

    def complain(self, line: str) -> None:
        print(visible(line), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Nothing: what was printed stays."""


class Notebook:
    """One text below a notebook's cell, which says at the end how long it took."""

    def __init__(self, runs: Mapping[str, RunProgress]) -> None:
        self._runs = runs
        self._handle: Any = None
        self._last = 0.0

    def begin(self) -> None:
        from IPython.display import display

        self._handle = display({"text/plain": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def update(self, changed: RunProgress) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY_NOTEBOOK_S:
            self._last = now
            self._show(lambda each: f"{each.name}: {each.progress(now)}; {each.activity(now)}")

    def complain(self, line: str) -> None:
        print(visible(line), file=sys.stderr)

    def end(self) -> None:
        now = time.monotonic()
        self._show(lambda each: f"{each.name}: {each.summary(now)}")

    def _show(self, said: Callable[[RunProgress], str]) -> None:
        self._handle.update({"text/plain": "\n".join(map(said, self._runs.values()))}, raw=True)


def _notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    with suppress(KeyError, AttributeError):
        return hasattr(sys.modules["IPython"].get_ipython(), "kernel")
    return False
