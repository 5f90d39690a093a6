"""Maps of a sweep: a metric or a verdict over two factors, a panel for each value of a third; with contours and named links."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from slownet.records.cell import Cell
from slownet.records.judgement import REFUTED, SUPPORTED
from slownet.records.result import RunData
from slownet.report.chart import CHARACTER, clipped, element, escaped, text_width
from slownet.report.contours import contours
from slownet.report.figure import Figure
from slownet.report.grid import Factor, named, panels
from slownet.report.scale import Linear
from slownet.report.spreadsheet import Value
from slownet.report.text import spelled, trimmed
from slownet.report.words import capital
from slownet.units import spoken

WIDTH, TOP, BOTTOM, RIGHT = 440, 46, 44, 14
HIGH = 230
FAINT, FULL = 0.06, 0.62
"""Opacity of the lowest and the highest number: text on it stays readable."""
MOST = 24
"""Panels of one metric."""
WORDS = {SUPPORTED: ("good", "met"), REFUTED: ("bad", "not")}
"""Colour and word of a verdict; others are open."""

Place = Callable[[int], float]


@dataclass(frozen=True)
class _Frame:
    """Where a map draws its squares."""

    across: Factor
    up: Factor
    left: float

    @property
    def wide(self) -> float:
        return (WIDTH - self.left - RIGHT) / len(self.across.levels)

    @property
    def high(self) -> float:
        return HIGH / len(self.up.levels)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the coordinates of a place, in levels from 0."""
        return self.left + (x + 0.5) * self.wide, TOP + HIGH - (y + 0.5) * self.high

    def square(self, x: int, y: int, fill: str, says: str, word: str) -> str:
        """Draw a cell, with a word in it if there is room."""
        middle, centre = self.at(x, y)
        fits = text_width(word) < self.wide - 3 and self.high > 13
        text = f'<text x="{middle:.1f}" y="{centre + 4:.1f}" text-anchor="middle">{escaped(word)}</text>' if fits else ""
        at = f'x="{middle - self.wide / 2:.1f}" y="{centre - self.high / 2:.1f}"'
        rect = f'<rect {at} width="{self.wide:.1f}" height="{self.high:.1f}" {fill}/>'
        mark = f'data-x="{middle:.1f}" data-y="{centre:.1f}" data-says="{escaped(says)}"'
        return f'<g class="mark" {mark}>{rect}{text}</g>'

    def axes(self) -> str:
        """Draw the levels along both sides, as many as have room."""
        widest = max(text_width(each) for each in self.across.levels) + 4
        skip = max(1, math.ceil(widest / self.wide))
        found = []
        for x, text in list(enumerate(self.across.levels))[::skip]:
            found.append(f'<text x="{self.at(x, 0)[0]:.1f}" y="{TOP + HIGH + 15}" text-anchor="middle">{escaped(text)}</text>')
        for y, text in list(enumerate(self.up.levels))[:: max(1, math.ceil(13 / self.high))]:
            name = escaped(clipped(text, self.left - 8))
            found.append(f'<text x="{self.left - 5:.1f}" y="{self.at(0, y)[1] + 4:.1f}" text-anchor="end">{name}</text>')
        across, up = escaped(self.across.name), escaped(self.up.name)
        found.append(f'<text x="{WIDTH - RIGHT}" y="{TOP + HIGH + 32}" text-anchor="end">{across}</text>')
        return "".join([*found, f'<text x="4" y="{TOP - 8}">{up}</text>'])

    def links(self) -> str:
        """Mark the named conditions that lie on the map; names that would overlap are stacked."""
        rings, names, ends = [], [], dict[int, float]()
        for name, x, y in sorted(named(self.across, self.up), key=lambda each: each[1]):
            across, centre = self.at(x, y)
            wide = text_width(name)
            left = min(across + 6, WIDTH - RIGHT - wide)
            row = next(each for each in range(len(ends) + 1) if ends.get(each, 0.0) < left)
            ends[row] = left + wide
            rings.append(f'<circle class="dot hollow" stroke="var(--ink)" cx="{across:.1f}" cy="{centre:.1f}" r="3.5"/>')
            names.append(f'<text class="small" x="{left:.1f}" y="{centre - 7 - 12 * row:.1f}">{escaped(name)}</text>')
        return "".join([*rings, *names])


