"""`slownet list`: prints the experiments, their questions and conditions."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from slownet.model.control_characters import visible

COLUMNS = ("experiment", "question", "conditions")


def show() -> None:
    """List the experiments and their questions."""
    rows = [COLUMNS, *_rows()]  # wrapped on a terminal, one line each in a pipe or a file
    if not sys.stdout.isatty():
        name, question = (max(len(row[column]) for row in rows) for column in (0, 1))
        for row in rows:
            print(visible(f"{row[0]:<{name}}  {row[1]:<{question}}  {row[2]}".rstrip()))
        return
    from rich.table import Table  # both take as long to import as all else of a list in a pipe

    from slownet.report.screen import Screen

    table = Table(*COLUMNS, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows[1:]:
        table.add_row(*row)
    Screen().print(table)


def _rows() -> Iterator[tuple[str, str, str]]:
    from slownet.hypotheses import value_texts
    from slownet.hypotheses.catalogue import everything, find, layered

    of_layers = {name: find(name) for name in layered()}
    for name, each in sorted((everything() | of_layers).items()):
        yield name, each.question, "; ".join(f"{key} {value_texts.shown(values)}" for key, values in each.conditions.items())
