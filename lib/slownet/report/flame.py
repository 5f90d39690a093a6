"""The flame graph of an account: its time by host or hosts, cause and detail, the longest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from slownet.report.account_figure import ALONE, STROKES, texts
from slownet.report.chart import escaped
from slownet.report.figure import Figure
from slownet.waits.account import Account, Cause, Step
from slownet.waits.account_text import milliseconds, stack

ROW = 24
ROWS = 100
"""Rows of its table; the smaller ones are one."""
NARROW = 0.15
"""Percent of the width below which a frame is not drawn: half a pixel of a phone."""


@dataclass
class Frame:
    """A frame of a flame graph: its name, its time and those above it. cause: of all its steps, None if they have several."""

    name: str
    ns: int = 0
    cause: Cause | None = None
    inside: dict[str, Frame] = field(default_factory=dict)

    def ordered(self) -> list[Frame]:
        """Return the frames above it, the longest first."""
        return sorted(self.inside.values(), key=lambda each: -each.ns)


def frames(steps: Iterable[Step], name: str) -> Frame:
    """Return the frames of steps; the lowest one, of that name, has all."""
    root = Frame(name)
    for each in steps:
        at = root
        at.ns += each.ns
        for number, word in enumerate(stack(each)):
            at = at.inside.setdefault(word, Frame(word, cause=each.cause if number else None))
            at.ns += each.ns
    return root


def flame_figure(account: Account, title: str, name: str) -> Figure:
    """Draw where an account's time went, whatever its order. title: a line above it; name: for files."""
    root = frames(account.steps, account.operation)
    drawn = "".join(_drawn(root, root.ns or 1, 0.0, 0))
    height = ROW * _depth(root) + 4
    label = f"{title}: {', '.join(f'{each.name} {milliseconds(each.ns)}' for each in root.ordered()[:4])}"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{ALONE}" height="{height}" role="img" '
        f'style="height:{height}px" aria-label="{escaped(label)}">{drawn}</svg>'
    )
    rows = sorted(_rows(root), key=lambda each: -each[3])
    if left := rows[ROWS:]:
        rows = [*rows[:ROWS], ("", f"{len(left)} others", "", sum(each[3] for each in left))]
    return Figure(name, title, svg, ("where", "cause", "detail", "ms"), tuple(rows))


def _depth(frame: Frame) -> int:
    return 1 + max(map(_depth, frame.inside.values()), default=0)


def _drawn(frame: Frame, whole: int, x: float, row: int) -> Iterator[str]:
    wide = 100 * frame.ns / whole
    if wide < NARROW:
        return
    y, says = ROW * row + 2, f"{frame.name}, {milliseconds(frame.ns)}"
    fill = f"var(--{STROKES[frame.cause][0]})" if frame.cause else "var(--panel)"
    shape = f'<rect class="frame" fill="{fill}" x="{x:.3f}%" width="{wide:.3f}%" y="{y}" height="{ROW - 3}"/>'
    text = texts(x + 0.5, y + 15, says, wide - 1) if wide > 1 else ""
    yield f"<g><title>{escaped(f'{says}, {wide:.1f} %')}</title>{shape}{text}</g>"
    for each in frame.ordered():
        yield from _drawn(each, whole, x, row + 1)
        x += 100 * each.ns / whole


def _rows(root: Frame) -> Iterator[tuple[str, str, str, float]]:
    for place in root.ordered():
        for cause in place.ordered():
            inside = sum(each.ns for each in cause.inside.values())
            for each in cause.ordered():
                yield place.name, cause.name, each.name, each.ns / 1e6
            if cause.ns > inside:
                yield place.name, cause.name, "", (cause.ns - inside) / 1e6
