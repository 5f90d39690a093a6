"""Charts as SVG of our own: small, with the colours of the page, and with a text for each mark that a pointer or key finds."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from slownet.model.control_characters import in_xml
from slownet.report.scale import Scale, narrow, titled

WIDTH, HEIGHT = 352, 272
LEFT, RIGHT, BELOW = 52, 14, 40
LINE = 17
ROOM, CLEAR = 24.0, 11.0
"""Distances of short texts: within the first one of two equal ones says it, within the second they would lie on each other."""
CHARACTER = 6.7
"""The usual width of a character of text in the units of a chart; ideographs are twice as wide."""
DIGIT = 8.0
"""The width of a digit in the widest of the page's fonts."""
DIAMOND, TRIANGLE = "M0 -5L5 0L0 5L-5 0Z", "M0 -6L5.5 4.5H-5.5Z"
"""Shapes of hollow marks: what was published, and theory."""
COLOURS = ("measured", "published", "third", "fourth")
"""The colours of series: variables of the page's style."""
FREE = tuple(each for each in COLOURS if each != "published")
"""Those of series on a page that has published numbers."""


@dataclass(frozen=True)
class Point:
    """A mark: its place, the ends of its interval if it has one, and what it says."""

    x: float
    y: float
    says: str
    low: float | None = None
    high: float | None = None


