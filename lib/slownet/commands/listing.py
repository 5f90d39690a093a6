"""`slownet list`: prints the experiments, their conditions and questions."""

from __future__ import annotations

from rich.table import Table

from slownet.catalogue import discover
from slownet.report.screen import Screen


def show() -> None:
    """Print one row per experiment."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("experiment", "conditions", "question"):
        table.add_column(column)
    for name, each in sorted(discover().items()):
        table.add_row(name, "; ".join(f"{key} {' '.join(values)}" for key, values in each.conditions.items()), each.question)
    Screen().print(table)
