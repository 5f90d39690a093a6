"""The report page of a hunt: one self-contained HTML file with the schedule that was found beside the smallest one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from slownet.judge.histories.checks import Violation
from slownet.judge.histories.history import History
from slownet.links.faults import Faults
from slownet.report.figure import Figure
from slownet.report.html_page import REPORT, template, write_html
from slownet.report.run_history import history_figure


@dataclass(frozen=True)
class Drawn:
    """A schedule with what came of it. title: what it is, such as "the smallest schedule"."""

    title: str
    faults: Faults
    history: History
    violations: Sequence[Violation]


def write_hunt(
    directory: Path, name: str, question: str, answer: str, drawn: Sequence[Drawn], tried: Sequence[tuple[str, Sequence[int]]],
    parts: Sequence[str], facts: Sequence[tuple[str, str]],
) -> Path:  # fmt: skip
    """Write ``report.html`` into a hunt's folder.

    tried: what breaks, with how often it began in each part of the time; parts: these in words. Raises SlownetError.
    """
    text = template("hunt.html.j2").render(
        title=name,
        question=question or name,
        answer=answer,
        drawn=[(each, _figure(each, number)) for number, each in enumerate(drawn)],
        tried=tried,
        parts=parts,
        facts=facts,
        script=resources.files("slownet.report").joinpath("page.js").read_text("utf-8"),
        folder=html.escape(str(directory)),
    )
    return write_html(directory / REPORT, text)


def _figure(each: Drawn, number: int) -> Figure:
    return history_figure(each.history, each.faults, each.violations, each.title, f"history-{number + 1}")
