"""The marks that a table or a page has from an earlier call: fewer students do not replace them."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

from slownet.classroom.class_marks import NOT_MARKED
from slownet.judge.records.naming import plural
from slownet.model.errors import ExperimentError

_ROW = re.compile(r'<th scope="row" class="row">(?P<student>.*?)</th><td(?P<without> colspan)?')


def check(path: Path, where: str, text: str) -> None:
    """Refuse to replace a file by a text without a row for each student who has marks in the file.

    Parameters
    ----------
    path : Path
        The CSV file or the page, which need not exist.
    where : str
        The option that names it.
    text : str
        What is to be written there.

    Raises
    ------
    ExperimentError
        Students would lose their marks.
    """
    try:
        before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:  # writing it says why not
        return
    now = {name for name, _ in _students(text)}
    names = now | {name.partition(" (")[0] for name in now}  # with an id where two have one name
    lost = {name for name, has_marks in _students(before) if has_marks} - names
    if lost:
        what = f"{path} has marks of {plural(len(lost), 'student')} not among these files, and was not overwritten"
        raise ExperimentError(what, where, "mark all files in one call, name another file, or remove it")


def _students(text: str) -> set[tuple[str, bool]]:
    """Return each student in a table or a page, and whether the student has marks."""
    if text.lstrip().startswith("<"):
        return {(html.unescape(each["student"]), not each["without"]) for each in _ROW.finditer(text)}
    try:
        rows = [*csv.DictReader(text.splitlines(keepends=True))]
    except csv.Error:
        return set()
    return {(each["student"], each.get("mark") != NOT_MARKED) for each in rows if each.get("student")}
