"""The picture of an account: a lane for each host, time to the right, an arrow for each message of the deciding path.

Places along the time are percentages, so that one drawing fills a phone and a screen, and its text keeps its size. A text that
is too long for a phone stands there several times: the page's style shows one of them. No script is needed: each part is a link
to its steps, which a pointer and the keyboard reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.report.chart import clipped, escaped, text_width
from slownet.report.figure import Figure
from slownet.report.scale import Linear
from slownet.waits.account import Account, Beside, Cause, Step
from slownet.waits.account_text import SHORT_NS, answer, milliseconds, says_of
from slownet.waits.blocks import blocks
from slownet.waits.folds import Fold, folds

ALONE = 1100
"""The width of a picture in a file of its own."""
ROOMS = {"phone": 330.0, "wide": 640.0, "broad": 1020.0}
"""Pixels of the narrowest page that shows texts of this class."""
LEAST_TEXT = 6
"""Characters that a shortened text keeps."""
LANE, TOP, BESIDE_ROW = 58, 30, 32
MOST = 60
"""Parts that are drawn; an account that has more shows the shorter ones that follow each other as one."""
EACH = 8
"""Steps of a part that are drawn one by one; more are one block."""
MOST_BESIDE = 6
SEEN = 0.0005
"""Causes with a smaller part of the time are not in the legend: half a pixel of a screen."""
MARGIN = 2.0
"""Percent of the width beside the first and the last instant."""
SOLID, DASHED, DOTTED = "", "7 3", "2 3"
STROKES: Mapping[Cause, tuple[str, str]] = {
    Cause.EXCHANGE: ("measured", SOLID), Cause.NAME: ("measured", DASHED), Cause.NEIGHBOUR: ("measured", DOTTED),
    Cause.HANDSHAKE: ("third", SOLID), Cause.TLS: ("third", DASHED),
    Cause.WINDOW: ("published", SOLID), Cause.NAGLE: ("published", DASHED), Cause.DELAYED_ACK: ("published", DOTTED),
    Cause.RETRANSMISSION: ("bad", SOLID), Cause.REMAINDER: ("bad", DOTTED),
    Cause.QUEUE: ("open", SOLID), Cause.SERIALISATION: ("open", DASHED),
    Cause.TIMER: ("fourth", SOLID), Cause.WAITING: ("fourth", DASHED), Cause.COMPUTING: ("fourth", DOTTED),
}  # fmt: skip
"""The colour and the dashes of each cause: who does not see colours apart has the dashes, and the words."""


@dataclass(frozen=True)
class Part:
    """A part of the deciding path that is drawn as one. anchor: where its steps are listed; empty if nowhere."""

    fold: Fold
    anchor: str = ""

    @property
    def is_block(self) -> bool:
        """True if its steps are too many to be drawn one by one."""
        return len(self.fold.steps) > EACH or not self.fold.pattern


def parts(account: Account, stem: str = "") -> list[Part]:
    """Return an account's parts, in order. stem: begins the names of the places where their steps are listed."""
    found = folds(blocks(account, SHORT_NS), MOST)
    return [Part(each, f"{stem}-part-{number}" if stem else "") for number, each in enumerate(found, 1)]


def account_figure(
    account: Account, title: str, name: str, shown: Sequence[Part] | None = None, until_ns: int = 0
) -> Figure:  # fmt: skip
    """Draw an account.

    account: what to draw.
    title, name: a line above the figure, and its name for files.
    shown: its parts, with the places that they lead to. Without them the picture is a file of its own, and has a legend.
    until_ns: how long the axis is, if that is longer than the operation: as that of another picture.
    """
    drawn = parts(account) if shown is None else shown
    axis = Axis(account.begin_ns, account.begin_ns + max(account.elapsed_ns, until_ns), account.begin_ns)
    key = legend(account.steps) if shown is None else ()
    svg = picture(drawn, axis, f"{title}: {answer(account)}", name, account.client, account.beside, key)
    rows = tuple(
        ((each.fold.begin_ns - account.begin_ns) / 1e6, each.fold.ns / 1e6, str(each.fold.cause), says_of(each.fold))
        for each in drawn
    )
    return Figure(name, title, svg, ("at ms", "ms", "cause", "part"), rows)


@dataclass(frozen=True)
class Axis:
    """The time that a picture shows, in ns. since_ns: what its numbers count from."""

    begin_ns: int
    end_ns: int
    since_ns: int

    def at(self, ns: float) -> float:
        """Return the place of a time, in percent."""
        whole = (self.end_ns - self.begin_ns) or 1
        return MARGIN + (100 - 2 * MARGIN) * min(1.0, max(0.0, (ns - self.begin_ns) / whole))

    def drawn(self, top: float, bottom: float) -> Iterator[str]:
        """Yield the lines of the grid, and their numbers."""
        for value, text in Linear((self.begin_ns - self.since_ns) / 1e6, (self.end_ns - self.since_ns) / 1e6).ticks:
            at = self.at(self.since_ns + value * 1e6)
            anchor = "start" if at < 6 else "end" if at > 94 else "middle"
            yield f'<line class="grid" x1="{at:.3f}%" x2="{at:.3f}%" y1="{top:.0f}" y2="{bottom:.0f}"/>'
            yield f'<text x="{at:.3f}%" y="{bottom + 15:.0f}" text-anchor="{anchor}">{text}</text>'
        yield f'<text x="{100 - MARGIN}%" y="{bottom + 30:.0f}" text-anchor="end">ms since the operation began</text>'


