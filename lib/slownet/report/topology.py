"""The network of a run as a drawing: hosts, switches, each link with its condition; links that the run varied are marked.

A label has the first of some places where its text lies on nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from typing import NamedTuple

from slownet.judge.records.result import RunData
from slownet.report.chart import WIDTH, clipped, element, escaped, text_width
from slownet.report.figure import Figure
from slownet.report.text import whole_or_rounded
from slownet.theory.law import Law

ROW = 46
BOX = 24
MOST = 6
"""Hosts on one side of a node that are drawn one by one; the others share a box."""
EDGE = 52
"""Least distance of a box's middle from the edge."""
BEND, PIECES = 50.0, 8
"""The height of a bent line's curve, and the number of straight pieces that stand for it."""
ROOM = 175.0
"""Width of a label, at most."""
CLEAR = 0.1
"""Half the interval of a law's slope at most, as a part of it, for the drawing to show the slope."""
CLEAN, NOTHING = "no condition", "none"
RTT = re.compile(r"\+[\d.]+ \w+ RTT")
ONE_WAY = re.compile(r" (up|down)(?=,|$)")
"""The direction of a part of a condition: up is from the link's first end to its second."""

Place = tuple[float, float]


@dataclass(frozen=True)
class Link:
    """A link with its ends and the conditions that it had, in the order of the cells; more than one if the run varied it."""

    name: str
    ends: tuple[str, str]
    conditions: tuple[str, ...]

    @property
    def is_varied(self) -> bool:
        """True if it did not have the same condition in all cells."""
        return len(self.conditions) > 1

    @property
    def says(self) -> str:
        """Its conditions in a few words."""
        found = [NOTHING if each == CLEAN else each for each in self.conditions]
        if not self.is_varied:
            return "".join(each for each in found if each != NOTHING)
        if len(found) == 2:
            return " or ".join(sorted(found, key=NOTHING.__eq__))
        if all(each == NOTHING or RTT.fullmatch(each) for each in found):
            return f"{found[0]} to {found[-1]}"
        return f"{len(found)} conditions"


def topology_figure(
    run: RunData, trips: Mapping[str, float] | None = None, of: str = "", law: Law | None = None
) -> Figure | None:  # fmt: skip
    """Draw the network of a run; None if the run did not record it, or no such network can be.

    run: the run.
    trips: round trips that an operation waits for, by link; they are written on the links.
    of: the cell of that operation, as text.
    law: without ``trips``: the law of the run's times. Its slope is the round trips over the link that the run varied, if the
        cells differ in the round trip of one link alone.
    """
    drawn: Mapping[str, object] = run.facts.get("topology") or {}
    hosts, switches, ends = drawn.get("hosts"), drawn.get("switches"), drawn.get("links")
    if not isinstance(hosts, list) or not isinstance(switches, list) or not isinstance(ends, dict) or not ends:
        return None
    if not all(_joins(pair, [*hosts, *switches]) for pair in ends.values()):
        return None
    links = [Link(str(name), (str(pair[0]), str(pair[1])), _conditions(run, name)) for name, pair in ends.items()]
    counted = {name: count for name, count in (trips or {}).items() if count and name in ends}
    by_law = {} if counted or law is None else _of_law(links, law)
    counted = counted or by_law
    links, shown = _gathered(links, [*hosts, *switches])
    places, height = _places(links, shown)
    leaves = {name for name in shown if sum(name in link.ends for link in links) == 1}
    cables = {link.name: _cable(link, places) for link in links}
    lines = "".join(_line(link, places) for link in links)
    free = Labels(list(cables.values()), [_area(name, places[name]) for name in shown], height)
    texts = [_written(link.says, "small", _spots(link, places, leaves, cables[link.name]), free) for link in links if link.says]
    for link in links:
        if link.name in counted:
            trips_of = f"{counted[link.name]:g} RTT"
            near = chain(beside(cables[link.name], trips_of, _falls(link, places)), _at_leaf(link, places, leaves))
            texts.append(_written(trips_of, "group", near, free))
    boxes = "".join(_box(name, places[name], name in switches) for name in shown)
    rows = tuple(
        (link.name, _directed(each, link.ends), "varied" if link.is_varied else "")
        for link in links
        for each in link.conditions or (CLEAN,)
    )
    svg = element(f"{run.experiment}: the network", height, lines + boxes + "".join(texts))
    head = ("link", "condition", "")
    note = "The thick link is the one that the cells differ in." if any(link.is_varied for link in links) else ""
    if by_law:
        note = f"{note} Its round trips (RTT) per operation are the law's; slownet why counts those of every link."
    elif counted:
        where = f" at {of}" if of else ""
        note = f"On each link: the round trips (RTT) that an operation{where} waits for. {note}".strip()
    return Figure("network", "The network", svg, head, rows, note)


