"""Writes CSV: numbers in full precision, and texts that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

Value = str | float | None
FORMULA = re.compile(r" *([=+@\t\r\n]|-.)", re.DOTALL)
"""The first characters of a cell that spreadsheets compute: it may run programs and send what is in other cells elsewhere."""
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


def text(rows: Iterable[Iterable[Value]]) -> str:
    """Return rows as CSV. A text that a spreadsheet would compute gets an apostrophe before it; None is empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([_cell(each) for each in row] for row in rows)
    return file.getvalue()


def _cell(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    whole = value.replace("\r", "\n")  # a lone CR would end the row in some programs, and older versions of csv do not quote it
    return f"'{whole}" if FORMULA.match(whole) and not NUMBER.fullmatch(whole) else whole
