"""`slownet baseline`: a run's numbers in a file to commit, and later runs beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing
from slownet.cli.helping import Group
from slownet.cli.options import (
    ComparedOption,
    FailOption,
)
from slownet.cli.outputs import OF_COMPARISONS, Outputs
from slownet.model.errors import SlownetError

baseline = typer.Typer(cls=Group, help="Keep a run's numbers in a file to commit, and compare later runs with it.")


@baseline.command()
def save(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", autocompletion=completing.runs)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baseline to write.")] = Path("baseline.json"),
) -> None:
    """Write a run's numbers to a file."""
    from slownet.comparison import baseline as kept
    from slownet.report.words import few_boots

    found = kept.save(run, file)
    size = file.stat().st_size / 1000
    print(f"{file}: {found.experiment}, {len(found.cells)} cell{'s' * (len(found.cells) > 1)}, {size:.0f} kB")
    if few := few_boots(found):
        print(f"slownet: {run}: {few}, then save it again: until then every comparison with it is open", file=sys.stderr)


@baseline.command()
def check(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="The directory of a run of the same experiment.", autocompletion=completing.runs),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baseline.")] = Path("baseline.json"),
    fail_if_slower: FailOption = None,
    out: ComparedOption = None,
) -> None:
    """Compare a run with a baseline, all of it; the exit status is that of `slownet compare`."""
    from slownet.cli.compare import compare_and_show
    from slownet.comparison import baseline as kept

    if kept.is_one(run):  # or better would be worse
        raise SlownetError(f"{run} is a baseline", "where the run is named", "name the run first, then the baseline")
    outputs = Outputs.read(out or [], OF_COMPARISONS)
    raise typer.Exit(compare_and_show(kept.read(file), run, None, [], [], None, fail_if_slower, outputs, whole=True))
