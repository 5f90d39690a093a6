"""Runs and comparisons as Markdown, for the page that a CI service shows of a job. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slownet.judge.records.result import RunData
from slownet.report.text import number
from slownet.report.view import clock_line, view
from slownet.report.words import verdicts_counted
from slownet.theory.stats import Summary

MARKS = {"supported": "✅", "refuted": "❌", "failed": "❌"}
OPEN = "❔"


def of_run(run: RunData) -> str:
    """Return a run's section: the question, the verdicts, the cells folded away."""
    lines = [f"## {cell(run.experiment)}: {verdicts_counted(run.claims)}", ""]
    lines += [cell(str(run.facts["question"])), ""] if run.facts.get("question") else []
    if run.facts.get("error"):
        lines += [f"{MARKS['failed']} broken off: {cell(str(run.facts['error']))}", ""]
    lines += [f"{MARKS['failed']} {cell(each.title)}: {cell(each.error or 'failed')}" for each in run.failed]
    if run.claims:
        rows = [(f"{MARKS.get(claim.verdict, OPEN)} {claim.verdict}", claim.name, claim.text) for claim in run.claims]
        lines += [*table(("verdict", "claim", "measured"), rows), ""]
    seen = view(run)
    if seen.rows:
        rows = [(row.title, number(row.time.mean if row.time else None), _interval(row.time)) for row in seen.rows]
        cells = table(("condition", seen.unit, "interval"), rows)
        lines += ["<details><summary>cells</summary>", "", *cells, "", "</details>", ""]
    return "\n".join([*lines, f"_{cell(clock_line(run))}_", ""])


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(cell(each) for each in line) + " |" for line in lines]


def cell(text: str) -> str:
    """Escape a text, so that it is read as it stands and stays in its cell."""
    for mark in "\\`*_<>[]|":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


def _interval(summary: Summary | None) -> str:
    if not summary or not summary.known or summary.low == summary.high:
        return ""
    return f"{number(summary.low)} to {number(summary.high)}"
