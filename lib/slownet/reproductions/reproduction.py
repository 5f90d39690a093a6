"""A reproduction of the articles: the table, page and record of its runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slownet.judge.records.charging import Charging
from slownet.judge.records.judgement import SUPPORTED, Judgement
from slownet.judge.records.naming import capital
from slownet.judge.records.quantity import not_below_zero
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import finite, write_json
from slownet.model.units import show_duration, spoken
from slownet.report import scale
from slownet.report.answer import answer
from slownet.report.chart import WIDTH, Chart, Point
from slownet.report.comparison import Line, Tally, lines, tally
from slownet.report.figure import Figure
from slownet.report.fitted import Fitted
from slownet.report.html_page import REPORT, script
from slownet.report.page_template import explained, template, write_html
from slownet.report.table import STYLES
from slownet.report.text import NOTHING, confidence, number, spelled, trimmed, with_interval
from slownet.report.view import view
from slownet.report.words import claim_sentence, verdicts_counted
from slownet.reproductions.articles import ARTICLES, BEYOND, PROTOCOLS, grouped
from slownet.theory import published
from slownet.theory.published import Title

RECORD = "reproduction.json"


@dataclass(frozen=True)
class Reproduction:
    """Several runs of one invocation; ``wall_s`` and ``cpu_s`` (of all processors) are the totals."""

    directory: Path
    runs: tuple[RunData, ...]
    wall_s: float
    cpu_s: float
    processors: int

    @property
    def tallies(self) -> list[Tally]:
        """The results of the runs in numbers, in the articles' order."""
        return [tally(run) for run in self._ordered]

    @cached_property
    def by_run(self) -> dict[str, list[Line]]:
        """The lines of each run, by its experiment."""
        return {run.experiment: lines(run) for run in self._ordered}

    @property
    def lines(self) -> list[Line]:
        """The lines of the table: published, measured, law or theory."""
        return [line for found in self.by_run.values() for line in found]

    @property
    def real_s(self) -> float:
        """The duration of all runs on a real clock, one after the other."""
        return math.fsum(each.real_s for each in self.tallies)

    @property
    def articles(self) -> list[tuple[Title, list[RunData]]]:
        """Each article's title and the runs that reproduce it."""
        by_name = {run.experiment: run for run in self.runs}
        return [(_title(article), [by_name[name] for name in names]) for article, names in grouped(by_name).items()]

    @property
    def _ordered(self) -> list[RunData]:
        return [run for _, runs in self.articles for run in runs]

    @property
    def ending(self) -> str:
        """The counts of verdicts and the times, in one line."""
        claims = [claim for run in self.runs for claim in run.claims]
        stopped = [run.experiment for run in self.runs if run.facts.get("error")]
        times = (
            f"{show_duration(_rounded(self.real_s))} on a real clock, {show_duration(_rounded(self.wall_s))} here "
            f"({show_duration(_rounded(self.cpu_s))} of CPU on {self.processors} processor{'s' * (self.processors > 1)})"
        )
        broken = f"; broken off: {', '.join(stopped)}" if stopped else ""
        return f"{verdicts_counted(claims)}{broken}; {times}"

    def to_json(self) -> dict[str, Any]:
        """Return the record, which ``--out json=FILE`` has along with the runs."""
        times = {"real_s": self.real_s, "wall_s": self.wall_s, "cpu_s": self.cpu_s, "processors": self.processors}
        record: dict[str, Any] = finite(
            {
                "directory": str(self.directory),
                **times,
                "experiments": [each.to_json() for each in self.tallies],
                "lines": [each.to_json() for each in self.lines],
            }
        )
        return record

    def save(self) -> Path:
        """Write reproduction.json and report.html into the directory; return the path of the page. Raises SlownetError."""
        write_json(self.directory / RECORD, self.to_json())
        return write_html(self.directory / REPORT, render(self))


def render(done: Reproduction) -> str:
    """Render the page: every published number, every claim, a link to each run's own report."""
    articles = [
        {"title": title, "summary": _summary(runs), "runs": [_shown(done, run) for run in runs]}
        for title, runs in done.articles
    ]  # fmt: skip
    page = template("reproduction.html.j2").render(
        ending=done.ending, intervals=_intervals(done), articles=articles, duration=_duration, script=script(),
        beside=beside(done.lines), stem=done.directory.name,
    )  # fmt: skip
    return explained(page)


