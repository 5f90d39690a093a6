"""Samples of a sweep's grid (Latin hypercube, Sobol, random): cells as points over each two factors, shaded by a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from slownet.judge.records.cell import Cell
from slownet.judge.records.naming import capital
from slownet.judge.records.result import RunData
from slownet.model.units import spoken
from slownet.report.chart import Chart, Point, text_width
from slownet.report.figure import Figure
from slownet.report.grid import Factor
from slownet.report.maps import FAINT, FULL, WORDS
from slownet.report.scale import Named, Scale, along_levels, shades
from slownet.report.text import spelled, trimmed

SPARSE = 0.5
"""Share of the grid's squares that cells must fill; with fewer, a map is mostly holes."""
MOST = 3
"""Factors, those with the most levels, whose pairs are drawn."""
LEFT, WIDEST = 52.0, 110.0


def is_sparse(run: RunData, factors: Sequence[Factor]) -> bool:
    """Return whether the cells fill too little of their grid to be drawn as squares."""
    return len(run.cells) < SPARSE * math.prod(len(each.levels) for each in factors)


def metric_points(run: RunData, metric: str, factors: Sequence[Factor]) -> list[Figure]:
    """Draw a metric over each two factors; all figures have one scale of shades."""
    known = [cell.metrics[metric].mean for cell in run.cells if metric in cell.metrics]
    if not known:
        return []
    scale = shades(known)

    def draw(chart: Chart, cell: Cell, x: float, y: float) -> None:
        if metric not in cell.metrics:
            chart.points([Point(x, y, f"{cell.title}: failed")], "failed", "bad", hollow=True)
            return
        found = cell.metrics[metric]
        shade = FAINT + (FULL - FAINT) * scale.at(found.mean)
        chart.shaded(Point(x, y, f"{cell.title}: {spelled(found)}"), shade)

    def legend(chart: Chart) -> None:
        chart.shade_of(trimmed(scale.low, 3), FAINT)
        chart.shade_of(trimmed(scale.high, 3), FULL)

    def row(cell: Cell) -> tuple[float | None, ...]:
        found = cell.metrics.get(metric)
        return (found.mean, found.low, found.high) if found else (None, None, None)

    name, title = f"points-{metric}", capital(spoken(metric))
    return [_figure(run, name, title, pair, draw, legend, (metric, "low", "high"), row) for pair in _pairs(factors)]


def verdict_points(run: RunData, criterion: str, verdicts: Mapping[str, str], factors: Sequence[Factor]) -> list[Figure]:
    """Draw over each two factors which cells meet a criterion; ``verdicts`` by the cell's title."""

    def verdict(cell: Cell) -> str:
        return verdicts.get(cell.title, "failed")

    def draw(chart: Chart, cell: Cell, x: float, y: float) -> None:
        colour, word = WORDS.get(verdict(cell), ("open", "open"))
        chart.points([Point(x, y, f"{cell.title}: {verdict(cell)}")], word, colour, hollow=colour != "good")

    return [
        _figure(
            run,
            "points-verdicts",
            criterion,
            pair,
            draw,
            lambda chart: None,
            ("verdict",),
            lambda cell: (verdict(cell),),
        )
        for pair in _pairs(factors)
    ]


def _pairs(factors: Sequence[Factor]) -> list[tuple[Factor, Factor]]:
    return list(combinations(factors[:MOST], 2))


def _figure(
    run: RunData, name: str, title: str, pair: tuple[Factor, Factor], draw: Callable[[Chart, Cell, float, float], None],
    legend: Callable[[Chart], None], columns: tuple[str, ...], row: Callable[[Cell], tuple[str | float | None, ...]],
) -> Figure:  # fmt: skip
    across, up = pair
    whole = f"{title} over {across.name} and {up.name}"
    left = LEFT if up.numbers else min(WIDEST, max(map(text_width, up.levels)) + 12)
    chart = Chart(whole, _scale(across), _scale(up), across.title, up.title, left=int(left))
    legend(chart)
    for cell in run.cells:
        draw(chart, cell, _place(across, cell), _place(up, cell))
    rows = tuple((*map(str, cell.label.values()), *row(cell)) for cell in run.cells)
    return Figure(f"{name}-{across.name}-{up.name}", whole, chart.svg(), (*run.cells[0].label, *columns), rows)


def _scale(factor: Factor) -> Scale:
    return along_levels(factor.numbers) if factor.numbers else Named(factor.levels)


def _place(factor: Factor, cell: Cell) -> float:
    at = factor.levels.index(str(cell.label[factor.name]))
    return factor.numbers[at] if factor.numbers else float(at)
