"""The output of a section: text tables, and figures with their targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """One number with its target; ``met`` is None if there is no target or too little data."""

    what: str
    measured: str
    wanted: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        return f"{self.what:<66}{self.measured:>18}  {self.wanted}{'  NOT MET' if self.met is False else ''}".rstrip()


@dataclass(frozen=True)
class Report:
    """A section's summary: its tables as lines, then its figures."""

    lines: Sequence[str] = ()
    figures: Sequence[Figure] = field(default=())

    @property
    def missed(self) -> int:
        """Number of figures that miss their target."""
        return sum(each.met is False for each in self.figures)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Format rows as aligned lines, the first column and non-numeric columns to the left; no lines without rows."""
    cells = [[str(each) for each in row] for row in rows]
    if not cells:
        return []
    widths = [max(len(row[column]) for row in [header, *cells]) for column in range(len(header))]
    left = [not column or not any(row[column][:1].isdigit() for row in cells) for column in range(len(header))]
    return ["  ".join(_aligned(row, widths, left)).rstrip() for row in [header, *cells]]


def _aligned(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> list[str]:
    return [text.ljust(width) if to_left else text.rjust(width) for text, width, to_left in zip(row, widths, left, strict=True)]


def of(part: int, whole: int) -> str:
    """Format ``3 of 4``."""
    return f"{part} of {whole}"
