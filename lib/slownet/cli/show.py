"""`slownet show`: prints runs that were made before, writes their pages and pictures, and predicts from their laws."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli import completing, run_folders
from slownet.cli.completing import one_of
from slownet.cli.options import JsonOption, RunsOption
from slownet.cli.outputs import OUT, PICTURES, pairs
from slownet.model.errors import SlownetError
from slownet.runner import RUNS

if TYPE_CHECKING:
    from slownet.judge.records.result import RunData
    from slownet.report.html_page import Differences

PAGE = "page"
SIDE_BY_SIDE = Path("slownet-report.html")


def show(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            help="Directories of runs and sweeps, or their names below --runs; default: the last run.",
            autocompletion=completing.runs,
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Predict a time at another site instead: rtt=85ms of your users, and t0=12ms on your machine without delay "
            "(default: the run's own). Repeatable.",
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="NAME", help="With --at: which time, if the run measured several.")
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            OUT,
            metavar="KIND[=FILE]",
            help=f"Write the page again, of several runs side by side (page; default: report.html in the run, {SIDE_BY_SIDE} "
            "here for several runs or a sweep), or each picture into a folder (svg=, png= or pdf=FOLDER). Repeatable.",
            autocompletion=one_of(PAGE, *(f"{each}=" for each in PICTURES)),
        ),
    ] = None,
    as_json: JsonOption = False,
    below: RunsOption = RUNS,
) -> None:
    """Print runs again, write their pages, or predict by their law.

    The status is 1 if a run is damaged.
    """
    directories = [run_folders.named(each, below) for each in runs or ()] or [run_folders.last(below)]
    files = pairs(out or [], (PAGE, *PICTURES), alone=(PAGE,))
    if at:
        _predict(directories, at, metric, as_json, bool(files))
        return
    if metric:
        raise SlownetError("nothing is predicted", "--metric", "add --at rtt=85ms")
    from slownet.judge.records.measured_folder import load

    loaded = [load(each) for each in directories]
    written = _written(loaded, directories, files) if files else []
    if as_json:
        print(json.dumps({"runs": [each.to_json() for each in loaded]}))
    else:
        _print(loaded, written)
    if any(each.damage for each in loaded):  # its verdicts rest on samples that are gone
        raise typer.Exit(1)


def _print(loaded: Sequence[RunData], written: Sequence[Path]) -> None:
    from slownet.cli.terminal import console, say_records
    from slownet.report import table

    screen = console()
    for each in loaded:
        screen.print(table.show(each))
        for line in _criterion(each.directory):
            screen.print(line, markup=False, highlight=False)
        say_records(screen, each.directory)
    for path in written:
        screen.print(str(path), markup=False, highlight=False, soft_wrap=True)


def _predict(directories: Sequence[Path], at: Sequence[str], metric: str | None, as_json: bool, has_files: bool) -> None:
    from slownet.cli.prediction import conditions, run_and_show

    if len(directories) > 1:
        raise SlownetError(f"{len(directories)} runs", "--at", "name the one whose law predicts")
    if has_files:
        raise SlownetError("a prediction has no page", f"--at and {OUT}", f"leave out {OUT}")
    run_and_show(directories[0], metric, conditions(at), as_json)


def _written(loaded: Sequence[RunData], directories: Sequence[Path], files: dict[str, Path | None]) -> list[Path]:
    """Write the page and the pictures that are asked for, and return their paths. Raises SlownetError."""
    from slownet.judge.records.measured_folder import is_of_a_sweep
    from slownet.report.figure import written
    from slownet.report.html_page import REPORT, page_figures, write_page
    from slownet.report.overlay_figure import names
    from slownet.report.sweep_page import maps_of
    from slownet.report.view import view

    views = [view(each) for each in loaded]
    maps = [(f"{name}-{each.name}", each) for seen, name in zip(views, names(views), strict=True) for each in maps_of(seen.run)]
    pictures = [*maps, *page_figures(views)]
    found = [path for kind in PICTURES if (folder := files.get(kind)) for path in written(pictures, folder, kind)]
    if PAGE in files:
        beside = len(loaded) > 1 or is_of_a_sweep(directories[0])  # a sweep's folder has a page of maps
        target = files[PAGE] or (SIDE_BY_SIDE if beside else directories[0] / REPORT)
        try:
            found.append(write_page(target, views, list(_differences(loaded, names(views)))))
        except SlownetError as error:
            fix = f"name another file: {OUT} {PAGE}={SIDE_BY_SIDE}"
            raise SlownetError(error.what, error.where, fix) from error
    return found


def _differences(runs: Sequence[RunData], titles: Sequence[str]) -> Iterator[Differences]:
    """Yield the comparison of each run with the first one of the same experiment; none where they share no number."""
    from slownet.comparison.compare import compare
    from slownet.comparison.field_tables import lines
    from slownet.model.errors import ExperimentError
    from slownet.report.html_page import Differences

    for run, title in zip(runs, titles, strict=True):
        first, of_first = next(pair for pair in zip(runs, titles, strict=True) if pair[0].experiment == run.experiment)
        if first is run:
            continue
        try:
            found = compare(first, run, None)
        except ExperimentError:
            continue
        head, rows, notes = lines(found)
        yield Differences(f"{title} against {of_first}", str(found.outcome), head, rows, notes)


def _criterion(directory: Path) -> Iterator[str]:
    """Yield in how many cells of a sweep its criterion is met."""
    from slownet.judge.records.measured_folder import is_of_a_sweep

    if not is_of_a_sweep(directory):
        return
    from slownet.judge.records.sweep_samples import read_header  # reads Parquet, too

    header = read_header(directory)
    limit, verdicts = (header.get("spec") or {}).get("criterion"), Counter((header.get("verdicts") or {}).values())
    if limit and verdicts:
        yield f"{limit}: {', '.join(f'{word} in {cells}' for word, cells in verdicts.items())} of {verdicts.total()} cells"
