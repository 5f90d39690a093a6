"""`slownet compare save`: a run's numbers in a file to commit, which later runs are compared with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from slownet.cli import completing


def save(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The directory of a run.", autocompletion=completing.runs)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The baseline to write.")] = Path("baseline.json"),
) -> None:
    """Keep a run's numbers in a file to commit, a baseline for later runs."""
    from slownet.comparison import baseline as kept
    from slownet.report.words import few_boots

    found = kept.save(run, file)
    size = file.stat().st_size / 1000
    print(f"{file}: {found.experiment}, {len(found.cells)} cell{'s' * (len(found.cells) > 1)}, {size:.0f} kB")
    if few := few_boots(found):
        print(f"slownet: {run}: {few}, then save it again: until then every comparison with it is open", file=sys.stderr)