def _directed(condition: str, ends: tuple[str, str]) -> str:
    """Name the ends of what holds for one direction: "up" depends on the end that an experiment names first.

    >>> _directed("+40 ms RTT, loses 2 % down", ("client", "server"))
    '+40 ms RTT, loses 2 % from server to client'
    """
    ways = {"up": "from {} to {}".format(*ends), "down": "from {1} to {0}".format(*ends)}
    return ONE_WAY.sub(lambda way: f" {ways[way[1]]}", condition)


def _of_law(links: Sequence[Link], law: Law) -> dict[str, float]:
    """Return the law's round trips by link: of the only link that was varied, if only its round trip was."""
    varied = [link for link in links if link.is_varied]
    if len(varied) != 1 or not all(each == CLEAN or RTT.fullmatch(each) for each in varied[0].conditions):
        return {}
    is_clear = law.k.known and law.k.half_width <= CLEAR * law.k.mean
    return {varied[0].name: whole_or_rounded(law.k.mean)} if is_clear else {}


def _joins(pair: object, names: Sequence[object]) -> bool:
    """Return whether a record of a link's ends names two nodes."""
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, str) and end in names for end in pair)


def _conditions(run: RunData, name: str) -> tuple[str, ...]:
    found = []
    for cell in run.cells:
        seen = [(sample.get("links") or {}).get(name, CLEAN) for sample in cell.samples if "links" in sample]
        found += seen[:1]
    return tuple(dict.fromkeys(found))


def _gathered(links: Sequence[Link], names: Sequence[str]) -> tuple[list[Link], list[str]]:
    """Replace many leaves of one node whose links had the same conditions by one."""
    count = {name: sum(name in link.ends for link in links) for name in names}
    kept: list[Link] = []
    gone: dict[tuple[str, tuple[str, ...]], list[tuple[Link, str]]] = {}
    for link in links:
        leaf = next((end for end in link.ends if count[end] == 1), None)
        other = next((end for end in link.ends if end != leaf), "")
        same = gone.setdefault((other, link.conditions), []) if leaf and count.get(other, 0) > MOST else None
        if same is None or leaf is None:
            kept.append(link)
        else:
            same.append((link, leaf))
    shown = {name: name for name in names}
    for (other, conditions), leaves in gone.items():
        few = leaves if len(leaves) <= MOST else leaves[: MOST - 1]
        kept += [link for link, _ in few]
        if rest := leaves[len(few) :]:
            name = f"{rest[0][1]} and {len(rest) - 1} more" if len(rest) > 1 else rest[0][1]
            kept.append(Link(f"{name} on {other}", (name, other), conditions))
            for _, leaf in rest:
                del shown[leaf]
            shown[name] = name
    return kept, list(shown)


