"""Progress of runs, on standard error: as bars on a terminal, as lines in a pipe, as one text in a notebook."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from slownet.judge.records.cell import TIME
from slownet.judge.records.quantity import not_below_zero
from slownet.model.control_characters import guard, visible
from slownet.model.units import unit_of
from slownet.report.screen import Screen
from slownet.report.text import number, with_interval
from slownet.theory.stats import Summary, from_error

LIKELY = 0.95
"""Confidence of an estimate's interval while a run is in progress; verdicts need more."""
WORTH_SAYING_S = 10.0
"""The virtual clock's gain is shown from here on."""


@dataclass
class RunProgress:
    """One experiment in progress, as its events tell; times are seconds of the caller's monotonic clock."""

    name: str
    total: int
    done: int = 0
    began: float | None = None
    virtual_s: float = 0.0
    spent_s: float = 0.0
    """In measurements, the labs' times added."""
    booted_s: float = 0.0
    """From the beginning, or from the plan of further boots, to the first cell: a boot, services and the warm-up."""
    labs: int = 1
    """The most that measured at once."""
    doing: str = "waiting"
    now: dict[int, str] = field(default_factory=dict)
    """The cell that each lab measures, by the lab's number."""
    _cell_began: dict[int, float] = field(default_factory=dict)
    _boot_began: float | None = None
    metric: str = ""
    found: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    """The values of the metric in each cell's samples, by the cell's title."""

    def take(self, event: Mapping[str, Any], now: float) -> None:
        """Take an event of the run."""
        self.began = now if self.began is None else self.began
        lab, kind = event.get("lab", 1), event["event"]
        if self.began == now and not self.now:
            self._boot_began = now
        if kind == "facts":
            self.doing = "services up"
        elif kind == "warming":
            self.doing = f"warming up {_title(event['cell'])}: {event['done']:g} of {event['of']:g}".replace(" :", ":")
        elif kind == "cell":
            if self._boot_began is not None:
                self.booted_s, self._boot_began = now - self._boot_began, None
            self.now[lab], self._cell_began[lab] = _title(event["cell"]), now
            self.labs = max(self.labs, len(self.now))
        elif kind == "planned":
            self.now.clear()
            self._boot_began = now
            self.total, self.doing = event["cells"], "booting again"
        elif kind == "end":
            self.now.pop(lab, None)
            self._boot_began = None if self.now else now
        elif kind == "sample":
            self.done += 1
            self.spent_s += now - self._cell_began.pop(lab, now)
            self.virtual_s += event.get("virtual_s") or 0.0
            self._keep(self.now.get(lab, ""), event.get("metrics") or {})

    def _keep(self, cell: str, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        if not metrics:
            return
        self.metric = self.metric or (TIME if TIME in metrics else next(iter(metrics)))
        if self.metric in metrics:
            self.found.setdefault(cell, []).append(metrics[self.metric])

    @property
    def is_going(self) -> bool:
        """True if it has begun, and has measurements left that are planned so far."""
        return self.began is not None and self.done < self.total

    def estimate(self, cell: str) -> Summary | None:
        """Return the mean of a cell's metric so far, with an interval; None if nothing of it is measured."""
        samples = self.found.get(cell)
        if not samples:
            return None
        means = [each["mean"] for each in samples]
        mean = math.fsum(means) / len(means)
        if len(means) > 1:
            variance = math.fsum((each - mean) ** 2 for each in means) / (len(means) - 1)
            return from_error(mean, math.sqrt(variance / len(means)), len(means), len(means) - 1, LIKELY)
        sd, count = samples[0].get("sd"), samples[0].get("n") or 1
        if sd is None or count < 2:
            return Summary(mean, -math.inf, math.inf, 1, 0, LIKELY)
        return from_error(mean, sd / math.sqrt(count), count, count - 1, LIKELY)

    def elapsed_s(self, now: float) -> float:
        """Return how long it has run."""
        return 0.0 if self.began is None else now - self.began

    def left_s(self, now: float) -> float | None:
        """Return how long the measurements that are planned so far will take, as long each as those before; None at first.

        Boots are apart: what they take is not part of each measurement, and comes once more while labs boot again.
        """
        if not self.done or self.total <= self.done:
            return None
        booting = max(0.0, self.booted_s - (now - self._boot_began)) if self._boot_began is not None else 0.0
        under_way = sum(now - each for each in self._cell_began.values())
        return booting + max(0.0, self.spent_s / self.done * (self.total - self.done) - under_way) / self.labs

    def saved_s(self, now: float) -> float:
        """Return how much longer the measurements would have taken on the real clock; 0 if not longer."""
        return max(0.0, self.virtual_s - self.elapsed_s(now))

    def progress(self, now: float) -> str:
        """Say how far it is: "5 of 12, 0:21, 0:29 left"."""
        left = self.left_s(now)
        parts = [f"{self.done} of {self.total}", clock(self.elapsed_s(now)), f"{clock(left)} left" if left is not None else ""]
        return ", ".join(filter(None, parts))

    def activity(self, now: float) -> str:
        """Say what is measured, what it is so far, and the time saved: "rtt 40ms: 160.2 ± 0.1 ms; 12:40 saved"."""
        labs = [self.now[lab] for lab in sorted(self.now)]
        cells = [self._cell(each) for each in dict.fromkeys(labs)] or [self.doing]
        saved = self.saved_s(now)
        return "; ".join([*cells, *([f"{clock(saved)} saved"] if saved >= WORTH_SAYING_S else [])])

    def _cell(self, cell: str) -> str:
        found = self.estimate(cell)
        if found is None:
            return cell or "measuring"
        found = not_below_zero(found, self.metric)
        value = with_interval(found) if found.known else number(found.mean)
        return f"{cell}: {value} {unit_of(self.metric)}".strip().removeprefix(": ")

    def summary(self, now: float) -> str:
        """Say how long it took, and what the clock saved."""
        saved = self.saved_s(now)
        gain = f"; the virtual clock saved {clock(saved)}" if saved >= WORTH_SAYING_S else ""
        return f"{self.done} measurements in {clock(self.elapsed_s(now))}{gain}"


def _title(cell: Mapping[str, str]) -> str:
    return " ".join(f"{key} {value}" for key, value in cell.items())


def clock(seconds: float) -> str:
    """Write a duration as a clock does: 0:07, 12:40, 1:02:03."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


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
