"""`slownet field` and `slownet compare`: measure, read, compare and print."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from slownet.commands.running import bars
from slownet.errors import ExperimentError, SlownetError
from slownet.field import address, record, view
from slownet.field.carried import compare_field
from slownet.field.measure import INTERRUPTED, measure
from slownet.field.record import Field
from slownet.field.row import margin
from slownet.field.runs import Comparison, compare_runs
from slownet.records.result import RunData, load
from slownet.records.samples import RUN, new_run_directory


def measure_and_show(url: str, requests: int, pause: str, timeout: str, root: Path, as_json: bool) -> int:
    """Measures, writes field.json, prints; returns the status: 1 if it broke off, 130 by an interrupt. Raises SlownetError."""
    where = address.read(url)
    with bars() as progress:
        task = progress.add_task(where.host, total=requests, now="")
        found = measure(where, requests, pause, timeout, lambda done: progress.update(task, completed=done))
    directory = new_run_directory(root, f"field-{where.host.replace(':', '-')}")
    found.write(directory)
    if as_json:
        print(json.dumps({**found.to_json(), "directory": str(directory)}, allow_nan=False))
    else:
        _print(view.measured(found, directory))
    if not found.error:
        return 0
    print(f"slownet: broke off after {len(found.pages)} of {requests} requests: {found.error}", file=sys.stderr)
    return 130 if found.error == INTERRUPTED else 1


def compare_and_show(
    first: Path, second: Path, within: str, metrics: Sequence[str], at: Sequence[str], t0: str | None, as_json: bool
) -> int:
    """Compares two runs, or a run with a field.json, and prints; returns the exit status. Raises SlownetError."""
    found = compare(first, second, margin(within), metrics, conditions(at), t0)
    if as_json:
        print(json.dumps(found.to_json(), allow_nan=False))
    else:
        _print(view.compared(found))
    return found.status


def compare(
    first: Path,
    second: Path,
    within: float,
    metrics: Sequence[str] = (),
    at: Mapping[str, str] | None = None,
    t0: str | None = None,
) -> Comparison:
    """The comparison of what two paths hold; a run's cells are those ``at`` these conditions. Raises SlownetError."""
    one, other = (_read(path, at) for path in (first, second))
    if isinstance(one, Field) and isinstance(other, RunData):
        raise SlownetError(f"{first} is a measurement of the field", "as what is compared with", "name the run first")
    if isinstance(one, RunData) and isinstance(other, Field):
        if metrics:
            raise SlownetError("the field is compared by the page's time", "--metric", "leave it out")
        return compare_field(one, other, within, t0)
    if t0:
        raise SlownetError("T0 is a site's", "--t0", "give it with a run and a field.json")
    runs = [each.run() if isinstance(each, Field) else each for each in (one, other)]
    return compare_runs(runs[0], runs[1], within, metrics)


def conditions(words: Sequence[str]) -> dict[str, str]:
    """``["loss=1%"]`` as ``{"loss": "1%"}``. Raises ExperimentError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ExperimentError(f"'{word}' is no condition", "--at", "write it like rtt=10ms")
        found[name] = value
    return found


def _read(path: Path, at: Mapping[str, Any] | None) -> RunData | Field:
    path = path.parent if path.name == RUN else path
    file = record.find(path)
    return record.read(file) if file else load(path).where(at)


def _print(what: Any) -> None:
    Console(width=None if sys.stdout.isatty() else 200).print(what)
