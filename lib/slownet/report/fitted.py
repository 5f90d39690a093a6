"""Tables that lose nothing in a narrow terminal: where a row does not fit in a line, it becomes a record."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

GAP = 2
"""Columns between two of the table's."""
VERDICT = "verdict"
"""The column whose text stands in the first line of a record."""


class Fitted(Table):
    """A table without lines; a row that does not fit into the console's width is shown as a record.

    Parameters
    ----------
    titles : int
        How many of the first columns name a row. They are its record's first line, with the column ``verdict`` if there is one;
        each other column that is not empty has a line of its own.
    """

    def __init__(self, titles: int = 1) -> None:
        super().__init__(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
        self._titles = titles

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=10**6)
        if Measurement.get(console, unlimited, self).maximum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        needed = []  # of a title the words may stand one below the other, of a cell they may not
        for column in self.columns:
            widths = (Measurement.get(console, unlimited, each).maximum for each in column.cells)
            needed.append(max((*widths, *(cell_len(word) for word in str(column.header).split())), default=0))
        if sum(needed) + GAP * len(needed) <= options.max_width:
            for column, width in zip(self.columns, needed, strict=True):
                column.width = width
            yield from super().__rich_console__(console, options)
            return
        names = [str(column.header) for column in self.columns]
        before: Sequence[Text] = ()
        for row in zip(*(column.cells for column in self.columns), strict=True):
            cells = [each if isinstance(each, Text) else Text(str(each)) for each in row]
            if before and not cells[0].plain:  # as above
                cells[0] = before[0]
            yield from self._record(names, cells)
            before = cells

    def _record(self, names: Sequence[str], cells: Sequence[Text]) -> RenderResult:
        first = Text(", ").join([each for each in cells[: self._titles] if each.plain])
        first.stylize("bold")
        below = []
        for name, cell in zip(names[self._titles :], cells[self._titles :], strict=True):
            if name == VERDICT:
                first = Text.assemble(first, ": ", cell) if cell.plain else first
            elif cell.plain:
                below.append(Text.assemble("  ", (f"{name}: ", "dim"), cell))
        yield first
        yield from below
