"""`slownet mark`: marks a class's answers against one key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.model.errors import writing

if TYPE_CHECKING:  # `slownet --help` imports this module
    from slownet.hypotheses.marking import Marked

COLUMNS = ("student", "exercise", "answer to", "answer", "number", "unit", "measured", "low", "high", "mark")


def mark(
    answers: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Students' answers (TOML), see `slownet check --answers`.")
    ],
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="The key that `slownet check --key KEY.toml` wrote.")],
    csv_file: Annotated[Path, typer.Option("--csv", metavar="FILE", help="Where to write the marks as CSV.")] = Path(
        "marks.csv"
    ),
    page: Annotated[Path, typer.Option("--page", metavar="FILE", help="Where to write the page.")] = Path("marks.html"),
) -> None:
    """Mark the answers of a class against one measurement; write them as CSV and as a page."""
    from slownet.hypotheses import answers as files
    from slownet.hypotheses import key as keys
    from slownet.hypotheses import marking
    from slownet.report import marks
    from slownet.report.page import write_html

    marked = marking.mark([files.read(each) for each in answers], keys.read(key))
    _write_csv(csv_file, marked)
    write_html(page, marks.render(marked))
    most = sum(len(each.solutions) for each in marked.exercises)
    width = max(map(len, marked.students))
    for student in marked.students:
        print(f"{student:<{width}}  {marked.points(student)} of {most}")
    print(f"written  {csv_file}, {page}")


def _write_csv(path: Path, marked: Marked) -> None:
    from slownet.report import spreadsheet

    rows = [
        (
            each.student, each.exercise.name, each.solution.name, each.written, each.number, each.solution.unit,
            each.solution.measured, each.solution.low, each.solution.high, each.mark,
        )
        for each in marked.marks
    ]  # fmt: skip
    with writing(path, "--csv"):
        path.write_text(spreadsheet.text([COLUMNS, *rows]), encoding="utf-8")