def show(done: Reproduction) -> RenderableType:
    """Format what the command prints: the articles' main numbers, the counts of each run, the claims that are not supported."""
    parts: list[RenderableType] = [Text(f"{title.english}: {_summary(runs)}") for title, runs in done.articles]
    parts += [Text(), _numbers(done.lines), Text(_intervals(done), style="dim"), Text(), _runs(done.tallies)]
    for run in done.runs:
        parts += [_open(run, claim) for claim in run.claims if claim.verdict != SUPPORTED]
    for each in done.tallies:
        parts += [Text(f"{each.experiment}: {line}", style="bold red") for line in (*each.failed, each.error) if line]
    return Group(*parts, Text(), Text(done.ending, style="bold"))


def _intervals(done: Reproduction) -> str:
    """Describe the confidence of the table's intervals, which is that of each run's verdicts."""
    levels = sorted({run.shown.confidence for run in done.runs})
    extremes = " to ".join(dict.fromkeys(confidence(each) for each in (*levels[:1], *levels[-1:])))
    return f"intervals: {extremes}, as for each run's verdicts"


def _numbers(shown: Sequence[Line]) -> Table:
    """Return the table of what was published beside what was measured; claims and verdicts stand in the other one."""
    made = _table(("experiment", "condition", "unit"), ("published", "measured", FACTOR, "law or theory"))
    before = ""
    for line in shown:
        if line.is_main:
            name = line.experiment if line.experiment != before else ""
            numbers = (
                number(line.published),
                _measured(line),
                number(line.factor, 3),
                number(line.theory),
            )
            made.add_row(name, line.condition, spoken(line.metric), *numbers)
            before = line.experiment
    return made


def _runs(tallies: Sequence[Tally]) -> Table:
    made = _table(("experiment", "clock"), ("cells", "repetitions", "on a real clock", "here", "claims supported"))
    made.add_column("verdict")
    for each in tallies:
        times = (_duration(each.real_s), _duration(each.wall_s))
        counts = (str(each.cells), str(each.repetitions))
        good = each.supported == each.claims and not each.failed and not each.error
        verdict = SUPPORTED if good else "failed" if each.failed or each.error else "not supported"
        made.add_row(
            each.experiment, each.clock, *counts, *times, f"{each.supported} of {each.claims}",
            Text(verdict, style=STYLES.get(verdict, "bold red")),
        )  # fmt: skip
    return made


def _table(texts: Sequence[str], numbers: Sequence[str]) -> Table:
    made = Fitted(len(texts))
    for name in texts:
        made.add_column(name)
    for name in numbers:
        made.add_column(name, justify="right")
    return made


def _open(run: RunData, claim: Judgement) -> Text:
    line = Text(f"{claim.verdict:<12} ", style=STYLES.get(claim.verdict, ""))
    return line.append(f"{run.experiment}: {claim_sentence(claim, run)}: {claim.text}", style="default")


def _shown(done: Reproduction, run: RunData) -> dict[str, Any]:
    page = run.directory / REPORT
    return {
        "run": run,
        "tally": tally(run),
        "answer": answer(view(run)),
        "differs": _why(run) if run.published.get("rows") else "",
        "verdicts": verdicts_counted(run.claims),
        "claims": [(claim, claim_sentence(claim, run)) for claim in run.claims],
        **_table_of(done.by_run[run.experiment]),
        "page": page.relative_to(done.directory).as_posix() if page.is_relative_to(done.directory) and page.exists() else "",
    }


def _why(run: RunData) -> str:
    """Say why a measured number may be another than the published one, although the claims hold."""
    free = run.charging is Charging.FREE
    cpu = "the CPU is free here, and was not there" if free else "T0 is that of this machine, not of theirs"
    return f"{capital(str(run.published.get('differs') or cpu))}; what the protocols cost, round trips, is the same."


def _summary(runs: Sequence[RunData]) -> str:
    """Summarize an article in one line: the first answer, and the verdicts on all of its claims."""
    answers = [found for run in runs if run.cells and (found := answer(view(run)))]
    counts = verdicts_counted([claim for run in runs for claim in run.claims])
    broken = [run.experiment for run in runs if run.facts.get("error")]
    return " ".join(
        filter(
            None, (*answers[:1], f"{capital(counts)}." if counts else "", f"Broken off: {', '.join(broken)}." * bool(broken))
        )
    )


