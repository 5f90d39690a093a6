"""Contour lines of numbers on a grid, by marching squares with linear interpolation. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Place = tuple[float, float]
Line = tuple[Place, Place]
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))
"""Of a square, as (column, row) around it."""


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
