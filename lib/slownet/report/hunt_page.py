"""The report page of a hunt: one self-contained HTML file with the schedule that was found beside the smallest one.

Its pictures are histories: what clients asked over time, below what was broken meanwhile, with the first violation marked.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from slownet.judge.histories.checks import Violation
from slownet.judge.histories.history import FAIL, INFO, OK, History, Operation, short
from slownet.judge.histories.log_lines import LogLine
from slownet.links.fault_space import breaks
from slownet.links.faults import NONE, Action, Cut, Faults, Heal, HostFault, Mtu, Reset, ServiceFault
from slownet.report.chart import WIDTH, clipped, element, escaped, marked, text_width
from slownet.report.figure import Figure
from slownet.report.page_template import template, write_html
from slownet.report.scale import Linear
from slownet.report.timeline import Timeline, legend


@dataclass(frozen=True)
class Drawn:
    """A schedule with what came of it. title: what it is, such as "the smallest schedule"."""

    title: str
    faults: Faults
    history: History
    violations: Sequence[Violation]
    logs: Sequence[LogLine] = ()


@dataclass(frozen=True)
class Second:
    """The events within one second: steps of the faults, violations, and lines of logs with their seconds."""

    number: int
    steps: Sequence[str]
    violations: Sequence[str]
    lines: Sequence[tuple[str, str, str]]


def write_hunt(
    path: Path, name: str, question: str, answer: str, drawn: Sequence[Drawn], tried: Sequence[tuple[str, Sequence[int]]],
    parts: Sequence[str], facts: Sequence[tuple[str, str]],
) -> Path:  # fmt: skip
    """Write the page of a hunt, or of a replay, which has tried nothing.

    tried: what breaks, with how often it began in each part of the time; parts: these as text. Raises SlownetError.
    """
    text = template("hunt.html.j2").render(
        title=name,
        question=question or name,
        answer=answer,
        drawn=[(each, _figure(each, number), _anchor(number), seconds(each)) for number, each in enumerate(drawn)],
        tried=tried,
        parts=parts,
        facts=facts,
        script=resources.files("slownet.report").joinpath("page.js").read_text("utf-8"),
        folder=html.escape(str(path.parent)),
    )
    return write_html(path, text)


def _anchor(number: int) -> str:
    return f"logs-{number + 1}"


def _figure(each: Drawn, number: int) -> Figure:
    name = f"history-{number + 1}"
    return history_figure(
        each.history, each.faults, each.violations, each.title, name, f"#{_anchor(number)}" if each.logs else ""
    )


def seconds(each: Drawn) -> list[Second]:
    """Return the seconds when something is logged, breaks, is repaired or is wrong; empty if nothing is logged."""
    if not each.logs:
        return []
    steps = [(int(step.at), str(step)) for step in each.faults.steps]
    wrong = [(int(one.time // 10**9), str(one)) for one in each.violations if one.time is not None]
    lines = [(line.time // 10**9, (f"{line.time / 1e9:.3f}", line.service, line.line)) for line in each.logs]
    numbers = sorted({number for number, _ in (*steps, *wrong, *lines)})
    return [
        Second(number, [what for at, what in steps if at == number], [what for at, what in wrong if at == number],
               [line for at, line in lines if at == number])
        for number in numbers
    ]  # fmt: skip


LEFT, ROW, BAR = 108, 20, 12
WIDEST = 176
"""Room for names at the left, if those of the breaks need it."""
CUT = "cut "
MOST = 2000
"""Operations that are drawn; the history has all."""
OUTCOMES = ((OK, "acknowledged", "measured"), (FAIL, "failed", "soft"), (INFO, "unknown", "open"))
HEAD = ("client", "operation", "value", "begin, s", "end, s", "outcome")


def history_figure(
    history: History, faults: Faults, violations: Sequence[Violation], title: str, name: str, logs: str = ""
) -> Figure:
    """Draw a history.

    history: what clients did.
    faults: what was broken, by the plan.
    violations: what is wrong; the earliest one that has a time is marked.
    title, name: a line above the figure, and its name for files.
    logs: where seconds are mentioned: what breaks or is wrong at 4.2 s leads to this and "-4".
    """
    shown = history.operations[:MOST]
    last = max([each.time for each in history.events] + [int(faults.steps[-1].at * 1e9) if faults.steps else 0] + [1]) / 1e9
    breaks = list(_spans(faults, last))
    widest = max([LEFT, *(text_width(what) + 14 for what, _, _ in breaks)])
    x = Timeline(Linear(0.0, 1.02 * last), int(min(WIDEST, widest)))
    clients = sorted({each.process for each in shown})
    top = 44.0
    middle = top + ROW * len(breaks)
    bottom = middle + ROW * len(clients) + 6
    body = [legend((name, colour) for _, name, colour in OUTCOMES), *x.axis(top, bottom, "seconds since the faults began")]
    for number, (what, begin, end) in enumerate(breaks):
        body.append(_leading(_shade(x, what, begin, end, top + ROW * number, bottom), logs, begin))
    rows = {process: middle + 4 + ROW * number for number, process in enumerate(clients)}
    body += [
        f'<text x="{x.left - 6}" y="{y + 11:.0f}" text-anchor="end">client {process}</text>' for process, y in rows.items()
    ]
    body += [_bar(each, x, rows[each.process], last) for each in shown]
    body += _marked(violations, x, top, bottom, logs)
    more = len(history.operations) - len(shown)
    note = (f"{faults}." if faults.steps else "") + (f" {more} more operations are not drawn." if more else "")
    return Figure(name, title, element(title, bottom + 34, "".join(body)), HEAD, tuple(map(_row, shown)), note)


def _spans(faults: Faults, last: float) -> Iterator[tuple[str, float, float]]:
    """Yield what is broken, with the seconds of its begin and end; all cuts end together."""
    open_: dict[str, tuple[str, float]] = {}
    for number, step in enumerate(faults.steps):
        action = step.action
        subject = f"{CUT}{number}" if isinstance(action, Cut) else _subject(action)
        for key in [each for each in open_ if each == subject or (isinstance(action, Heal) and each.startswith(CUT))]:
            yield (*open_.pop(key), step.at)
        if isinstance(action, Reset):
            yield str(action), step.at, step.at
        elif breaks(action):
            open_[subject] = (str(action), step.at)
    for what, begin in open_.values():
        yield what, begin, last


def _subject(action: Action) -> str:
    """The target of an action; a cut has no name, since all cuts heal together."""
    return action.subject if isinstance(action, ServiceFault | HostFault | Mtu) else ""


def _shade(x: Timeline, what: str, begin: float, end: float, y: float, bottom: float) -> str:
    left, right = x.at(begin), x.at(end)
    area = f'x="{left:.1f}" y="{y + 4:.1f}" width="{max(1.0, right - left):.1f}" height="{bottom - y - 4:.1f}"'
    label = f'<text x="{x.left - 6}" y="{y + 14:.0f}" text-anchor="end">{escaped(clipped(what, x.left - 10))}</text>'
    shade = f'<rect {area} fill="var(--bad)" fill-opacity=".16"/>'
    return label + marked(shade, (left + right) / 2, y + 10, f"{what}, {begin:g} to {end:g} s")


def _bar(each: Operation, x: Timeline, y: float, last: float) -> str:
    end = each.end / 1e9 if each.end is not None else None
    left = x.at(each.begin / 1e9)
    right = x.at(end if end is not None else min(last, each.begin / 1e9 + last / 100))
    colour = next(colour for kind, _, colour in OUTCOMES if kind == each.type)
    until = "" if end is None else f", ended at {end:.3f} s"
    result = f", gave {short(each.result)}" if each.result not in (None, each.value) else ""
    says = f"{each}: {_outcome(each)}{until}{result}{', ' + each.error if each.error else ''}"
    shape = f'x="{left:.1f}" y="{y:.1f}" width="{max(1.0, right - left):.1f}" height="{BAR}"'
    return marked(f'<rect {shape} fill="var(--{colour})"/>', (left + right) / 2, y + BAR / 2, says)


def _marked(violations: Sequence[Violation], x: Timeline, top: float, bottom: float, logs: str) -> Iterator[str]:
    timed = [each for each in violations if each.time is not None]
    if not timed:
        return
    first = min(timed, key=lambda each: each.time or 0)
    seconds = (first.time or 0) / 1e9
    across = x.at(seconds)
    right = across > WIDTH / 2
    anchor = f'x="{across + (-3 if right else 3):.1f}" text-anchor="{"end" if right else "start"}"'
    line = f'<path class="line" stroke="var(--bad)" d="M{across:.1f} {top - 16:.0f}V{bottom:.0f}"/>'
    text = f'<text class="small" {anchor} y="{top - 8:.0f}">violation, {seconds:.4g} s</text>'
    yield _leading(marked(line, across, top - 10, str(first)) + text, logs, seconds)


def _leading(drawn: str, logs: str, seconds: float) -> str:
    return f'<a href="{logs}-{int(seconds)}">{drawn}</a>' if logs else drawn


def _outcome(each: Operation) -> str:
    return next(name for kind, name, _ in OUTCOMES if kind == each.type)


def _row(each: Operation) -> tuple[str | float, ...]:
    value = NONE if each.value is None else short(each.value)
    end = "" if each.end is None else each.end / 1e9
    return f"client {each.process}", each.op, value, each.begin / 1e9, end, _outcome(each)
