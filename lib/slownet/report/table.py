"""A run as a table in the terminal, with its claims below."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.records.result import RunData
from slownet.report.answer import answer, standing
from slownet.report.text import NOTHING, milliseconds, number, with_interval
from slownet.report.view import Row, View, beyond_line, clock_line, intervals_line, law_line, sampling_notes, view
from slownet.report.words import said

STYLES = {"supported": "green", "refuted": "bold red", "inconclusive": "yellow", "not judged": "yellow", "failed": "bold red"}


def table(run: RunData) -> Table:
    """Make the table of a run's cells."""
    return _table(view(run))


def show(run: RunData) -> RenderableType:
    """Format what the command prints for one run: question, table, law, notes and claims."""
    seen = view(run)
    parts: list[RenderableType] = [Text(run.experiment, style="bold")]
    if run.facts.get("question"):
        parts.append(Text(str(run.facts["question"])))
    if found := answer(seen):
        parts.append(Text(" ".join(filter(None, (found, standing(run.claims)))), style="bold"))
    parts += [Text(clock_line(run), style="dim"), _table(seen)]
    parts += [Text(f"law: {law_line(seen)}")] if seen.lawful else []
    parts += [Text(intervals_line(seen), style="dim")] if seen.rows else []
    parts += [Text(note) for note in _notes(seen)]
    parts += [Text(note, style="dim") for note in sampling_notes(run)]
    for claim in run.claims:
        line = Text(f"{claim.verdict:<12} ", style=STYLES.get(claim.verdict, ""))
        parts.append(line.append(said(claim, run), style="default bold").append(f": {claim.text}", style="default"))
    return Group(*parts)


def _table(seen: View) -> Table:
    """Make the table without columns that are empty in all rows."""
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    names = ("requests/s", seen.unit, "published", "ratio", "without cure", "published ratio", "law, ms", "verified RTT, ms")
    rows = [_numbers(row) for row in seen.rows]
    shown = [at for at, name in enumerate(names) if name == seen.unit or any(row[at] != NOTHING for row in rows)]
    made.add_column("condition", no_wrap=True)
    for at in shown:
        made.add_column(names[at], justify="right")
    made.add_column("verdict")
    for row, numbers in zip(seen.rows, rows, strict=True):
        made.add_row(row.title, *(numbers[at] for at in shown), _verdict(row))
    return made


def _numbers(row: Row) -> tuple[str, ...]:
    return (
        number(row.rate.mean if row.rate else None),
        with_interval(row.time),
        number(row.published_time),
        number(row.ratio.mean if row.ratio else None, 3),
        number(row.uncured.mean if row.uncured else None, 3),
        number(row.published_ratio, 3),
        number(row.predicted.mean if row.predicted else None),
        milliseconds(row.verified_rtt_ms),
    )


def _verdict(row: Row) -> Text:
    verdict = Text(row.verdict, style=STYLES.get(row.verdict, "dim"))
    if row.cpu_bound:
        verdict.append(" *", style="yellow")
    if row.beyond_cpu:
        verdict.append(" †", style="yellow")
    return verdict


def _notes(seen: View) -> list[str]:
    notes = [f"{row.title}: {row.error}" for row in seen.rows if row.error]
    if any(row.cpu_bound for row in seen.rows):
        notes.append("* CPU-bound: rerun with --clock real")
    if any(row.beyond_cpu for row in seen.rows):
        notes.append(f"† {beyond_line(seen.run)}")
    return notes
