"""Tables that lose nothing in a narrow terminal: where a row does not fit in a line, it becomes a record."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

GAP = 2
"""Columns between two of the table's."""
VERDICT = "verdict"
"""The column whose text stands in the first line of a record."""


class Fitted(Table):
    """A table without lines; a row that does not fit into the console's width is shown as a record.

    titles: how many of the first columns name a row. They are its record's first line, with the column ``verdict`` if there is
        one; each other column that is not empty has a line of its own.
    extra: columns that are left out first, from the end, where the table does not fit; a line names them.
    """

    def __init__(self, titles: int = 1, extra: Sequence[str] = ()) -> None:
        super().__init__(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
        self._titles = titles
        self._extra = tuple(extra)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=10**6)
        if Measurement.get(console, unlimited, self).maximum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        if _needed(self.columns, console, unlimited) <= options.max_width:
            for column in self.columns:
                column.width = _width(column, console, unlimited)
            yield from super().__rich_console__(console, options)
            return
        names = [str(column.header) for column in self.columns]
        if present := [each for each in self._extra if each in names]:
            yield from self._without(present, console, options)
            return
        before: Sequence[Text] = ()
        for row in zip(*(column.cells for column in self.columns), strict=True):
            cells = [each if isinstance(each, Text) else Text(str(each)) for each in row]
            if before and not cells[0].plain:  # as above
                cells[0] = before[0]
            yield from self._record(names, cells)
            before = cells

    def _without(self, present: Sequence[str], console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table without as few of these columns as possible, from the last; as records if that does not help."""
        unlimited = options.update(max_width=10**6)
        for first in range(len(present) - 1, -1, -1):
            left_out = present[first:]
            kept = [column for column in self.columns if column.header not in left_out]
            if _needed(kept, console, unlimited) <= options.max_width:
                yield from console.render(self._of(kept), options)
                yield Text(f"left out at this width: {', '.join(left_out)}", style="dim")
                return
        yield from console.render(self._of(self.columns), options)

    def _of(self, columns: Sequence[Column]) -> Fitted:
        """Return a table of these columns, which has none to leave out."""
        made = Fitted(self._titles)
        for column in columns:
            made.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap)
        for cells in zip(*(column.cells for column in columns), strict=True):
            made.add_row(*cells)
        return made

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


def _width(column: Column, console: Console, unlimited: ConsoleOptions) -> int:
    """Return the least width of a column: of a title the words may stand one below the other, of a cell they may not."""
    widths = (Measurement.get(console, unlimited, each).maximum for each in column.cells)
    return max((*widths, *(cell_len(word) for word in str(column.header).split())), default=0)


def _needed(columns: Sequence[Column], console: Console, unlimited: ConsoleOptions) -> int:
    """Return the least width of a table of these columns."""
    return sum(_width(each, console, unlimited) + GAP for each in columns)