Key = tuple[Cause, str, str, int]
"""An entry of a legend: a cause, its colour and its dashes, and its ns."""


def picture(
    drawn: Sequence[Part], axis: Axis, label: str, name: str, client: str, beside: Sequence[Beside] = (),
    key: Sequence[Key] = (),
) -> str:  # fmt: skip
    """Return the ``<svg>`` element of parts, of what ran beside them, and of a legend; the client's lane is the first."""
    hosts = sorted(dict.fromkeys(host for each in drawn for host in each.fold.hosts), key=lambda host: host != client)
    lanes = {host: TOP + LANE * number for number, host in enumerate(hosts)}
    bottom = TOP + LANE * max(0, len(hosts) - 1) + 22
    others = beside[:MOST_BESIDE]
    height = bottom + BESIDE_ROW * len(others) + 16 * (len(beside) > len(others)) + 38
    lines = (f'<line class="lane" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for y in lanes.values())
    body = [*axis.drawn(12, height - 38), *lines]
    for each in drawn:
        single = () if each.is_block else each.fold.steps
        inside = "".join(_step(step, axis, lanes, name) for step in single) or _block(each, axis, lanes)
        body.append(_linked(each, inside + _label(each, axis, lanes)))
    body += _names(lanes)
    body += [_beside(each, axis, bottom + BESIDE_ROW * number) for number, each in enumerate(others)]
    if len(beside) > len(others):
        at = bottom + BESIDE_ROW * len(others) + 12
        body.append(f'<text x="{MARGIN}%" y="{at}">and {len(beside) - len(others)} more connections beside it</text>')
    drawn_key, room = _key(key, height)
    return wide_element(label, height + room, _heads(drawn, name) + "".join(body) + drawn_key)


def _key(entries: Sequence[Key], top: float) -> tuple[str, float]:
    """Return a legend below a picture in a file of its own, and its height."""
    found, x, y = [], 8.0, top + 8
    for cause, _, _, ns in entries:
        text = f"{cause} {milliseconds(ns)}"
        if x + 40 + text_width(text) > ALONE:
            x, y = 8.0, y + 18
        line = f'<line class="stay" {stroke(cause)} x1="{x:.0f}" x2="{x + 22:.0f}" y1="{y - 4:.0f}" y2="{y - 4:.0f}"/>'
        found.append(f'{line}<text x="{x + 28:.0f}" y="{y:.0f}">{escaped(text)}</text>')
        x += 52 + text_width(text)
    return "".join(found), y + 10 - top if entries else 0.0


def wide_element(label: str, height: float, body: str) -> str:
    """Return an ``<svg>`` element as wide as its place, with texts of one size. It holds links, so it is a group."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{ALONE}" height="{height:.0f}" role="group" '
        f'style="height:{height:.0f}px" aria-label="{escaped(label)}">{body}</svg>'
    )


def legend(steps: Iterable[Step]) -> list[Key]:
    """Return the causes of steps, the longest first, without those that are too short to be seen."""
    found: dict[Cause, int] = {}
    for each in steps:
        found[each.cause] = found.get(each.cause, 0) + each.ns
    least = SEEN * sum(found.values())
    return [(cause, *STROKES[cause], ns) for cause, ns in sorted(found.items(), key=lambda each: -each[1]) if ns > least]


def stroke(cause: Cause) -> str:
    """Return the attributes of a line of a cause."""
    colour, dashes = STROKES[cause]
    return f'stroke="var(--{colour})"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def texts(x: float, y: float, text: str, room: float, anchor: str = "start", whole: bool = False) -> str:
    """Return a text in a room of so many percent of the width: as a whole, or shortened on pages where it has to be.

    Very short remains are not drawn; with `whole`, no shortened text is.
    """
    found: dict[str, list[str]] = {}
    for kind, pixels in ROOMS.items():
        fitting = _fitting(text, pixels * room / 100)
        if fitting == text or (fitting and not whole):
            found.setdefault(fitting, []).append(kind)
    place = f'x="{x:.3f}%" y="{y:.1f}" text-anchor="{anchor}"'
    everywhere = len(found) == 1 and len(next(iter(found.values()))) == len(ROOMS)
    return "".join(
        f'<text class="small{"" if everywhere else f" {kind}"}" {place}>{escaped(each)}</text>'
        for each, kinds in found.items()
        for kind in kinds[: 1 if everywhere else None]
    )


def _fitting(text: str, pixels: float) -> str:
    found = text if text_width(text) <= pixels else clipped(text, pixels)
    return found if len(found) > LEAST_TEXT or found == text else ""


def _names(lanes: Mapping[str, int]) -> Iterator[str]:
    """Write the hosts' names above their lanes: last, because arrows of the first ms begin where they are."""
    for host, y in lanes.items():
        yield f'<text class="group" x="0.3%" y="{y - 7}">{escaped(clipped(host, ROOMS["phone"] / 2))}</text>'


def _heads(drawn: Sequence[Part], name: str) -> str:
    """Return the heads of arrows, one for each colour that is used."""
    colours = dict.fromkeys(STROKES[step.cause][0] for each in drawn if not each.is_block for step in each.fold.steps)
    return "<defs>" + "".join(
        f'<marker id="{name}-{colour}" orient="auto" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" refX="7" '
        f'refY="4"><path fill="var(--{colour})" d="M0 0.5L8 4L0 7.5z"/></marker>' for colour in colours
    ) + "</defs>"  # fmt: skip


def _step(step: Step, axis: Axis, lanes: Mapping[str, int], name: str) -> str:
    """Draw a message as an arrow, and what happens on a host as a bar of its lane."""
    x1, x2, y1, y2 = axis.at(step.begin_ns), axis.at(step.end_ns), lanes[step.source], lanes[step.target]
    if not step.trip:
        return f'<line class="stay" {stroke(step.cause)} x1="{x1:.3f}%" x2="{x2:.3f}%" y1="{y1}" y2="{y1}"/>'
    place = f'x1="{x1:.3f}%" y1="{y1}" x2="{x2:.3f}%" y2="{y2}"'
    head = f'marker-end="url(#{name}-{STROKES[step.cause][0]})"' if y1 != y2 else ""
    return f'<line class="reach" {place}/><line class="message" {stroke(step.cause)} {place} {head}/>'


def _block(part: Part, axis: Axis, lanes: Mapping[str, int]) -> str:
    top, bottom = _span(part, lanes)
    x1, x2 = axis.at(part.fold.begin_ns), axis.at(part.fold.end_ns)
    colour, _ = STROKES[part.fold.cause]
    place = f'x="{x1:.3f}%" width="{x2 - x1:.3f}%" y="{top}" height="{bottom - top}"'
    return f'<rect class="folded" fill="var(--{colour})" fill-opacity="0.2" {stroke(part.fold.cause)} {place}/>'


def _span(part: Part, lanes: Mapping[str, int]) -> tuple[int, int]:
    """Return between which heights a part is drawn."""
    places = [lanes[host] for host in part.fold.hosts]
    top, bottom = min(places), max(places)
    return (top, bottom) if top < bottom else (top - 6, bottom + 6)


def _label(part: Part, axis: Axis, lanes: Mapping[str, int]) -> str:
    """Write what a part is, in its middle: its cause, and its time or its round trips."""
    top, bottom = _span(part, lanes)
    x1, x2 = axis.at(part.fold.begin_ns), axis.at(part.fold.end_ns)
    trips = part.fold.round_trips
    many = f"{trips:g} x " if trips > 1 and part.fold.pattern else ""
    middle, text = (x1 + x2) / 2, f"{many}{part.fold.cause}"
    if bottom - top < LANE:  # on one lane: below it, where no arrow is
        return texts(middle, bottom + 9, text, x2 - x1, "middle")
    high = (top + bottom) / 2 + 4 - (LANE / 2 if (bottom - top) / LANE % 2 == 0 else 0)
    return texts(middle, high - 7, text, x2 - x1, "middle") + texts(
        middle, high + 8, milliseconds(part.fold.ns), x2 - x1, "middle", whole=True
    )


def _linked(part: Part, drawn: str) -> str:
    says = escaped(f"{milliseconds(part.fold.ns)}: {says_of(part.fold)}")
    inside = f"<title>{says}</title>{drawn}"
    return f'<a href="#{part.anchor}" aria-label="{says}">{inside}</a>' if part.anchor else f"<g>{inside}</g>"


def _beside(each: Beside, axis: Axis, y: float) -> str:
    """Draw a connection that did not decide, pale, and the time that it had to spare."""
    x1, x2, end = axis.at(each.begin_ns), axis.at(each.end_ns), axis.at(each.end_ns + each.slack_ns)
    whom = each.target or each.connection.partition(" > ")[2]
    text = f"to {whom}: {milliseconds(each.slack_ns)} to spare"
    bar = f'<line class="pale" x1="{x1:.3f}%" x2="{max(x2, x1 + 0.3):.3f}%" y1="{y + 18:.0f}" y2="{y + 18:.0f}"/>'
    slack = f'<line class="thin" stroke="var(--soft)" x1="{x2:.3f}%" x2="{end:.3f}%" y1="{y + 18:.0f}" y2="{y + 18:.0f}"/>'
    label = texts(x1, y + 12, text, 100 - x1) if x1 < 50 else texts(x2, y + 12, text, x2, "end")
    return f"<g><title>{escaped(f'{each.connection}, {text}')}</title>{bar}{slack}{label}</g>"
