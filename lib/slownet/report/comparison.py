"""The comparison of published numbers with measured ones and those of law or theory, for the table of several runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import NOT_JUDGED, SUPPORTED, WORST_FIRST, Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import cell_key, finite
from slownet.report.view import Row, View, baseline, view
from slownet.report.words import claim_sentence
from slownet.theory.stats import Summary

PREDICTION, LIMIT, LAW = "predicted", "bound", "law"
"""The kinds of claims about a number of one cell, rather than its ratio to another."""


@dataclass(frozen=True)
class Line:
    """One published number with its comparison, in the metric's unit; None if there is nothing to compare."""

    experiment: str
    condition: str
    metric: str
    published: float
    measured: Summary | None
    theory: float | None
    """The prediction of the run's law, or of the claim that predicts this number."""
    factor: float | None
    """The measured number divided by the published one."""
    published_ratio: float | None
    """The published number divided by the published baseline."""
    ratio: float | None
    """The measured number divided by the measured baseline; None if that is a time in which a free CPU does nothing."""
    verdict: str
    """That of the claims about this number, or else about this cell; "failed", "baseline", or empty without claims."""
    claim: str
    """The claim that the verdict is about; it is not that the measured number equals the published one."""
    is_main: bool
    """True if the metric is the article's main one."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        record: dict[str, Any] = finite(vars(self) | {"measured": self.measured.to_json() if self.measured else None})
        return record


@dataclass(frozen=True)
class Tally:
    """The result of a run in numbers: counts of verdicts, times in s, the clock; ``error`` is why it failed."""

    experiment: str
    supported: int
    claims: int
    not_judged: int
    """Claims about cells that were not measured."""
    cells: int
    repetitions: int
    failed: tuple[str, ...]
    """The cells that failed, each with its error."""
    error: str
    clock: str
    real_s: float
    """The time that passed on the run's clock: its duration on a real clock."""
    wall_s: float
    repeats: str
    """True if another run gives the same numbers, and if not, why."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        record: dict[str, Any] = finite(vars(self))
        return record


def lines(run: RunData) -> list[Line]:
    """Compare every published number of a run that was measured too, or whose cell failed."""
    seen = view(run)
    run = seen.run
    articles = {cell_key(cell.label): row.article for cell, row in zip(run.cells, seen.rows, strict=True)}
    return [
        _line(seen, cell, row, metric, articles)
        for cell, row in zip(run.cells, seen.rows, strict=True)
        for metric in _metrics(seen, row)
        if metric in cell.metrics or cell.status == "failed"
    ]


def _line(seen: View, cell: Cell, row: Row, metric: str, articles: Mapping[str, Mapping[str, Any]]) -> Line:
    """Compare one published number; ``articles``: all published numbers, by cell."""
    base = baseline(seen.run, cell)
    start = articles[cell_key(base.label)].get(metric) if base else None
    published = float(row.article[metric])
    verdict, claims = _verdict(seen, cell, row, metric)
    return Line(
        experiment=seen.run.experiment,
        condition=row.title,
        metric=metric,
        published=published,
        measured=cell.metrics.get(metric),
        theory=_theory(seen, cell, row, metric),
        factor=_over(_mean(cell, metric), published),
        published_ratio=_over(published, start),
        ratio=_ratio(seen, cell, base, metric) if base and start else None,
        verdict=verdict,
        claim=claim_sentence(claims[0], seen.run) if claims else "",
        is_main=metric == seen.metric,
    )


def tally(run: RunData) -> Tally:
    """Summarize the result of a run in numbers."""
    return Tally(
        experiment=run.experiment,
        supported=sum(claim.verdict == SUPPORTED for claim in run.claims),
        claims=len(run.claims),
        not_judged=sum(claim.verdict == NOT_JUDGED for claim in run.claims),
        cells=len(run.cells),
        repetitions=run.repetitions,
        failed=tuple(f"{cell.title}: {cell.error}" for cell in run.failed),
        error=str(run.facts.get("error") or ""),
        clock=f"{run.facts.get('clock')}" + (f", TDF {run.facts['tdf']}" if run.facts.get("tdf") is not None else ""),
        real_s=_passed(run),
        wall_s=float(run.facts.get("wall_s") or 0.0),
        repeats=str(run.facts.get("repeats") or ""),
    )


def worst(claims: Iterable[Judgement]) -> str:
    """Return the worst verdict of several claims; empty without claims."""
    return min((claim.verdict for claim in claims), key=WORST_FIRST.index, default="")


def _metrics(seen: View, row: Row) -> Sequence[str]:
    """Return the published metrics of a row, the main metric first."""
    names = [name for name, value in row.article.items() if isinstance(value, int | float) and name != seen.along]
    return sorted(names, key=lambda name: name != seen.metric)


def _theory(seen: View, cell: Cell, row: Row, metric: str) -> float | None:
    if metric == seen.metric and row.predicted:
        return row.predicted.mean
    predictions = (claim for claim in _about(seen.run, cell, metric) if claim.kind == PREDICTION)
    return next((claim.expected for claim in predictions), None)


def _verdict(seen: View, cell: Cell, row: Row, metric: str) -> tuple[str, list[Judgement]]:
    """Return the verdict of a line, and the claims that it is of, the worst first."""
    if cell.status == "failed":
        return "failed", []
    own = _worst_first(_about(seen.run, cell, metric))
    if own or metric != seen.metric:
        return worst(own), own
    if row.verdict in WORST_FIRST:  # whether the cell lies on the law
        return row.verdict, _worst_first([claim for claim in seen.run.claims if claim.kind == LAW])
    named = _worst_first(_naming(seen.run, cell))
    return worst(named) or row.verdict, named


def _worst_first(claims: Iterable[Judgement]) -> list[Judgement]:
    return sorted(claims, key=lambda claim: WORST_FIRST.index(claim.verdict))


def _ratio(seen: View, cell: Cell, base: Cell, metric: str) -> float | None:
    start = _mean(base, metric)
    return None if start and seen.run.charging.means_nothing(start, metric) else _over(_mean(cell, metric), start)


def _about(run: RunData, cell: Cell, metric: str) -> list[Judgement]:
    """Return the judgements on one number that was measured: predictions of it, and limits of this cell alone."""
    found = [each for each in run.claims if each.metric == metric and each.measured is not None]
    return [each for each in found if each.cells[:1] == (cell.label,) and _is_of_a_number(each)]


def _is_of_a_number(claim: Judgement) -> bool:
    """Return whether the claim compares its first cell's metric itself; other cells are those a prediction is made from."""
    return claim.kind == PREDICTION or (claim.kind == LIMIT and len(claim.cells) == 1 and "percentile" not in claim.parameters)


def _naming(run: RunData, cell: Cell) -> list[Judgement]:
    return [claim for claim in run.claims if cell.label in claim.cells]


def _mean(cell: Cell, metric: str) -> float | None:
    found = cell.metrics.get(metric)
    return found.mean if found else None


def _over(value: float | None, start: Any) -> float | None:
    return None if value is None or not start else value / float(start)


def _passed(run: RunData) -> float:
    """Return the seconds that passed on the run's clock; those of its samples if it failed."""
    whole = run.facts.get("virtual_s")
    if whole is not None:
        return float(whole)
    return math.fsum(sample.get("virtual_s") or 0.0 for cell in run.cells for sample in cell.samples)
