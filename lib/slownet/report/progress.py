"""Progress of measurements, on standard error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


def bars() -> Progress:
    """Return progress bars on standard error, shown only on a terminal; each has a field `now` for the current activity."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    errors = Console(stderr=True)
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


class Follower:
    """One progress bar per experiment on standard error; an experiment may use several labs."""

    def __init__(self, totals: Mapping[str, int]) -> None:
        self._progress = bars()
        self._tasks = {
            name: self._progress.add_task(name, total=total, start=False, now="waiting") for name, total in totals.items()
        }
        self._now: dict[str, dict[int, str]] = {name: {} for name in totals}

    def __enter__(self) -> Follower:
        self._progress.start()
        return self

    def __call__(self, name: str, event: Mapping[str, Any]) -> None:
        task = self._tasks[name]
        self._progress.start_task(task)
        if event["event"] == "facts":
            self._progress.update(task, now="services up")
        elif event["event"] == "cell":
            now = self._now[name]
            now[event.get("lab", 1)] = " ".join(f"{key} {value}" for key, value in event["cell"].items())
            self._progress.update(task, now="; ".join(now[lab] for lab in sorted(now)))
        elif event["event"] == "planned":
            self._now[name].clear()
            self._progress.update(task, total=event["cells"], now="booting again")
        elif event["event"] == "end":
            self._now[name].pop(event.get("lab", 1), None)
        elif event["event"] == "sample":
            self._progress.advance(task)
            if event["error"]:
                self._progress.console.print(f"slownet: {name}: {event['error']}", style="yellow")

    def __exit__(self, *error: object) -> None:
        self._progress.stop()
