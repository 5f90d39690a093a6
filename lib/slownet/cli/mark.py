"""`slownet check mark`: marks a class's answers against one key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli.completing import one_of
from slownet.cli.options import KeyOption
from slownet.model import whole_file
from slownet.model.control_characters import visible
from slownet.model.errors import ExperimentError
from slownet.model.options import ONLY

if TYPE_CHECKING:  # `slownet --help` imports this module
    from slownet.classroom.class_marks import Marked

COLUMNS = (
    "student", "exercise", "answer to", "answer", "number", "unit", "measured", "low", "high", "mark", "file", "attempt",
)  # fmt: skip
_HEADS = {"--csv": "student,exercise", "--moodle": "Full name,", "--canvas": "Student,ID,"}
"""The beginning of the tables."""


def mark(
    answers: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Students' answers (TOML), see `slownet check --answers`.")
    ],
    key: KeyOption,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="EXERCISE", help="Mark only this exercise of the key, in all its variants. Repeatable."),
    ] = None,
    csv_file: Annotated[Path, typer.Option("--csv", metavar="FILE", help="The CSV file to write the marks to.")] = Path(
        "marks.csv"
    ),
    page: Annotated[Path, typer.Option("--page", metavar="FILE", help="The file to write the page to.")] = Path("marks.html"),
    due: Annotated[
        str | None,
        typer.Option(
            "--due",
            metavar="TIME",
            help="Files written later are late: after that day (2026-11-30), or time (2026-11-30T18:00).",
        ),
    ] = None,
    late: Annotated[
        str | None, typer.Option("--late", metavar="PART", help="Fraction of points that a late file keeps: 50%. Default: 0%.")
    ] = None,
    counts: Annotated[
        str,
        typer.Option(
            "--counts",
            metavar="last|best",
            help="Which of a student's files counts, of those in time.",
            autocompletion=one_of("last", "best"),
        ),
    ] = "last",
    moodle: Annotated[
        Path | None, typer.Option("--moodle", metavar="FILE", help="Write the totals as Moodle imports them.")
    ] = None,
    canvas: Annotated[
        Path | None, typer.Option("--canvas", metavar="FILE", help="Write the totals as Canvas imports them.")
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="NAME", help="The name of the grade in Moodle or Canvas.")
    ] = "slownet",
) -> None:
    """Mark the answers of a class against one measurement; write them as CSV and as a page.

    A file that cannot be marked is named in a line, and the others are marked.
    """
    from slownet.classroom import attempts, class_marks, marks
    from slownet.classroom import key as keys
    from slownet.report.page_template import write_html

    for option, path in (("--csv", csv_file), ("--page", page), ("--moodle", moodle), ("--canvas", canvas)):
        if path:
            whole_file.check(path, option, {".csv": _HEADS[option]} if option in _HEADS else whole_file.NONE)
    _refuse_folders(answers)
    marked = class_marks.mark(answers, keys.read(key), attempts.rules(counts, due, late), only=only or ())
    table, shown = _csv(marked), marks.render(marked)
    marks.check(csv_file, "--csv", table)
    marks.check(page, "--page", shown)
    whole_file.write(csv_file, table, "--csv", {".csv": _HEADS["--csv"]})
    write_html(page, shown)
    written = [csv_file]
    for option, path, form in (("--moodle", moodle, marks.moodle), ("--canvas", canvas, marks.canvas)):
        if path:
            whole_file.write(path, form(marked, title), option, {".csv": _HEADS[option]})
            written.append(path)
    written.append(page)  # last, as every command ends with the path of its page
    _say(marked)
    print(f"written  {', '.join(map(str, written))}")
    for each in marked.skipped:
        print(f"slownet: not marked: {each.line}", file=sys.stderr)
    for line in marked.unread:
        print(f"slownet: not read: {visible(line)}", file=sys.stderr)
    _note_unanswered(marked)
    if marked.skipped:
        raise typer.Exit(1)


def _refuse_folders(paths: list[Path]) -> None:
    for path in paths:
        if path.is_dir() and path.suffix != ".toml":  # one that a student called eve.toml is named, and the class is marked
            raise ExperimentError(f"{path} is a folder", fix=f"name the files in it: {path}/*.toml")


def _say(marked: Marked) -> None:
    names, without = [visible(each) for each in marked.students], [visible(each.student) for each in marked.without_marks]
    width = max(map(len, [*names, *without]))
    for name, student, each in zip(names, marked.students, marked.counted, strict=True):
        why = f"  ({visible(each.why)})" if each.why else ""
        print(f"{name:<{width}}  {marked.points(student):g} of {marked.most}{why}")
    for name in without:
        print(f"{name:<{width}}  not marked")


def _note_unanswered(marked: Marked) -> None:
    names, without = list(dict.fromkeys(each.name for each in marked.exercises)), marked.unanswered
    if 2 * len(without) > len(names):
        answered = " ".join(ONLY.set(each) for each in names if each not in without)
        print(
            f"slownet: note: no file answers {len(without)} of the key's {len(names)} exercises: {', '.join(without)}; if they "
            f"were not set, mark only those that were: {answered or ONLY.set('EXERCISE')}",
            file=sys.stderr,
        )


def _csv(marked: Marked) -> str:
    from slownet.classroom.class_marks import NOT_MARKED
    from slownet.report import spreadsheet

    counted = dict(zip(marked.students, marked.counted, strict=True))
    rows: list[tuple[spreadsheet.Value, ...]] = [
        (
            each.student, each.exercise.name, each.solution.name, each.written, each.number, each.solution.unit,
            each.solution.measured, each.solution.low, each.solution.high, each.mark,
            str(counted[each.student].answers.path), counted[each.student].why,
        )
        for each in marked.marks
    ]  # fmt: skip
    for each in marked.without_marks:
        found = {"student": each.student, "mark": NOT_MARKED, "file": str(each.path), "attempt": each.error.line}
        rows.append(tuple(found.get(column, "") for column in COLUMNS))
    return spreadsheet.text([COLUMNS, *rows])
