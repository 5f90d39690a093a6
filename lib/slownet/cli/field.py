"""`slownet field`: measures a real service without emulation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli.options import (
    JsonOption,
    RunsOption,
)
from slownet.runner import RUNS


def field(
    url: Annotated[str, typer.Argument(metavar="URL", help="An http or https page that you are allowed to measure.")],
    requests: Annotated[
        int, typer.Option("--requests", metavar="N", help="Number of requests, sent one at a time; at most 1000.")
    ] = 20,
    pause: Annotated[str, typer.Option("--pause", metavar="TIME", help="Pause between two requests.")] = "500ms",
    timeout: Annotated[str, typer.Option("--timeout", metavar="TIME", help="Time limit for one page.")] = "10s",
    http: Annotated[str, typer.Option("--http", metavar="VERSION", help="The version of HTTP: 1.1, 2 or 3.")] = "1.1",
    tls: Annotated[
        str, typer.Option("--tls", metavar="VERSION", help="The version of TLS: 1.2, 1.3, or the best that both sides have.")
    ] = "best",
    runs: RunsOption = RUNS,
    as_json: JsonOption = False,
) -> None:
    """Measure a real service, or summarize a recorded trace.

    Nothing is emulated. Of a service: its round-trip time, and the time of a page and of its phases.
    """
    raise typer.Exit(measure_and_show(url, requests, pause, timeout, runs, as_json, http, tls))


def measure_and_show(url: str, requests: int, pause: str, timeout: str, root: Path, as_json: bool, http: str, tls: str) -> int:
    """Measure, write field.json and the page, and print, the page's path last.

    Return the exit status: 1 if it stopped early, 130 if interrupted. Raises SlownetError.
    """
    from slownet.cli.terminal import console
    from slownet.comparison import field_page, field_tables
    from slownet.comparison.service_measurement import measure
    from slownet.judge.records.samples import need_place_for_runs, new_run_directory
    from slownet.report.bars import bars
    from slownet.tools.web import address
    from slownet.tools.web.page_requests import INTERRUPTED

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
