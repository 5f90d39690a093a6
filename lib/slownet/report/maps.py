"""Maps of a sweep: a metric or a verdict over two factors, a panel for each value of a third.

Contours lie above the squares, and the squares' numbers above them. A contour's own number and the letters of named links stand
where no other text does; a contour without such a place is not drawn. The line below the map explains the letters.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import REFUTED, SUPPORTED
from slownet.judge.records.naming import capital
from slownet.judge.records.result import RunData
from slownet.model.units import spoken
from slownet.report.chart import CHARACTER, clipped, element, escaped, marked, text_width
from slownet.report.figure import Figure
from slownet.report.grid import Factor, named, panels
from slownet.report.scale import Linear, Log, shades
from slownet.report.spreadsheet import Value
from slownet.report.text import spelled, trimmed

Place = tuple[float, float]
Line = tuple[Place, Place]
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
"""Of a square, as (column, row) around it."""


WIDTH, TOP, BOTTOM, RIGHT = 352, 46, 44, 14
HIGH = 230
HALF, ASIDE = 7.0, 5.0
"""Half of a text's height, and the least distance of two texts beside each other: "F 40" are two."""
PIECES = 8
"""Parts of a piece of a contour. Those below a text are not drawn."""
FAINT, FULL = 0.06, 0.62
"""Opacity of the lowest and the highest number: text on it stays readable."""
NEAR = 26.0
"""The largest distance of a letter from its place, if another text stands there."""
MOST = 24
"""Panels of one metric."""
LETTERS = string.ascii_uppercase
WORDS: Mapping[str, tuple[str, str]] = {SUPPORTED: ("good", "met"), REFUTED: ("bad", "not")}
"""Colour and word of a verdict; others are open."""