def _places(links: Sequence[Link], names: Sequence[str]) -> tuple[dict[str, Place], float]:
    """Return the places of all nodes and the height of the drawing."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for link in links:
        beside[link.ends[0]].append(link.ends[1])
        beside[link.ends[1]].append(link.ends[0])
    inner = [name for name in names if len(set(beside[name])) > 1] or list(names[:1])
    among = sum(each in inner for name in inner for each in set(beside[name])) / 2
    if len(inner) > 4 or among >= len(inner) > 1:
        return _around(beside)
    return _along(_in_a_row(inner, beside), beside, names)


def _around(beside: Mapping[str, Sequence[str]]) -> tuple[dict[str, Place], float]:
    """Place what a network has in its middle, a ring or a node, on an inner ellipse, and what hangs on it outwards."""
    left, children = {name: set(others) for name, others in beside.items()}, {name: list[str]() for name in beside}
    while outer := [name for name, others in left.items() if len(others) <= 1 and len(left) > 1]:
        for name in outer:
            parent = next(iter(left.pop(name)), None)
            if parent in left:
                left[parent].discard(name)
                children[parent].append(name)
            if len(left) == 1:
                break
    weights: dict[str, int] = {}

    def weigh(name: str) -> int:
        weights[name] = max(1, sum(map(weigh, children[name])))
        return weights[name]

    whole, deepest = sum(map(weigh, left)), _depth(list(left), children)
    found: dict[str, Place] = {}

    def put(name: str, depth: int, start: float, part: float) -> None:
        radius = 0.0 if len(left) == 1 and not depth else (depth + 1.2) / (deepest + 0.2)
        turn = 2 * math.pi * (start + part / 2) - math.pi / 2
        found[name] = (WIDTH / 2 + 0.375 * WIDTH * radius * math.cos(turn), 160 + 130 * radius * math.sin(turn))
        for child in children[name]:
            share = part * weights[child] / weights[name]
            put(child, depth + 1, start, share)
            start += share

    start = 0.0
    for name in left:
        put(name, 0, start, weights[name] / whole)
        start += weights[name] / whole
    return found, 326.0


def _depth(names: Sequence[str], children: Mapping[str, Sequence[str]]) -> int:
    return 1 + max((_depth(children[name], children) for name in names if children[name]), default=0)


def _along(
    inner: Sequence[str], beside: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[dict[str, Place], float]:  # fmt: skip
    """Place inner nodes in a row, and their leaves to the left, to the right, or below."""
    left = [name for name in beside[inner[0]] if name not in inner]
    right = [name for name in beside[inner[-1]] if name not in inner]
    if len(inner) == 1:
        left = [name for name in left if name.startswith("client")] or left[: len(left) // 2]
        right = [name for name in right if name not in left]
    below = {name: [each for each in beside[name] if each not in inner] for name in inner[1:-1]}
    rows = max(len(left), len(right), 1)
    middle = 40 + ROW * (rows - 1) / 2
    found: dict[str, Place] = {}
    for side, at in ((left, _edge(left)), (right, WIDTH - _edge(right))):
        found |= {name: (at, middle + ROW * (number - (len(side) - 1) / 2)) for number, name in enumerate(side)}
    first, last = (WIDTH * 0.42 if left else _edge(inner[:1])), (WIDTH * 0.58 if right else WIDTH - _edge(inner[-1:]))
    if len(inner) > 2:
        first, last = (WIDTH * 0.3 if left else _edge(inner[:1])), (WIDTH * 0.7 if right else WIDTH - _edge(inner[-1:]))
    elif len(inner) == 2 and left and right:
        first, last = WIDTH * 0.34, WIDTH * 0.66
    for number, name in enumerate(inner):
        across = (
            first
            if len(inner) == 1 and not left
            else (first + last) / 2
            if len(inner) == 1
            else first + (last - first) * number / (len(inner) - 1)
        )
        found[name] = (across, middle)
        found |= {each: (across, middle + ROW * (deep + 1)) for deep, each in enumerate(below.get(name, []))}
    for number, name in enumerate(name for name in names if name not in found):  # of another part of the network
        found[name] = (EDGE + 90 * number, middle + ROW * (rows + 1))
    return found, max(each[1] for each in found.values()) + 34


def _edge(names: Sequence[str]) -> float:
    return max([EDGE, *(text_width(name) / 2 + 14 for name in names)])


def _in_a_row(inner: list[str], beside: Mapping[str, Sequence[str]]) -> list[str]:
    """Order nodes so that neighbours stand beside each other where possible, from one end on."""
    ends = [name for name in inner if sum(each in inner for each in set(beside[name])) <= 1]
    left, found, at = list(inner), list[str](), (ends or inner)[0]
    while left:
        found.append(at)
        left.remove(at)
        at = next((name for name in left if name in beside[at]), left[0] if left else "")
    return found


def _line(link: Link, places: Mapping[str, Place]) -> str:
    (x1, y1), (x2, y2) = sorted((places[link.ends[0]], places[link.ends[1]]))
    kind = "link varied" if link.is_varied else "link"
    bend = f"Q{(x1 + x2) / 2:.0f} {y1 - BEND:.0f} {x2:.0f} {y2:.0f}" if _is_bent(link, places) else f"L{x2:.0f} {y2:.0f}"
    return f'<path class="{kind}" d="M{x1:.0f} {y1:.0f}{bend}"/>'


def _is_bent(link: Link, places: Mapping[str, Place]) -> bool:
    """Return whether a straight line would cross another node of the row."""
    (x1, y1), (x2, y2) = sorted((places[link.ends[0]], places[link.ends[1]]))
    return abs(y1 - y2) < 1 and any(x1 + 1 < x < x2 - 1 and abs(y - y1) < 1 for x, y in places.values())


def _cable(link: Link, places: Mapping[str, Place]) -> list[Place]:
    """Return a link's line as straight pieces."""
    (x1, y1), (x2, y2) = sorted((places[link.ends[0]], places[link.ends[1]]))
    if not _is_bent(link, places):
        return [(x1, y1), (x2, y2)]
    parts = [number / PIECES for number in range(PIECES + 1)]
    return [(x1 + part * (x2 - x1), y1 - 2 * part * (1 - part) * BEND + part * part * (y2 - y1)) for part in parts]