@dataclass
class Chart:
    """A chart with two axes. The methods add series, each with its entry in the legend; `svg` returns the element."""

    label: str
    x: Scale
    y: Scale
    x_title: str
    y_title: str
    height: float = HEIGHT
    left: int = LEFT
    _series: list[str] = field(default_factory=list)
    _legend: list[tuple[str, str]] = field(default_factory=list)

    @property
    def _top(self) -> float:
        return 22 + LINE * len(_rows(self._legend))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the coordinates of a point, not above or below the axes."""
        across = self.left + self.x.at(x) * (WIDTH - self.left - RIGHT)
        return across, -min(max(self.y.at(y), -0.02), 1.02)

    def line(
        self, points: Iterable[tuple[float, float]], name: str = "", colour: str = "measured", dashed: bool = False,
        stepped: bool = False,
    ) -> None:  # fmt: skip
        """Add a line; ``stepped`` holds each value until the next."""
        places = [self.place(*point) for point in points if all(map(math.isfinite, point))]
        if not places:
            return
        words = [f"M{_n(places[0][0])} {{{places[0][1]:.5f}}}"]
        for across, up in places[1:]:
            words.append((f"H{_n(across)}V{{{up:.5f}}}") if stepped else f"L{_n(across)} {{{up:.5f}}}")
        style = ' stroke-dasharray="5 4"' if dashed else ""
        self._series.append(f'<path class="line" stroke="var(--{colour})"{style} d="{"".join(words)}"/>')
        self._named(name, f'<path class="line" stroke="var(--{colour})"{style} d="M0 0h16"/>')

    def points(
        self, points: Iterable[Point], name: str = "", colour: str = "measured", hollow: bool = False, shape: str = DIAMOND
    ) -> None:  # fmt: skip
        """Add marks: filled circles with intervals, or hollow shapes. Without any the legend has no entry for them."""
        found = list(points)
        for point in found:
            across, up = self.place(point.x, point.y)
            bar = ""
            if point.low is not None and point.high is not None:
                _, low = self.place(point.x, point.low)
                _, high = self.place(point.x, point.high)
                ends = "".join(f"M{_n(across - 4)} {{{each:.5f}}}h8" for each in (low, high))
                bar = f'<path class="bar" stroke="var(--{colour})" d="M{_n(across)} {{{low:.5f}}}V{{{high:.5f}}}{ends}"/>'
            self._mark(point.says, across, up, bar + _dot(across, f"{{{up:.5f}}}", colour, hollow, shape))
        self._named(name if found else "", _dot(8, "0", colour, hollow, shape))

    def shaded(self, point: Point, shade: float) -> None:
        """Add a circle whose opacity, from 0 to 1, stands for a third number."""
        across, up = self.place(point.x, point.y)
        self._mark(point.says, across, up, _circle(across, f"{{{up:.5f}}}", shade))

    def shade_of(self, name: str, shade: float) -> None:
        """Add an entry of the legend: a circle of that opacity."""
        self._named(name, _circle(8, "0", shade))

    def marks(self, points: Iterable[Point]) -> None:
        """Add marks that are found but not drawn, on a line that is."""
        for point in points:
            across, up = self.place(point.x, point.y)
            self._mark(point.says, across, up, "")

    def across(self, points: Iterable[Point], name: str, hollow: bool = False) -> None:
        """Add marks whose intervals lie along the x axis."""
        kind, colours = "dot ring" if hollow else "dot", 'stroke="var(--measured)" fill="var(--measured)"'
        for point in points:
            at, up = self.place(point.x, point.y)
            bar = ""
            if point.low is not None and point.high is not None:
                low, high = (self.place(each, point.y)[0] for each in (point.low, point.high))
                ends = "".join(f"M{_n(each)} {{{up:.5f}}}m0 -4v8" for each in (low, high))
                bar = f'<path class="bar" stroke="var(--measured)" d="M{_n(low)} {{{up:.5f}}}H{_n(high)}{ends}"/>'
            dot = f'<circle class="{kind}" {colours} cx="{_n(at)}" cy="{{{up:.5f}}}" r="4"/>'
            self._mark(point.says, at, up, bar + dot)
        self._named(name, f'<circle class="{kind}" {colours} cx="8" cy="0" r="4"/>')

    def text(self, y: float, text: str, kind: str, indent: float = 0) -> None:
        """Add a text at the left, at a number of the y axis."""
        up = -self.y.at(y)
        self._series.append(f'<text class="{kind}" x="{_n(self.left + indent)}" y="{{{up:.5f}}}">{escaped(text)}</text>')

    def stroke(
        self, start: tuple[float, float], end: tuple[float, float], says: str, name: str = "", colour: str = "measured",
        thin: bool = False,
    ) -> None:  # fmt: skip
        """Add a stroke between two points that says something: a segment, a wait."""
        (x1, y1), (x2, y2) = self.place(*start), self.place(*end)
        kind = 'class="thin"' if thin else 'class="stroke"'
        path = f'<path {kind} stroke="var(--{colour})" d="M{_n(x1)} {{{y1:.5f}}}L{_n(x2)} {{{y2:.5f}}}"/>'
        self._mark(says, (x1 + x2) / 2, (y1 + y2) / 2, path)
        self._named(name, f'<path {kind} stroke="var(--{colour})" d="M0 0h16"/>')

    def note(self, x: float, y: float, text: str) -> None:
        """Add a short text beside a point."""
        across, up = self.place(x, y)
        anchor = "end" if across > WIDTH / 2 else "start"
        shift = -6 if anchor == "end" else 6
        at = f'x="{_n(across + shift)}" y="{{{up:.5f}}}" dy="-5" text-anchor="{anchor}"'
        self._series.append(f'<text class="small" {at}>{escaped(text)}</text>')

    def numbered(self, points: Iterable[tuple[float, float, str]]) -> None:
        """Add a short text beside each point, where no other text stands; none if the same text is near, or if none fits."""
        taken: list[tuple[float, float, str]] = []
        for x, y, text in points:
            across, up = self.place(x, y)
            beside = (across, up * (self.height - self._top - BELOW), text)
            near = [each for each in taken if abs(each[0] - beside[0]) < ROOM and abs(each[1] - beside[1]) < ROOM]
            if any(text == other for _, _, other in near):
                continue
            for right, below in ((6, -5), (-6, -5), (6, 12), (-6, 12)):
                at = (beside[0] + right, beside[1] + below, text)
                if all(abs(at[0] - each[0]) >= CLEAR or abs(at[1] - each[1]) >= CLEAR for each in taken):
                    anchor = "start" if right > 0 else "end"
                    place = f'x="{_n(across + right)}" y="{{{up:.5f}}}" dy="{below}" text-anchor="{anchor}"'
                    self._series.append(f'<text class="small" {place}>{escaped(text)}</text>')
                    taken.append(at)
                    break

    def rule(self, x: float, name: str) -> None:
        """Add a dashed vertical line at a number."""
        across, _ = self.place(x, 0)
        style = 'class="line" stroke="var(--soft)" stroke-dasharray="2 3"'
        self._series.append(f'<path {style} d="M{_n(across)} {{0}}V{{-1}}"/>')
        self._named(name, f'<path {style} d="M0 0h16"/>')

    def svg(self) -> str:
        """Return the ``<svg>`` element."""
        top, bottom = self._top, self.height - BELOW
        parts = [self._grid(top, bottom), *self._series]
        body = _placed("".join(parts), top, bottom)
        return element(self.label, self.height, body + self._titles(top) + _legend(self._legend))

    def _mark(self, says: str, across: float, up: float, drawn: str) -> None:
        self._series.append(marked(drawn, across, f"{{{up:.5f}}}", says))

    def _named(self, name: str, drawn: str) -> None:
        name = clipped(name, WIDTH - 30)
        if name and name not in [each for each, _ in self._legend]:
            self._legend.append((name, drawn))

    def _grid(self, top: float, bottom: float) -> str:
        found = []
        for value, text in self.y.ticks:
            up = f"{{{-self.y.at(value):.5f}}}"
            found.append(f'<path class="grid" d="M{self.left} {up}H{WIDTH - RIGHT}"/>')
            found.append(f'<text x="{self.left - 4}" y="{up}" dy="4" text-anchor="end">{narrow(value, text)}</text>')
        for value, text in self.x.ticks:
            across, _ = self.place(value, self.y.ticks[0][0] if self.y.ticks else 0)
            found.append(f'<path class="grid" d="M{_n(across)} {_n(top)}V{_n(bottom)}"/>')
            middle = min(across, WIDTH - 2 - DIGIT * len(text) / 2)  # a long number at the right end is not cut off
            found.append(f'<text x="{_n(middle)}" y="{_n(bottom + 15)}" text-anchor="middle">{text}</text>')
        found.append(f'<path class="axis" d="M{self.left} {_n(bottom)}H{WIDTH - RIGHT}"/>')
        return "".join(found)

    def _titles(self, top: float) -> str:
        across = (
            f'<text x="{WIDTH - RIGHT}" y="{self.height - 6}" text-anchor="end">{escaped(titled(self.x_title, self.x))}</text>'
        )
        return across + f'<text x="4" y="{_n(top - 8)}">{escaped(titled(self.y_title, self.y))}</text>'


def marked(drawn: str, across: float, up: float | str, says: str) -> str:
    """Return what is drawn as a mark: a pointer or key finds it at that place, and it says something."""
    place = f'data-x="{_n(across)}" data-y="{up if isinstance(up, str) else _n(up)}"'
    return f'<g class="mark" {place} data-says="{escaped(says)}">{drawn}</g>'


def element(label: str, height: float, body: str) -> str:
    """Return an ``<svg>`` element without a fixed size."""
    role = "group" if "<a " in body else "img"  # what is in an image cannot be reached by keyboard
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH} {_n(height)}" role="{role}" '
        f'aria-label="{escaped(label)}">{body}</svg>'
    )


def text_width(text: str) -> float:
    """Estimate the width of a text in the units of a chart."""
    return sum(map(_width, text))


def clipped(text: str, width: float) -> str:
    """Shorten a text to a width, with an ellipsis."""
    taken, kept = 0.0, 0
    for each in text:
        taken += _width(each)
        if taken > width:
            return f"{text[:kept]}\u2026"
        kept += taken <= width - CHARACTER
    return text


def _width(character: str) -> float:
    return CHARACTER * (2 if unicodedata.east_asian_width(character) in "WF" else 1)


def _placed(drawn: str, top: float, bottom: float) -> str:
    """Replace each ``{height from 0 to -1}`` by its coordinate: the height of the legend is known only at the end."""
    parts = drawn.split("{")
    found = [parts[0]]
    for part in parts[1:]:
        number, _, rest = part.partition("}")
        found.append(f"{_n(bottom + float(number) * (bottom - top))}{rest}")
    return "".join(found)


def _dot(across: float, up: str, colour: str, hollow: bool, shape: str) -> str:
    if hollow:
        drawn = f'<path class="dot hollow" stroke="var(--{colour})" d="{shape}"/>'
        return f'<g transform="translate({_n(across)} {up})">{drawn}</g>'
    return f'<circle class="dot" fill="var(--{colour})" cx="{_n(across)}" cy="{up}" r="4"/>'


def _circle(across: float, up: str, shade: float) -> str:
    fill = f'fill="var(--measured)" fill-opacity="{shade:.3f}"'
    return f'<circle class="shade" stroke="var(--measured)" {fill} cx="{_n(across)}" cy="{up}" r="5"/>'


def _rows(entries: Sequence[tuple[str, str]]) -> list[list[tuple[float, str, str]]]:
    """Arrange the entries of a legend in rows."""
    rows: list[list[tuple[float, str, str]]] = []
    at = float(WIDTH)
    for name, drawn in entries:
        wide = 34 + text_width(name)
        if at + wide > WIDTH and (at > 4 or not rows):
            rows.append([])
            at = 4.0
        rows[-1].append((at, name, drawn))
        at += wide
    return rows


def _legend(entries: Sequence[tuple[str, str]]) -> str:
    found = []
    for number, row in enumerate(_rows(entries)):
        for at, name, drawn in row:
            found.append(
                f'<g transform="translate({_n(at)} {LINE * number + 10})">{drawn}<text x="22" y="4">{escaped(name)}</text></g>'
            )
    return "".join(found)


def _n(number: float) -> str:
    return f"{number:.1f}".rstrip("0").rstrip(".")


def escaped(text: str) -> str:
    """Escape a text for a picture, which is XML as a file of its own; braces too, which `_placed` would read."""
    return html.escape(in_xml(text)).replace("{", "&#123;").replace("}", "&#125;")