@dataclass
class _Room:
    """The texts of a map: none may lie on another one."""

    left: float
    """The left edge of the squares."""
    taken: list[tuple[float, float, float]] = field(default_factory=list)
    """The middle of each, and half of its width."""

    def take(self, x: float, y: float, text: str) -> None:
        """Note a text."""
        self.taken.append((x, y, text_width(text) / 2))

    def is_free(self, x: float, y: float, text: str) -> bool:
        """Return whether a text has room around a place, within the squares."""
        half = text_width(text) / 2
        inside = self.left + half <= x <= WIDTH - RIGHT - half and TOP + HALF <= y <= TOP + HIGH - HALF
        return inside and all(abs(x - a) >= half + other + ASIDE or abs(y - b) >= 2 * HALF for a, b, other in self.taken)

    def around(self, start: Place, end: Place) -> str:
        """Return the path of a straight line with gaps where texts are."""
        (x1, y1), (x2, y2) = start, end
        ends = [(x1 + (x2 - x1) * at / PIECES, y1 + (y2 - y1) * at / PIECES) for at in range(PIECES + 1)]
        clear = [(a, b) for a, b in pairwise(ends) if not self._covers((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)]
        return "".join(f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in clear)

    def _covers(self, x: float, y: float) -> bool:
        return any(abs(x - a) < half + 1 and abs(y - b) < HALF for a, b, half in self.taken)

    def nearest(self, x: float, y: float, text: str) -> Place | None:
        """Return the free place that is nearest to one, not farther than `NEAR`; None without one."""
        step = 2.0
        reach = range(int(-NEAR / step), int(NEAR / step) + 1)
        moves = sorted(((a * step, b * step) for a in reach for b in reach), key=lambda move: (math.hypot(*move), move))
        return next(((x + a, y + b) for a, b in moves if self.is_free(x + a, y + b, text)), None)


@dataclass(frozen=True)
class _Frame:
    """The places of a map's squares."""

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

    def square(self, x: int, y: int, fill: str, says: str) -> str:
        """Draw a cell."""
        middle, centre = self.at(x, y)
        at = f'x="{middle - self.wide / 2:.1f}" y="{centre - self.high / 2:.1f}"'
        rect = f'<rect {at} width="{self.wide:.1f}" height="{self.high:.1f}" {fill}/>'
        return marked(rect, middle, centre, says)

    def word(self, x: int, y: int, text: str, room: _Room) -> str:
        """Write a word into a cell if there is room."""
        if not text or text_width(text) >= self.wide - 3 or self.high <= 13:
            return ""
        middle, centre = self.at(x, y)
        room.take(middle, centre, text)
        return f'<text x="{middle:.1f}" y="{centre + 4:.1f}" text-anchor="middle">{escaped(text)}</text>'

    def axes(self) -> str:
        """Draw the levels along both sides, as many as have room."""
        widest = max(text_width(each) for each in self.across.levels) + 2 * CHARACTER
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

    def links(self, room: _Room) -> tuple[str, str]:
        """Mark the named conditions that lie on the map, all at one place by one letter; return the letters and their meaning.

        A letter stands as near to its place as the other texts allow; one without room is explained, but not drawn.
        """
        at: dict[tuple[float, float], list[str]] = {}
        for name, x, y in named(self.across, self.up):
            at.setdefault((x, y), []).append(name)
        drawn, meant = [], []
        for letter, ((x, y), names) in zip(LETTERS, sorted(at.items()), strict=False):
            meant.append(f"{letter} {', '.join(names)}")
            free = room.nearest(*self.at(x, y), letter)
            if free:
                room.take(*free, letter)
                drawn.append(
                    f'<text class="small" x="{free[0]:.1f}" y="{free[1] + 4:.1f}" text-anchor="middle">{letter}</text>'
                )
        return "".join(drawn), f"Named conditions: {'; '.join(meant)}." if meant else ""


_Draw = Callable[[_Frame, int, int, Cell], tuple[str, str]]
"""Returns the square of a cell and the word in it."""


def metric_maps(run: RunData, metric: str, across: Factor, up: Factor) -> list[Figure]:
    """Draw a metric over two factors; all panels have one scale of shades."""
    shown = [(others, cells) for others, cells in panels(run, across, up)][:MOST]
    known = [cell.metrics[metric].mean for _, cells in shown for cell in cells.values() if metric in cell.metrics]
    if not known:
        return []
    scale = shades(known)

    def draw(frame: _Frame, x: int, y: int, cell: Cell) -> tuple[str, str]:
        if metric not in cell.metrics:
            return frame.square(x, y, 'fill="none" stroke="var(--bad)" stroke-dasharray="2 2"', f"{cell.title}: failed"), ""
        found = cell.metrics[metric]
        shade = FAINT + (FULL - FAINT) * scale.at(found.mean)
        fill = f'fill="var(--measured)" fill-opacity="{shade:.3f}"'
        return frame.square(x, y, fill, f"{cell.title}: {spelled(found)}"), trimmed(found.mean, 3)

    figures = []
    for number, (others, cells) in enumerate(shown, 1):
        frame = _frame(across, up)
        title = f"{capital(spoken(metric))} over {across.name} and {up.name}" + (f": {others}" if others else "")
        figures.append(_figure(f"map-{metric}-{number}", title, frame, cells, draw, scale, metric))
    return figures


def verdict_maps(
    run: RunData, criterion: str, verdicts: Mapping[str, str], across: Factor, up: Factor
) -> list[Figure]:  # fmt: skip
    """Draw over two factors which cells meet a criterion; ``verdicts`` by the cell's title."""

    def draw(frame: _Frame, x: int, y: int, cell: Cell) -> tuple[str, str]:
        verdict = verdicts.get(cell.title, "failed")
        colour, word = WORDS.get(verdict, ("open", "?"))
        return frame.square(x, y, f'fill="var(--{colour})" fill-opacity="0.35"', f"{cell.title}: {verdict}"), word

    figures = []
    for number, (others, cells) in enumerate(list(panels(run, across, up))[:MOST], 1):
        title = f"{criterion}, over {across.name} and {up.name}" + (f": {others}" if others else "")
        figures.append(_figure(f"verdicts-{number}", title, _frame(across, up), cells, draw, None, "", verdicts))
    return figures


def _frame(across: Factor, up: Factor) -> _Frame:
    left = min(110.0, max(text_width(each) for each in up.levels) + 12)
    return _Frame(across, up, max(left, 30.0))


def _figure(
    name: str, title: str, frame: _Frame, cells: Mapping[tuple[str, str], Cell], draw: _Draw, scale: Linear | Log | None,
    metric: str, verdicts: Mapping[str, str] | None = None,
) -> Figure:  # fmt: skip
    places = [
        (x, y, cells[one, other])
        for x, one in enumerate(frame.across.levels)
        for y, other in enumerate(frame.up.levels)
        if (one, other) in cells
    ]
    drawn = [(draw(frame, x, y, cell), x, y) for x, y, cell in places]
    squares = "".join(square for (square, _), _, _ in drawn)
    room = _Room(frame.left)
    words = "".join(frame.word(x, y, word, room) for (_, word), x, y in drawn)
    above = _contours(frame, cells, metric, scale, room) + _legend(scale) if scale else ""
    links, note = frame.links(room)
    svg = element(title, TOP + HIGH + BOTTOM, squares + above + words + frame.axes() + links)
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
    frame: _Frame, cells: Mapping[tuple[str, str], Cell], metric: str, scale: Linear | Log, room: _Room
) -> str:  # fmt: skip
    """Draw the contours of a metric at round numbers, between the middles of the squares, each with its number.

    One whose number has no room is left out: it is where the numbers jump, and lines lie side by side, or among the texts of
    small squares.
    """
    across, up = frame.across, frame.up
    if not (across.numbers and up.numbers):
        return ""
    field = [
        [cells[x, y].metrics[metric].mean if (x, y) in cells and metric in cells[x, y].metrics else None for x in across.levels]
        for y in up.levels
    ]
    drawn, labels = [], []
    for level, text in scale.ticks:
        lines = contours(field, level) if scale.low < level < scale.high else []
        middles = [frame.at(*each) for each in sorted(map(_middle, lines), key=_from_numbers, reverse=True)]
        free = next((each for each in middles if room.is_free(*each, text)), None)
        if free:
            x, y = free
            room.take(x, y, text)
            path = "".join(room.around(frame.at(*a), frame.at(*b)) for a, b in lines)
            drawn.append(f'<path class="line" stroke="var(--ink)" stroke-opacity="0.55" d="{path}"/>')
            labels.append(f'<text class="small" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{text}</text>')
    return "".join([*drawn, *labels])