def _falls(link: Link, places: Mapping[str, Place]) -> bool:
    """Return whether a link goes down towards the edge, so that its labels are below it, away from its neighbour's."""
    inner, outer = sorted((places[end] for end in link.ends), key=lambda place: abs(place[0] - WIDTH / 2))
    return outer[1] > inner[1] + 1


def _spots(link: Link, places: Mapping[str, Place], leaves: Collection[str], cable: Sequence[Place]) -> Iterator[Spot]:
    """Yield the places of a link's condition, the best first: below or above its leaf, or else beside the line."""
    yield from _at_leaf(link, places, leaves)
    yield from beside(cable, link.says, _falls(link, places))


def _at_leaf(link: Link, places: Mapping[str, Place], leaves: Collection[str]) -> Iterator[Spot]:
    leaf = next((end for end in link.ends if end in leaves), None) if len(places) > 2 else None
    if leaf is not None:
        x, y = places[leaf]
        at, anchor = (4.0, "start") if x < WIDTH / 3 else (WIDTH - 4.0, "end") if x > 2 * WIDTH / 3 else (x, "middle")
        yield Spot(at, y + 23, anchor)
        yield Spot(at, y - 17, anchor)


def _written(text: str, kind: str, spots: Iterable[Spot], free: Labels) -> str:
    """Return a label at the first of these places where it lies on nothing."""
    shown = clipped(text, ROOM)
    spot = free.place(shown, spots)
    at = f'x="{spot.x:.0f}" y="{spot.y:.0f}" text-anchor="{spot.anchor}"'
    return f'<text class="{kind} label" {at}>{escaped(shown)}</text>'


def _area(name: str, place: Place) -> Rectangle:
    """Return the area of a node's box."""
    wide = text_width(clipped(name, 150)) + 18
    return Rectangle(place[0] - wide / 2, place[1] - BOX / 2, place[0] + wide / 2, place[1] + BOX / 2)


def _box(name: str, place: Place, is_switch: bool) -> str:
    area, (x, y) = _area(name, place), place
    corner = 3 if is_switch else BOX / 2
    size = f'width="{area.right - area.left:.1f}" height="{BOX}"'
    box = f'<rect class="node" x="{area.left:.1f}" y="{area.top:.1f}" {size} rx="{corner}"/>'
    return f'{box}<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escaped(clipped(name, 150))}</text>'


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

    cables: each as a line of straight pieces.
    boxes: of the nodes.
    height: of the drawing.
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
