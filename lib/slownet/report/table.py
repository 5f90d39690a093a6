"""A run as a table in the terminal, with its claims below."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.judge.records.result import RunData
from slownet.model.options import CLOCK
from slownet.report.answer import answer, standing
from slownet.report.columns import EXTRA, among_claims, beside_claims, columns, verdicts
from slownet.report.fitted import Fitted
from slownet.report.grid import matrix
from slownet.report.view import (
    Row,
    View,
    beyond_line,
    clock_line,
    compares_ways,
    instructions_lines,
    intervals_line,
    law_line,
    ratios_line,
    sampling_notes,
    view,
)
from slownet.report.words import claim_sentence

MANY = 12
"""Cells with two factors are printed as a matrix."""
STYLES = {"supported": "green", "refuted": "bold red", "inconclusive": "yellow", "not judged": "yellow", "failed": "bold red"}


def table(run: RunData) -> Table:
    """Make the table of a run's cells."""
    return _table(view(run))


def show(run: RunData, claims: bool = True) -> RenderableType:
    """Format what the command prints for one run: question, table, law, notes and claims.

    claims: whether the claims are among it; False for a command that prints its verdicts itself.
    """
    seen = view(run)
    parts: list[RenderableType] = [Text(run.experiment, style="bold")]
    if run.facts.get("question"):
        parts.append(Text(str(run.facts["question"])))
    if found := answer(seen):
        parts.append(Text(" ".join(filter(None, (found, standing(run.claims) if claims else ""))), style="bold"))
    parts += [Text(clock_line(run), style="dim"), *_cells(seen)]
    parts += [Text(f"law: {law_line(seen)}")] if seen.lawful else []
    parts += [Text(line) for line in instructions_lines(seen)]
    parts += [Text(intervals_line(seen), style="dim")] if seen.rows else []
    parts += [Text(note) for note in _notes(seen)]
    parts += [Text(note, style="dim") for note in sampling_notes(run)]
    for claim in run.claims if claims else ():
        line = Text(f"{claim.verdict:<12} ", style=STYLES.get(claim.verdict, ""))
        parts.append(line.append(claim_sentence(claim, run), style="default bold").append(f": {claim.text}", style="default"))
    return Group(*parts)


def _cells(seen: View) -> list[RenderableType]:
    """Return the table of the cells; of many with two factors their matrix, and where the table is."""
    found = matrix(seen) if len(seen.rows) >= MANY else None
    if not found:
        line = ratios_line(seen) if compares_ways(seen.run) else ""
        return [_table(seen), *([Text(line, style="dim")] if line else [])]
    made = Fitted()
    made.add_column(found.down)
    for column in found.columns:
        made.add_column(column, justify="right")
    for name, values in found.rows:
        made.add_row(name, *values)
    return [Text(found.title), made, Text(f"all {len(seen.rows)} cells are in its report.html", style="dim")]


def _table(seen: View) -> Table:
    """Make the table without columns that are empty in all rows."""
    made = Fitted(extra=EXTRA)
    numbers, judged = columns(seen, narrow=True), verdicts(seen)
    made.add_column("condition", no_wrap=True)
    for column in numbers:
        made.add_column(column.title, justify="right")
    if judged:
        made.add_column("verdict")
    for at, row in enumerate(seen.rows):
        verdict = [_verdict(row, judged[at])] if judged else []
        made.add_row(row.title, *(column.shown[at] for column in numbers), *verdict)
    return made


def _verdict(row: Row, said: str) -> Text:
    verdict = Text(said, style=STYLES.get(row.verdict, "dim"))
    if row.cpu_bound:
        verdict.append(" *", style="yellow")
    if row.beyond_cpu:
        verdict.append(" †", style="yellow")
    return verdict


def _notes(seen: View) -> list[str]:
    notes = seen.errors
    if any(row.cpu_bound for row in seen.rows):
        notes.append(f"* CPU-bound: rerun with {CLOCK.typed} real")
    if any(row.beyond_cpu for row in seen.rows):
        notes.append(f"† {beyond_line(seen.run)}")
    notes += [each for each in (beside_claims(seen), among_claims(seen)) if each]
    return notes
