"""`slownet compare`: two runs, or a run and a field measurement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli import completing
from slownet.cli.options import (
    ComparedOption,
    FailOption,
)
from slownet.cli.outputs import OF_COMPARISONS, Outputs
from slownet.model.errors import ExperimentError, SlownetError

if TYPE_CHECKING:
    from slownet.judge.records.result import RunData


def compare(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|BASELINE", help="The directory of a run, or what `compare save` wrote.", autocompletion=completing.runs
        ),
    ],
    other: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FIELD",
            help="Another run's directory, or a field.json or its directory.",
            autocompletion=completing.runs,
        ),
    ],
    within: Annotated[
        str | None,
        typer.Option(
            "--within",
            metavar="PART",
            help="Relative difference that still counts as equal. Default: 0.05; of two runs whose numbers repeat 0.005; half "
            "of what run --repeat 2% asked for.",
        ),
    ] = None,
    fail_if_slower: FailOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", metavar="NAME", help="Compare only this metric. Repeatable.")
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE", help="Compare only at this condition, e.g. loss=0%. Repeatable."),
    ] = None,
    t0: Annotated[
        str | None, typer.Option("--t0", metavar="TIME", help="Time per operation at the field site without delay.")
    ] = None,
    out: ComparedOption = None,
) -> None:
    """Compare two runs, or a run with a baseline or a field trial.

    The exit status is 0 if the second is equal or better, 1 if it is worse or differs, 3 if more repetitions are needed.
    """
    outputs = Outputs.read(out or [], OF_COMPARISONS)
    first = _baseline(run, other)
    raise typer.Exit(
        compare_and_show(
            first or run, other, within, metric or [], at or [], t0, fail_if_slower, outputs, whole=first is not None
        )
    )


def _baseline(run: Path, other: Path) -> RunData | None:
    """Return the baseline that is named first; None if that is a run. Raises SlownetError."""
    from slownet.comparison import baseline as kept
    from slownet.comparison.record import FILE
    from slownet.judge.records import measured_folder

    if measured_folder.of(run).suffix == ".json" and run.name != FILE and not run.is_dir():
        return kept.read(run)
    if kept.is_one(other):  # or better would be worse
        raise SlownetError(f"{other} is a baseline", "as the second argument", f"name it first: slownet compare {other} {run}")
    return None


def compare_and_show(
    first: Path | RunData, second: Path, within: str | None, metrics: Sequence[str], at: Sequence[str], t0: str | None,
    slower: str | None, outputs: Outputs, whole: bool = False,
) -> int:  # fmt: skip
    """Compare two runs, or a run with a field.json, and print; return the exit status.

    slower: by how much a time may be longer or a rate lower, such as ``5%``, if nothing else counts. Raises SlownetError.
    """
    from slownet.cli.terminal import console
    from slownet.comparison import field_tables
    from slownet.comparison.compare import compare
    from slownet.comparison.row import asked_margin

    part = asked_margin(within, slower)
    found = compare(first, second, part, metrics, conditions(at), t0, one_sided=slower is not None, whole=whole)
    if not outputs.write_json(found.to_json):
        console().print(field_tables.compared(found))
    outputs.write_comparison(found)
    return found.status


def conditions(words: Sequence[str]) -> dict[str, str]:
    """Parse ``["loss=1%"]`` into ``{"loss": "1%"}``. Raises ExperimentError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ExperimentError(f"'{word}' is not a condition", "--at", "write it like rtt=10ms")
        found[name] = value
    return found
