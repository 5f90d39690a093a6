"""`slownet field` and `slownet compare`: measure or compare, and print the result."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from slownet.cli.outputs import Outputs
from slownet.cli.terminal import console
from slownet.comparison import baseline, field_page, field_tables
from slownet.comparison.compare import compare
from slownet.comparison.row import asked_margin
from slownet.comparison.service_measurement import measure
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import need_place_for_runs, new_run_directory
from slownet.model.errors import ExperimentError, SlownetError
from slownet.report.bars import bars
from slownet.report.words import few_boots
from slownet.tools.web import address
from slownet.tools.web.page_requests import INTERRUPTED


def measure_and_show(url: str, requests: int, pause: str, timeout: str, root: Path, as_json: bool, http: str, tls: str) -> int:
    """Measure, write field.json and the page, and print, the page's path last.

    Return the exit status: 1 if it stopped early, 130 if interrupted. Raises SlownetError.
    """
    where = address.read(url)
    need_place_for_runs(root)
    with bars() as progress:
        task = progress.add_task(where.host, total=requests, now="")
        found = measure(where, requests, pause, timeout, lambda done: progress.update(task, completed=done), http=http, tls=tls)
    directory = new_run_directory(root, f"field-{where.host.replace(':', '-')}")
    found.write(directory)
    path = field_page.write(found, directory)
    if as_json:
        print(json.dumps({**found.to_json(), "directory": str(directory)}, allow_nan=False))
    else:
        console().print(field_tables.measured(found, path))
    if not found.error:
        return 0
    print(f"slownet: stopped after {len(found.pages)} of {requests} requests: {found.error}", file=sys.stderr)
    return 130 if found.error == INTERRUPTED else 1


def compare_and_show(
    first: Path | RunData, second: Path, within: str | None, metrics: Sequence[str], at: Sequence[str], t0: str | None,
    slower: str | None, outputs: Outputs, whole: bool = False,
) -> int:  # fmt: skip
    """Compare two runs, or a run with a field.json, and print; return the exit status.

    slower: by how much a time may be longer or a rate lower, such as ``5%``, if nothing else counts. Raises SlownetError.
    """
    part = asked_margin(within, slower)
    found = compare(first, second, part, metrics, conditions(at), t0, one_sided=slower is not None, whole=whole)
    if not outputs.write_json(found.to_json):
        console().print(field_tables.compared(found))
    outputs.write_comparison(found)
    return found.status


def check_baseline(run: Path, file: Path, slower: str | None, outputs: Outputs) -> int:
    """Compare a run with a baseline and print; return the exit status. Raises SlownetError."""
    if baseline.is_one(run):  # or better would be worse
        raise SlownetError(f"{run} is a baseline", "where the run is named", "name the run first, then the baseline")
    return compare_and_show(baseline.read(file), run, None, [], [], None, slower, outputs, whole=True)


def save_baseline(run: Path, file: Path) -> None:
    """Write a baseline and say what it holds. Raises SlownetError."""
    found = baseline.save(run, file)
    size = file.stat().st_size / 1000
    print(f"{file}: {found.experiment}, {len(found.cells)} cell{'s' * (len(found.cells) > 1)}, {size:.0f} kB")
    if few := few_boots(found):
        print(f"slownet: {run}: {few}, then save it again: until then every comparison with it is open", file=sys.stderr)


def conditions(words: Sequence[str]) -> dict[str, str]:
    """Parse ``["loss=1%"]`` into ``{"loss": "1%"}``. Raises ExperimentError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ExperimentError(f"'{word}' is not a condition", "--at", "write it like rtt=10ms")
        found[name] = value
    return found