def _table_of(found: Sequence[Line]) -> dict[str, Any]:
    """Return the columns that are not empty in all lines, and each line with its cells: name, text, tooltip, style."""
    rows = [(line, _cells(line)) for line in found]
    kept = [at for at, name in enumerate(COLUMNS) if any(cells[at][1] not in (NOTHING, "") for _, cells in rows)]
    return {"columns": [COLUMNS[at] for at in kept], "lines": [(line, [cells[at] for at in kept]) for line, cells in rows]}


FACTOR = "measured / published"
CLAIMED = "what is claimed"
COLUMNS = ("unit", "published", "measured", FACTOR, "law or theory", CLAIMED, "verdict")


def _cells(line: Line) -> list[tuple[str, str, str, str]]:
    texts = (
        spoken(line.metric), number(line.published), _measured(line), number(line.factor, 3),
        number(line.theory), line.claim, line.verdict,
    )  # fmt: skip
    titles = {"measured": spelled(line.measured) if line.measured else ""}
    kinds = {name: "empty" for name, text in zip(COLUMNS, texts, strict=True) if text in (NOTHING, "")}
    kinds[CLAIMED] = "text" if line.claim else "empty"
    kinds["verdict"] = f"verdict {line.verdict.replace(' ', '-') or 'empty'}"
    return [(name, text, titles.get(name, ""), kinds.get(name, "")) for name, text in zip(COLUMNS, texts, strict=True)]


def _title(article: str) -> Title:
    others = {PROTOCOLS: "Protocols of today", BEYOND: f"{BEYOND} the articles"}
    return published.title(article) if article in ARTICLES else Title(others[article])


def _duration(seconds: float) -> str:
    return show_duration(_rounded(seconds))


def _rounded(seconds: float) -> float:
    """Round to three digits, the precision to which times of a whole run are known."""
    return float(f"{seconds:.3g}")


def _measured(line: Line) -> str:
    return with_interval(line.measured and not_below_zero(line.measured, line.metric))


# One picture of a reproduction: each published number beside the measured one, on logarithmic axes.


def beside(lines: Sequence[Line]) -> Figure | None:
    """Draw the main published numbers against the measured ones, each in its own unit; None without any."""
    shown = [line for line in lines if line.is_main and line.measured and line.measured.mean > 0 and line.published > 0]
    if not shown:
        return None
    numbers = [each for line in shown for each in (line.published, _mean(line))]
    both = scale.log(numbers)
    title = "Each published number beside ours; on the line both are the same"
    chart = Chart(title, both, both, "published, in its own unit", "measured here, in the same unit", height=WIDTH)
    chart.line([(both.low, both.low), (both.high, both.high)], "the same number", "soft", dashed=True)
    chart.points([Point(line.published, _mean(line), _says(line)) for line in shown], "an experiment's number")
    numbers_of = {name: str(at) for at, name in enumerate(dict.fromkeys(line.experiment for line in shown), 1)}
    farthest = sorted(shown, key=_apart, reverse=True)
    firsts = list({line.experiment: line for line in reversed(farthest)}.values())  # no experiment is without its number
    chart.numbered((line.published, _mean(line), numbers_of[line.experiment]) for line in [*firsts, *farthest])
    head = ("experiment", "condition", "unit", "published", "measured", "measured / published")
    rows = tuple(
        (line.experiment, line.condition, spoken(line.metric), line.published, _mean(line), line.factor) for line in shown
    )
    note = ", ".join(f"{short}: {name}" for name, short in numbers_of.items())
    return Figure("published", title, chart.svg(), head, rows, note)


def _apart(line: Line) -> float:
    """Return by how much the measured and the published number differ, as a factor from 1."""
    factor = line.factor or 1.0
    return max(factor, 1 / factor)


def _mean(line: Line) -> float:
    assert line.measured is not None
    return line.measured.mean


def _says(line: Line) -> str:
    found = f"{number(line.published)} published, {number(_mean(line))} measured ({trimmed(line.factor, 3)} times)"
    return f"{line.experiment}, {line.condition}: {spoken(line.metric)}: {found}"