def metric_maps(run: RunData, metric: str, across: Factor, up: Factor) -> list[Figure]:
    """Draw a metric over two factors; all panels have one scale of shades."""
    shown = [(others, cells) for others, cells in panels(run, across, up)][:MOST]
    known = [cell.metrics[metric].mean for _, cells in shown for cell in cells.values() if metric in cell.metrics]
    if not known:
        return []
    low, high = min(known), max(known)

    def draw(frame: _Frame, x: int, y: int, cell: Cell) -> str:
        if metric not in cell.metrics:
            return frame.square(x, y, 'fill="none" stroke="var(--bad)" stroke-dasharray="2 2"', f"{cell.title}: failed", "")
        found = cell.metrics[metric]
        shade = FAINT + (FULL - FAINT) * ((found.mean - low) / ((high - low) or 1.0))
        fill = f'fill="var(--measured)" fill-opacity="{shade:.3f}"'
        return frame.square(x, y, fill, f"{cell.title}: {spelled(found)}", trimmed(found.mean, 3))

    figures = []
    for number, (others, cells) in enumerate(shown, 1):
        frame = _frame(across, up)
        lines, levels = _contours(frame, cells, metric, low, high)
        note = f"Contours at {', '.join(map(trimmed, levels))}." if levels else ""
        title = f"{capital(spoken(metric))} over {across.name} and {up.name}" + (f": {others}" if others else "")
        legend = _legend(low, high)
        figures.append(_figure(f"map-{metric}-{number}", title, frame, cells, draw, lines + legend, metric, note))
    return figures


def verdict_maps(
    run: RunData, criterion: str, verdicts: Mapping[str, str], across: Factor, up: Factor
) -> list[Figure]:  # fmt: skip
    """Draw over two factors which cells meet a criterion; ``verdicts`` by the cell's title."""

    def draw(frame: _Frame, x: int, y: int, cell: Cell) -> str:
        verdict = verdicts.get(cell.title, "failed")
        colour, word = WORDS.get(verdict, ("open", "?"))
        return frame.square(x, y, f'fill="var(--{colour})" fill-opacity="0.35"', f"{cell.title}: {verdict}", word)

    figures = []
    for number, (others, cells) in enumerate(list(panels(run, across, up))[:MOST], 1):
        title = f"{criterion}, over {across.name} and {up.name}" + (f": {others}" if others else "")
        figures.append(_figure(f"verdicts-{number}", title, _frame(across, up), cells, draw, "", "", "", verdicts))
    return figures


def _frame(across: Factor, up: Factor) -> _Frame:
    left = min(110.0, max(text_width(each) for each in up.levels) + 12)
    return _Frame(across, up, max(left, 30.0))


def _figure(
    name: str, title: str, frame: _Frame, cells: Mapping[tuple[str, str], Cell], draw: Callable[[_Frame, int, int, Cell], str],
    above: str, metric: str, note: str, verdicts: Mapping[str, str] | None = None,
) -> Figure:  # fmt: skip
    places = [
        (x, y, cells[one, other])
        for x, one in enumerate(frame.across.levels)
        for y, other in enumerate(frame.up.levels)
        if (one, other) in cells
    ]
    drawn = "".join(draw(frame, x, y, cell) for x, y, cell in places)
    svg = element(title, WIDTH, TOP + HIGH + BOTTOM, drawn + above + frame.axes() + frame.links())
    last = ("verdict",) if verdicts is not None else (metric, "low", "high")
    rows = tuple((*map(str, cell.label.values()), *_row(cell, metric, verdicts)) for _, _, cell in places)
    head = (*(places[0][2].label if places else ()), *last)
    return Figure(name, title, svg, head, rows, note)


def _row(cell: Cell, metric: str, verdicts: Mapping[str, str] | None) -> Sequence[Value]:
    if verdicts is not None:
        return [verdicts.get(cell.title, "failed")]
    found = cell.metrics.get(metric)
    return [found.mean, found.low, found.high] if found else [None, None, None]


def _contours(
    frame: _Frame, cells: Mapping[tuple[str, str], Cell], metric: str, low: float, high: float
) -> tuple[str, list[float]]:  # fmt: skip
    """Draw the contours of a metric at round numbers, between the middles of the squares."""
    across, up = frame.across, frame.up
    if not (across.numbers and up.numbers):
        return "", []
    field = [
        [cells[x, y].metrics[metric].mean if (x, y) in cells and metric in cells[x, y].metrics else None for x in across.levels]
        for y in up.levels
    ]
    drawn, levels = [], []
    for level, _ in Linear(low, high).ticks:
        lines = contours(field, level) if low < level < high else []
        if lines:
            levels.append(level)
            path = "".join(
                f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
                for (x1, y1), (x2, y2) in ((frame.at(*a), frame.at(*b)) for a, b in lines)
            )
            drawn.append(f'<path class="line" stroke="var(--ink)" d="{path}"/>')
    return "".join(drawn), levels


def _legend(low: float, high: float) -> str:
    """Draw the scale of shades, from the lowest to the highest number."""
    parts, wide = 10, 12
    left = WIDTH - RIGHT - parts * wide - text_width(trimmed(high, 3)) - CHARACTER
    found = [f'<text x="{left - 4:.1f}" y="16" text-anchor="end">{trimmed(low, 3)}</text>']
    for part in range(parts):
        shade = FAINT + (FULL - FAINT) * part / (parts - 1)
        at = f'x="{left + part * wide:.1f}" y="6" width="{wide}" height="12"'
        found.append(f'<rect {at} fill="var(--measured)" fill-opacity="{shade:.3f}"/>')
    found.append(f'<text x="{WIDTH - RIGHT}" y="16" text-anchor="end">{trimmed(high, 3)}</text>')
    return "".join(found)