def _middle(line: Line) -> tuple[float, float]:
    (x1, y1), (x2, y2) = line
    return (x1 + x2) / 2, (y1 + y2) / 2


def _from_numbers(place: tuple[float, float]) -> float:
    """Return how far a place is from the middle of the nearest square, where its number stands."""
    x, y = place
    return math.hypot(x - round(x), y - round(y))


def _legend(scale: Linear | Log) -> str:
    """Draw the scale of shades, from the lowest to the highest number."""
    parts, wide = 10, 12
    left = WIDTH - RIGHT - parts * wide - text_width(trimmed(scale.high, 3)) - CHARACTER
    found = [f'<text x="{left - 4:.1f}" y="16" text-anchor="end">{trimmed(scale.low, 3)}</text>']
    for part in range(parts):
        shade = FAINT + (FULL - FAINT) * part / (parts - 1)
        at = f'x="{left + part * wide:.1f}" y="6" width="{wide}" height="12"'
        found.append(f'<rect {at} fill="var(--measured)" fill-opacity="{shade:.3f}"/>')
    found.append(f'<text x="{WIDTH - RIGHT}" y="16" text-anchor="end">{trimmed(scale.high, 3)}</text>')
    return "".join(found)


def contours(field: Sequence[Sequence[float | None]], level: float) -> list[Line]:
    """Return the pieces of a contour in places of columns and rows, from 0.

    field: numbers by row and column; squares with a corner of None have no contour. Of the two ways through a saddle, the one
    is taken that its middle decides.
    """
    found = []
    for row in range(len(field) - 1):
        for column in range(len(field[row]) - 1):
            values = [field[row + y][column + x] for x, y in CORNERS]
            known = [each for each in values if each is not None]
            if len(known) == 4:
                found += [(_moved(a, column, row), _moved(b, column, row)) for a, b in _square(known, level)]
    return found


def _square(values: Sequence[float], level: float) -> list[Line]:
    """Return the pieces of a contour in a square of side 1."""
    crossings = []
    for at in range(4):
        first, second = values[at], values[(at + 1) % 4]
        if (first < level) != (second < level):
            part = (level - first) / (second - first)
            (x1, y1), (x2, y2) = CORNERS[at], CORNERS[(at + 1) % 4]
            crossings.append((x1 + part * (x2 - x1), y1 + part * (y2 - y1)))
    if len(crossings) == 4:
        low = (sum(values) / 4 < level) == (values[0] < level)
        pairs = ((0, 1), (2, 3)) if low else ((3, 0), (1, 2))
        return [(crossings[a], crossings[b]) for a, b in pairs]
    return [(crossings[0], crossings[1])] if len(crossings) == 2 else []


def _moved(place: Place, column: int, row: int) -> Place:
    return place[0] + column, place[1] + row
