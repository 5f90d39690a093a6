"""An account as a section of a page, and as a page of its own: picture, parts, flame graph, and what gives time back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.model.options import CURES
from slownet.report.account_figure import Axis, Part, account_figure, legend, parts, picture, stroke
from slownet.report.figure import Figure
from slownet.report.flame import flame_figure
from slownet.report.page_template import explained, template, write_html
from slownet.waits.account import Account, Step
from slownet.waits.account_text import SHORT_NS, answer, between, gains, milliseconds, says_of, slopes
from slownet.waits.blocks import Block, rest
from slownet.waits.cures import Outcome, cures
from slownet.waits.difference import Difference
from slownet.waits.difference_text import difference_answer, table
from slownet.waits.folds import Fold

ROWS = 60
"""Steps that are listed of a part."""
ZOOMED = 40
"""Steps that are drawn of a part that is opened."""
Links = Mapping[tuple[str, str], Sequence[str]]


@dataclass(frozen=True)
class Key:
    """An entry of the legend: a cause, the attributes of its line, its time."""

    cause: str
    stroke: str
    time: str


@dataclass(frozen=True)
class Row:
    """A step in a table."""

    at: str
    ms: str
    ends: str
    cause: str
    asked: str


@dataclass(frozen=True)
class Gain:
    """A cure in a table: its times as text, and what the promise is the time of, or why nothing was measured."""

    name: str
    promised: str
    measured: str
    remains: str
    because: str


@dataclass(frozen=True)
class Opened:
    """A part with its steps: what is seen when it is opened."""

    anchor: str
    at: str
    time: str
    says: str
    steps: tuple[Row, ...]
    more: int
    zoom: str
    note: str


@dataclass(frozen=True)
class Seen:
    """An account as a page shows it. stem: begins the names of its places on the page; trips: round trips by link."""

    stem: str
    answer: str
    operation: str
    figure: Figure
    flame: Figure
    key: tuple[Key, ...]
    parts: tuple[Opened, ...]
    rest: str
    gains: tuple[str, ...]
    cures: tuple[Gain, ...]
    notes: tuple[str, ...]
    is_folded: bool
    trips: Mapping[str, float]

    @property
    def measured(self) -> bool:
        """True if any cure was measured: otherwise the table has no column for it."""
        return any(each.measured for each in self.cures)


def section(
    account: Account, links: Links | None = None, stem: str = "why", heading: str = "h3", outcomes: Sequence[Outcome] = ()
) -> str:  # fmt: skip
    """Return the section of a page about an account, as HTML, for a page that has the style of reports.

    account: what to show.
    links: the links between each two hosts, for what a nearer one saves.
    stem: a word of letters, digits and ``-`` that no other account of the page has.
    heading: the element of headings within it.
    outcomes: its cures as they were measured; without them, what the account promises of each.
    """
    return str(_macro("account")(seen(account, links, stem, outcomes=outcomes), heading))


def write_why(
    path: Path, title: str, account: Account, links: Links | None = None, outcomes: Sequence[Outcome] = ()
) -> Path:  # fmt: skip
    """Write the page of an account. title: such as a run's name; outcomes: as for `section`. Raises SlownetError."""
    text = template("why.html.j2").render(title=title, seen=seen(account, links, "why", outcomes=outcomes))
    return write_html(path, explained(text))


def write_difference(path: Path, names: tuple[str, str], found: Difference, links: tuple[Links, Links] = ({}, {})) -> Path:
    """Write the page of two accounts: what changed, and both pictures on one axis. Raises SlownetError."""
    longest = max(found.before.elapsed_ns, found.after.elapsed_ns)
    both = [
        seen(account, between, stem, longest)
        for account, between, stem in zip((found.before, found.after), links, ("before", "after"), strict=True)
    ]
    rows = [(f"{each.ns / 1e6:+.3f}", each.before, each.after, each.what) for each in table(found, ROWS)]
    text = template("why_two.html.j2").render(
        title=" and ".join(names), names=names, answer=difference_answer(found), rows=rows, both=both
    )
    return write_html(path, explained(text))


def _macro(name: str) -> Any:
    return getattr(template("account.html.j2").module, name)


def seen(
    account: Account, links: Links | None, stem: str, until_ns: int = 0, outcomes: Sequence[Outcome] = ()
) -> Seen:  # fmt: skip
    """Return an account as a page shows it. until_ns: how long the axis is, if longer than the operation."""
    drawn = parts(account, stem)
    many = f"{len(account.steps):,} step{'s' * (len(account.steps) != 1)}"
    short = rest(account, SHORT_NS)
    return Seen(
        stem, answer(account), f"{account.operation[:1].upper()}{account.operation[1:]}, {many} on the deciding path.",
        account_figure(account, "The deciding path over time", f"{stem}-path", drawn, until_ns),
        flame_figure(account, "The time by host and cause", f"{stem}-flame"),
        tuple(Key(str(cause), stroke(cause), milliseconds(ns)) for cause, _, _, ns in legend(account.steps)),
        tuple(_opened(account, each) for each in drawn), milliseconds(short) if short else "", tuple(gains(account, links)),
        tuple(_gain(account, each) for each in outcomes or map(Outcome, cures(account))), account.notes,
        any(each.is_block for each in drawn), slopes(account, links),
    )  # fmt: skip


def _opened(account: Account, part: Part) -> Opened:
    steps = part.fold.steps
    zoom, note = "", ""
    if part.is_block:
        shown = steps[:ZOOMED]
        axis = Axis(shown[0].begin_ns, shown[-1].end_ns, account.begin_ns)
        zoom = picture(list(_pairs(shown)), axis, f"Its steps: {says_of(part.fold)}", f"{part.anchor}-zoom", account.client)
        note = f"The first {len(shown)} of its {len(steps):,} steps." if len(steps) > len(shown) else ""
    return Opened(
        part.anchor, f"{(part.fold.begin_ns - account.begin_ns) / 1e6:.3f}", milliseconds(part.fold.ns), says_of(part.fold),
        tuple(_row(account, each) for each in steps[:ROWS]), max(0, len(steps) - ROWS), zoom, note,
    )  # fmt: skip


def _gain(account: Account, each: Outcome) -> Gain:
    because = f"{each.cure.because}{f'; {each.metric} with it' if each.metric else ''}"
    if each.saved_ms is None or each.after_ms is None:
        why = each.error or each.cure.not_switched or f"{CURES.in_command('why')} measures it"
        left = milliseconds(each.cure.remains_ns(account))
        return Gain(each.cure.name, milliseconds(each.cure.saves_ns), "", left, f"{because}; not measured: {why}")
    saved, remains = (f"{ms:.3f} ms" for ms in (each.saved_ms, each.after_ms))
    return Gain(each.cure.name, milliseconds(each.cure.saves_ns), saved, remains, because)


def _row(account: Account, step: Step) -> Row:
    cause = f"{step.cause}{f': {step.detail}' if step.detail else ''}"
    return Row(f"{(step.begin_ns - account.begin_ns) / 1e6:.3f}", f"{step.ms:.3f}", between(step), cause, step.asked)


def _pairs(steps: Sequence[Step]) -> Iterator[Part]:
    """Yield a message and the one that comes back as one part, and each other step as one."""
    at = 0
    while at < len(steps):
        one, two = steps[at], steps[at + 1] if at + 1 < len(steps) else None
        is_pair = two is not None and one.trip and two.trip and (one.source, one.target) == (two.target, two.source)
        taken = steps[at : at + 1 + is_pair]
        at += len(taken)
        yield Part(Fold((Block(one.cause, one.detail, one.source, one.target, tuple(taken)),)))
