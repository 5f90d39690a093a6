"""Field measurements and comparisons as tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.comparison.outcome import DIFFERENT, WORSE, Outcome, Part, word
from slownet.comparison.record import Field
from slownet.comparison.row import DIFFERS, EQUIVALENT, INCONCLUSIVE, Row
from slownet.comparison.runs import Comparison
from slownet.judge.records.quantity import not_below_zero
from slownet.model.shapes import Json
from slownet.model.units import show_duration, show_percent
from slownet.report import junit, summary
from slownet.report.fitted import Fitted
from slownet.report.text import NOTHING, confidence, number, spelled, with_interval
from slownet.theory.stats import DECIDING, Summary, quantile

OUTCOMES = {0: "bold green", 1: "bold red", 3: "bold yellow"}
HEAD = ("condition", "metric", "first", "second", "ratio", "difference", "verdict")
STYLES = {EQUIVALENT: "green", DIFFERS: "bold red", INCONCLUSIVE: "yellow"}


def measured(field: Field, page: Path) -> RenderableType:
    """Return the output of `slownet field`; ``page`` is what it has written."""
    facts, (cell,) = field.facts, field.run().cells
    pages = len(field.pages)
    paused = f", {show_duration(facts['pause_s'])} apart" if pages > 1 else ""
    spoken = "".join(f", {said} {facts[name]}" for name, said in (("http", "HTTP"), ("tls", "TLS")) if facts.get(name))
    named = f", name looked up in {number(facts['resolved_ms'])} ms" if "resolved_ms" in facts else ""
    head = (
        f"{facts['url']} at {facts['address']} port {facts['port']}{spoken}: {pages} request{'s' * (pages > 1)}{paused}{named}"
    )
    made = _table(
        "metric", f"mean, {confidence(cell.summary(next(iter(cell.metrics))).confidence)} interval", "median", "min", "max"
    )
    for name, each in field.metrics().items():
        ordered = sorted(each.get("values", ()))
        marks = (quantile(ordered, part) for part in (0.5, 0, 1)) if ordered else (None,) * 3
        made.add_row(name, with_interval(not_below_zero(cell.summary(name), name)), *map(number, marks))
    least, most = field.lengths
    length = f"{least:,} bytes" if least == most else f"{least:,} to {most:,} bytes: the page's size varies"
    return Group(Text(head, style="bold"), made, *map(Text, [length, *_kept(cell.warm_up, cell.outliers), str(page)]))


def compared(found: Comparison) -> RenderableType:
    """Return the output of `slownet compare`."""
    sure = confidence(DECIDING)
    head = f"{found.first.experiment} against {found.second.experiment}, margin {show_percent(found.within)}, {sure} intervals"
    made = _table(*HEAD)
    for row in found.rows:
        made.add_row(row.condition, row.metric, *_numbers(row), Text(row.verdict, style=STYLES[row.verdict]).append(_note(row)))
    below = [*(_law(found.law) if found.law else ()), *_parts(found.parts), *(f"note: {note}" for note in found.notes)]
    return Group(Text(head, style="bold"), made, *map(Text, below), Text(str(found.outcome), style=OUTCOMES[found.status]))


def _parts(found: Sequence[Part]) -> Sequence[str]:
    """Return a line for each phase of a request."""
    width = max((len(part.name) for part in found), default=0)
    numbers = [(part.name, *map(spelled, (part.first, part.second, part.difference))) for part in found]
    return [f"{name:{width}}  run {first} ms, field {second} ms, difference {gap} ms" for name, first, second, gap in numbers]


def lines(found: Comparison) -> tuple[Sequence[str], Sequence[Sequence[str]], Sequence[str]]:
    """Return the head, the rows and the notes of a comparison as texts."""
    rows = [(row.condition, row.metric, *_numbers(row), f"{row.verdict}{_note(row)}") for row in found.rows]
    return HEAD, rows, [*(_law(found.law) if found.law else ()), *found.notes]


def suite(found: Comparison) -> junit.Suite:
    """Return the comparison as a JUnit suite: its outcome, then each row."""
    said = found.outcome
    result = {0: junit.PASSED, 1: junit.FAILED, 3: junit.SKIPPED}[said.status]
    text = str(said) if result == junit.PASSED else str(said).removeprefix(f"{said.word}: ")  # JUnit puts the word before it
    cases = [junit.Case("outcome", result, said.word, text)]
    for row in found.rows:
        numbers = " | ".join(filter(None, (*_numbers(row), row.note)))
        cases.append(junit.Case(row.name, _result(row, said), row.verdict, numbers))
    started = str(found.second.facts.get("started") or "")[: len(junit.DATE)]
    directories = {"first": str(found.first.directory), "second": str(found.second.directory)}
    return junit.Suite(f"compare {found.second.experiment}", cases, 0.0, started, directories)


def _result(row: Row, said: Outcome) -> str:
    if row.verdict == INCONCLUSIVE and said.status:
        return junit.SKIPPED
    to_blame = said.word == DIFFERENT or (said.word == WORSE and word(row) == WORSE)
    return junit.FAILED if row.verdict == DIFFERS and to_blame else junit.PASSED


def markdown(found: Comparison) -> str:
    """Return the comparison as a section of Markdown."""
    head, rows, _ = lines(found)
    text = [f"## {found.second.experiment}: {summary.cell(str(found.outcome))}", "", *summary.table(head, rows), ""]
    return "\n".join([*text, *(f"- {summary.cell(note)}" for note in found.notes), ""])


def _numbers(row: Row) -> tuple[str, ...]:
    gap = spelled(row.difference)
    shown = f"+{gap}" if row.difference and row.difference.mean > 0 else gap
    return with_interval(row.first), with_interval(row.second), with_interval(row.ratio), shown


def _note(row: Row) -> Text:
    return Text(f" ({row.note})" if row.note else "", style="default")


def _law(law: Mapping[str, Json]) -> Sequence[str]:
    def shown(side: str, name: str) -> str:
        return spelled(Summary.from_json(law[side][name]))

    own = law["run"]["rtt_ms"]
    here = f"RTT without delay {NOTHING if own is None else number(own)} ms"
    there = f"RTT {shown('field', 'rtt_ms')} ms"
    return (
        f"run: {shown('run', 'k')} round trips, T0 {shown('run', 't0_ms')} ms, {here}",
        f"field: {shown('field', 'k')} round trips, T0 {shown('field', 't0_ms')} ms (server time to first byte), {there}",
    )


def _kept(warm_up: Mapping[str, int], outliers: Mapping[str, int]) -> list[str]:
    pairs = ((warm_up, "left out as warm-up"), (outliers, "outliers, not left out"))
    return [f"{what}: {', '.join(f'{count} of {name}' for name, count in found.items())}" for found, what in pairs if found]


def _table(*names: str) -> Table:
    made = Fitted(titles=2 if names[:2] == HEAD[:2] else 1)
    for name in names:
        made.add_column(
            name, justify="left" if name in ("condition", "metric", "verdict") else "right", no_wrap=name != "verdict"
        )
    return made
