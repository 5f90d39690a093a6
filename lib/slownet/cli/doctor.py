"""`slownet doctor`: reports what this machine can do, and the command that fixes each lack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli.options import JsonOption

if TYPE_CHECKING:  # `slownet --help` imports this module, and has no need of tables
    from rich.table import Table

    from slownet.lab.build.shelf import Shelf
    from slownet.lab.host.examination import Finding

GOOD, NEEDED, OPTIONAL = ("yes", "green"), ("NO", "bold red"), ("no", "dim")


def doctor(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Also read all of the cache: is every part what was built, every image what was added?"),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Report what this machine can do, and how to fix what it lacks.

    `slownet doctor calibrate` measures whether links do here what they state. The exit status is 0 if experiments can run, 1 if
    something that they need is missing or damaged ("NO").
    """
    from slownet.cli.terminal import console
    from slownet.containers import store
    from slownet.lab.build import cache_cleanup, image, init, kernel, layer, wordpress_site
    from slownet.lab.host import examination as machine

    shelves: list[Shelf[Any]] = [
        kernel.SHELF, init.SHELF, image.SHELF, layer.SHELF, wordpress_site.SHELF, store.SHELF, cache_cleanup.SNAPSHOTS,
    ]  # fmt: skip
    verified = list(machine.verify(shelves)) if verify else []  # first, so that no lab of a damaged part is booted
    found = [*machine.examine(), *verified]
    if as_json:
        print(json.dumps({"findings": [each.to_json() for each in found], "ready": ready(found)}))
    else:
        console().print(table(found))
    raise typer.Exit(0 if ready(found) else 1)


def ready(found: Sequence[Finding]) -> bool:
    """Return whether everything that experiments need exists."""
    return all(each.good for each in found if each.needed)


def table(found: Sequence[Finding]) -> Table:
    """Format the findings, one row each; what fixes a problem is on a line of its own, to be copied."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for each in found:
        state, style = GOOD if each.good else NEEDED if each.needed else OPTIONAL
        text = Text(each.text)
        if each.repair:
            text.append("\n" + each.repair, style="bold")
        shown.add_row(each.name, Text(state, style=style), text)
    return shown
