"""The frame of pictures over time: names at the left, seconds or milliseconds along the bottom, a legend above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slownet.report.chart import CHARACTER, WIDTH
from slownet.report.scale import Linear

RIGHT = 10


@dataclass(frozen=True)
class Timeline:
    """The scale of the axis, from 0, and the room for names at its left."""

    scale: Linear
    left: int

    def at(self, time: float) -> float:
        """Return the coordinate of a time, within the axis."""
        return self.left + self.scale.at(min(max(time, 0.0), self.scale.high)) * (WIDTH - self.left - RIGHT)

    def axis(self, top: float, bottom: float, title: str) -> Iterator[str]:
        """Yield the lines of the grid, their numbers, and the title below them."""
        for value, text in self.scale.ticks:
            at = f"{self.at(value):.1f}"
            yield f'<path class="grid" d="M{at} {top:.0f}V{bottom:.0f}"/>'
            yield f'<text x="{at}" y="{bottom + 15:.0f}" text-anchor="middle">{text}</text>'
        yield f'<text x="{WIDTH - RIGHT}" y="{bottom + 29:.0f}" text-anchor="end">{title}</text>'


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Return the names of colours in a row at the top, from pairs of name and colour."""
    found, at = [], 4.0
    for name, colour in entries:
        found.append(
            f'<rect x="{at}" y="4" width="12" height="9" fill="var(--{colour})"/><text x="{at + 16}" y="12">{name}</text>'
        )
        at += 32 + CHARACTER * len(name)
    return "".join(found)
