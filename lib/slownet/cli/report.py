"""`slownet report`: the pages of runs that were made before, without measuring anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli import completing

if TYPE_CHECKING:
    from slownet.judge.records.result import RunData
    from slownet.report.html_page import Differences

SIDE_BY_SIDE = Path("slownet-report.html")


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="The directories of runs and sweeps; several stand side by side.",
            autocompletion=completing.runs,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help=f"The page. Default: report.html in the run; {SIDE_BY_SIDE} here for several runs, or a sweep.",
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FOLDER", help="Write each picture as an SVG file, for papers.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FOLDER", help="Write each picture as a PNG file, for papers.")
    ] = None,
) -> None:
    """Write the report of runs again, put runs side by side, or write their pictures as files."""
    from slownet.judge.records.measured_folder import is_of_a_sweep, load
    from slownet.model.errors import SlownetError
    from slownet.report.figure import written
    from slownet.report.html_page import REPORT, page_figures, write_page
    from slownet.report.overlay_figure import names
    from slownet.report.view import view

    loaded = [load(each) for each in runs]
    views = [view(each) for each in loaded]
    for folder, kind in ((svg, "svg"), (png, "png")):
        for path in written(page_figures(views), folder, kind) if folder else ():
            print(path)
    if out or not (svg or png):
        beside = len(runs) > 1 or is_of_a_sweep(runs[0])  # a sweep's folder has a page of maps
        target = out or (SIDE_BY_SIDE if beside else runs[0] / REPORT)
        try:
            print(write_page(target, views, list(_differences(loaded, names(views)))))
        except SlownetError as error:
            raise SlownetError(error.what, error.where, f"name another file: --out {SIDE_BY_SIDE}") from error


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
