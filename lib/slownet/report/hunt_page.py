"""The report page of a hunt: one self-contained HTML file with the schedule that was found beside the smallest one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from slownet.judge.histories.checks import Violation
from slownet.judge.histories.history import History
from slownet.judge.histories.log_lines import LogLine
from slownet.links.faults import Faults
from slownet.report.figure import Figure
from slownet.report.page_template import template, write_html
from slownet.report.run_history import history_figure


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
    """Return the seconds in which something is logged, breaks, is repaired or is wrong; none if nothing is logged."""
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
