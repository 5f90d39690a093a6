"""A run as a table in the terminal, with its claims below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.report.text import milliseconds, number, with_interval
from slownet.report.view import Row, View, clock_line, law_line, sampling_notes, view
from slownet.result import RunData

STYLES = {"supported": "green", "refuted": "bold red", "inconclusive": "yellow", "failed": "bold red"}


def table(run: RunData, published: Mapping[str, Any] | None = None) -> Table:
    """The cells of a run; ``published`` as in ``slownet.report.view.view``."""
    return _table(view(run, published))


def show(run: RunData, published: Mapping[str, Any] | None = None) -> RenderableType:
    """Question, table, law, notes and claims: what the command prints for one run."""
    seen = view(run, published)
    parts: list[RenderableType] = [Text(run.experiment, style="bold")]
    if run.facts.get("question"):
        parts.append(Text(str(run.facts["question"])))
    parts += [Text(clock_line(run), style="dim"), _table(seen), Text(f"law: {law_line(seen)}")]
    parts += [Text(note) for note in _notes(seen)]
    parts += [Text(note, style="dim") for note in sampling_notes(run)]
    for claim in run.claims:
        line = Text(f"{claim.verdict:<12} ", style=STYLES.get(claim.verdict, ""))
        parts.append(line.append(claim.name, style="default bold").append(f": {claim.text}", style="default"))
    return Group(*parts)


def _table(seen: View) -> Table:
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    made.add_column("condition", no_wrap=True)
    for name in ("requests/s", seen.unit, "ratio", "published ratio", "law, ms", "verified RTT, ms"):
        made.add_column(name, justify="right")
    made.add_column("verdict")
    for row in seen.rows:
        made.add_row(*_cells(row))
    return made


def _cells(row: Row) -> tuple[str | Text, ...]:
    verdict = Text(row.verdict, style=STYLES.get(row.verdict, "dim"))
    if row.cpu_bound:
        verdict.append(" *", style="yellow")
    return (
        row.title,
        number(row.rate.mean if row.rate else None),
        with_interval(row.time),
        number(row.ratio.mean if row.ratio else None, 3),
        number(row.published_ratio, 3),
        number(row.predicted.mean if row.predicted else None),
        milliseconds(row.verified_rtt_ms),
        verdict,
    )


def _notes(seen: View) -> list[str]:
    notes = [f"{row.title}: {row.error}" for row in seen.rows if row.error]
    if any(row.cpu_bound for row in seen.rows):
        notes.append("* mostly CPU time: one for the real clock")
    return notes
