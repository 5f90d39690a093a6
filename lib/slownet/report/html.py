"""Runs and comparisons as HTML for notebooks, in the notebook's own colours and without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from slownet.judge.records.judgement import REFUTED, SUPPORTED
from slownet.report.answer import answer, standing
from slownet.report.columns import columns, verdicts
from slownet.report.text import near
from slownet.report.view import View, clock_line, instructions_lines, intervals_line, law_line
from slownet.report.words import claim_sentence

MARKS = {SUPPORTED: "✓", REFUTED: "✗", "failed": "✗"}
OPEN = "?"


def of_run(seen: View, picture: str) -> str:
    """Return a run's question, answer, cells, claims and picture."""
    run = seen.run
    found = [_paragraph(str(run.facts.get("question") or run.experiment), bold=True)]
    if text := answer(seen):
        found.append(_paragraph(" ".join(filter(None, (text, standing(run.claims))))))
    numbers, judged = columns(seen, narrow=True), verdicts(seen)
    if seen.rows:
        head = ["condition", *(each.title for each in numbers), *(["verdict"] if judged else [])]
        rows = [
            [row.title, *(each.shown[at] for each in numbers), *([judged[at]] if judged else [])]
            for at, row in enumerate(seen.rows)
        ]
        found.append(table(head, rows))
    found += map(_paragraph, seen.errors)
    if seen.lawful:
        found.append(_paragraph(f"Law: {law_line(seen)}"))
    found += map(_paragraph, instructions_lines(seen))
    listed = "".join(_claim(claim.verdict, claim_sentence(claim, run), claim.text) for claim in run.claims)
    found += [f'<ul style="list-style:none;padding:0">{listed}</ul>'] if listed else []
    small = "; ".join(filter(None, (clock_line(run), intervals_line(seen) if seen.rows else "", near(run.directory))))
    return _whole([*found, picture, f"<small>{escape(small)}</small>"])


def of_comparison(outcome: str, head: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """Return a comparison's outcome, rows and notes."""
    return _whole([_paragraph(outcome, bold=True), table(head, rows), *map(_paragraph, notes)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; notebooks have a style for it."""
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    lines = (f'<tr><th scope="row">{escape(first)}</th>{_cells(rest)}</tr>' for first, *rest in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _claim(verdict: str, sentence: str, numbers: str) -> str:
    mark = f"{MARKS.get(verdict, OPEN)} <b>{escape(verdict)}</b>"
    return f"<li>{mark}: {escape(sentence)}<br><small>{escape(numbers)}</small></li>"


def _cells(texts: Sequence[str]) -> str:
    return "".join(f"<td>{escape(each)}</td>" for each in texts)


def _paragraph(text: str, bold: bool = False) -> str:
    return f"<p><b>{escape(text)}</b></p>" if bold else f"<p>{escape(text)}</p>"


def _whole(parts: Iterable[str]) -> str:
    return f'<div class="slownet">{"".join(parts)}</div>'
