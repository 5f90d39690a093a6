"""`slownet show`: prints runs that were made before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import JsonOption

if TYPE_CHECKING:
    pass


def show(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="The directories of runs and sweeps.", autocompletion=completing.runs)
    ],
    as_json: JsonOption = False,
) -> None:
    """Print runs as `slownet run` printed them: question, answer, table, law and claims. The status is 1 if one is damaged."""
    from slownet.cli.terminal import console
    from slownet.judge.records.measured_folder import load
    from slownet.report import table

    loaded = [load(each) for each in runs]
    if as_json:
        print(json.dumps({"runs": [each.to_json() for each in loaded]}))
    else:
        screen = console()
        for each in loaded:
            screen.print(table.show(each))
            for line in _criterion(each.directory):
                screen.print(line, markup=False, highlight=False)
    if any(each.damage for each in loaded):  # its verdicts rest on samples that are gone
        raise typer.Exit(1)


def _criterion(directory: Path) -> Iterator[str]:
    """Yield what a sweep says of its criterion: in how many cells it is met."""
    from slownet.judge.records.measured_folder import is_of_a_sweep

    if not is_of_a_sweep(directory):
        return
    from slownet.judge.records.sweep_samples import read_header  # reads Parquet, too

    header = read_header(directory)
    limit, verdicts = (header.get("spec") or {}).get("criterion"), Counter((header.get("verdicts") or {}).values())
    if limit and verdicts:
        yield f"{limit}: {', '.join(f'{word} in {cells}' for word, cells in verdicts.items())} of {verdicts.total()} cells"
