"""Places of labels in a drawing of boxes and cables: the first of some places where a text lies on nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

from slownet.report.chart import WIDTH, text_width

Point = tuple[float, float]
UP, DOWN = 9.0, 3.0
"""The reach of a text above and below its line."""
ON_TEXT, ON_BOX, OUTSIDE = 4, 4, 8
"""The costs of lying on a text, on a box, or outside the drawing; lying on a cable costs 1."""
GAP = 3.0
"""Distance between a cable and the text beside it."""
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
"""Places of labels along a cable, the best first."""


class Rectangle(NamedTuple):
    """An area of the drawing; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        """Return whether the two have an area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )  # fmt: skip

    def is_crossed(self, line: Sequence[Point]) -> bool:
        """Return whether a line of straight pieces runs through it."""
        return any(self._holds_part_of(one, other) for one, other in pairwise(line))

    def _holds_part_of(self, one: Point, other: Point) -> bool:
        """Clip a piece at the four sides, as Liang and Barsky (1984) do."""
        first, last = 0.0, 1.0
        for start, step, least, most in (
            (one[0], other[0] - one[0], self.left, self.right), (one[1], other[1] - one[1], self.top, self.bottom),
        ):  # fmt: skip
            if step == 0:
                if not least < start < most:
                    return False
                continue
            enters, leaves = sorted(((least - start) / step, (most - start) / step))
            first, last = max(first, enters), min(last, leaves)
        return first < last


@dataclass(frozen=True)
class Spot:
    """A place of a text: the point and the side that it is anchored at, as SVG has them."""

    x: float
    y: float
    anchor: str = "middle"

    def area(self, text: str) -> Rectangle:
        """Return the area of a text there."""
        wide = text_width(text)
        left = self.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        return Rectangle(left, self.y - UP, left + wide, self.y + DOWN)


class Labels:
    """Finds places for the labels of a drawing, one after the other.

    Parameters
    ----------
    cables : sequence of sequence of Point
        Each as a line of straight pieces.
    boxes : sequence of Rectangle
        Of the nodes.
    height : float
        Of the drawing.
    """

    def __init__(self, cables: Sequence[Sequence[Point]], boxes: Sequence[Rectangle], height: float) -> None:
        self._cables, self._boxes, self._height = cables, boxes, height
        self._texts: list[Rectangle] = []

    def place(self, text: str, spots: Iterable[Spot]) -> Spot:
        """Return the first spot where a text lies on nothing, or that where it lies on least; the text has it from now on."""
        best = min(spots, key=lambda spot: self._cost(spot.area(text)))
        self._texts.append(best.area(text))
        return best

    def _cost(self, area: Rectangle) -> int:
        is_outside = area.left < 0 or area.right > WIDTH or area.top < 0 or area.bottom > self._height
        return (
            OUTSIDE * is_outside
            + ON_TEXT * sum(map(area.meets, self._texts))
            + ON_BOX * sum(map(area.meets, self._boxes))
            + sum(map(area.is_crossed, self._cables))
        )


def beside(cable: Sequence[Point], text: str, is_below: bool = False) -> Iterator[Spot]:
    """Yield the spots above (or below) a cable, on its other side, and left and right of it, from its middle outwards."""
    for more, part in product((0.0, UP + DOWN + 1), ALONG):
        (x, y), slope = _at(cable, part)
        clear = abs(slope) * text_width(text) / 2 + GAP + more
        above, below = Spot(x, y - clear - DOWN), Spot(x, y + clear + UP)
        yield from (below, above) if is_below else (above, below)
        yield Spot(x + GAP + (UP + DOWN) / 2 / max(abs(slope), 0.2), y + DOWN, "start")
        yield Spot(x - GAP - (UP + DOWN) / 2 / max(abs(slope), 0.2), y + DOWN, "end")


def _at(cable: Sequence[Point], part: float) -> tuple[Point, float]:
    """Return the point at a part of a cable's pieces, and its slope there; that of a vertical one is large."""
    where = part * (len(cable) - 1)
    number = min(int(where), len(cable) - 2)
    (x1, y1), (x2, y2) = cable[number], cable[number + 1]
    rest = where - number
    slope = (y2 - y1) / (x2 - x1) if abs(x2 - x1) > 1e-6 else 1e3
    return (x1 + rest * (x2 - x1), y1 + rest * (y2 - y1)), slope
