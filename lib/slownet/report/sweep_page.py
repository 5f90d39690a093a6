"""The report page of a sweep: one self-contained HTML file with its maps.

Of a sample of the grid (Latin hypercube, Sobol, random) cells are points over each two factors, shaded by a metric.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

from slownet.judge.records import measured_folder
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import REFUTED, SUPPORTED
from slownet.judge.records.naming import capital, listed
from slownet.judge.records.result import RunData, clock
from slownet.model.units import amount, spoken, unit_of
from slownet.report.answer import answer as answer_of
from slownet.report.chart import Chart, Point, clipped, element, escaped, text_width
from slownet.report.figure import Figure
from slownet.report.grid import Factor, factors
from slownet.report.html_page import NAMED, REPORT
from slownet.report.maps import FAINT, FULL, WORDS, metric_maps, verdict_maps
from slownet.report.page_template import template, write_html
from slownet.report.scale import Named, Scale, along_levels, growing, shades
from slownet.report.spreadsheet import Value
from slownet.report.text import number, spelled, trimmed
from slownet.report.view import position_notes, view
from slownet.theory.stats.factorial import Levels, is_complete, marginal, shares

# Effects in a sweep: a metric along each factor, and the shares of factors and pairs in its variance.

WIDTH, ROW, _LEFT = 352, 24, 130


def effect_figures(run: RunData, metric: str, factors: Sequence[Factor]) -> list[Figure]:
    """Return the figures of a metric's main effects, and of the shares if the grid is complete."""
    values = _means(run, metric, factors)
    if not values:
        return []
    if len(factors) == 1:
        return [_alone(run, metric, factors[0])]
    found = [_main(metric, factor, marginal(values, at)) for at, factor in enumerate(factors)]
    return found + _shares(metric, variance_shares(run, metric, factors))


def variance_shares(run: RunData, metric: str, factors: Sequence[Factor]) -> dict[tuple[str, ...], float]:
    """Return which share of a metric's variance each factor and each pair has; empty if the grid has holes or one factor."""
    values = _means(run, metric, factors)
    complete = len(factors) > 1 and bool(values) and is_complete(values)
    return shares(values, [each.name for each in factors]) if complete else {}


def _means(run: RunData, metric: str, factors: Sequence[Factor]) -> dict[Levels, float]:
    return {
        tuple(str(cell.label[each.name]) for each in factors): cell.metrics[metric].mean
        for cell in run.cells
        if metric in cell.metrics
    }


def _alone(run: RunData, metric: str, factor: Factor) -> Figure:
    """Draw a metric along the only factor, with its intervals."""
    found = {str(cell.label[factor.name]): cell.metrics[metric] for cell in run.cells if metric in cell.metrics}
    ends = [end for each in found.values() if each.known for end in (each.low, each.high)]
    points = [
        Point(x, each.mean, f"{factor.name} {level}: {spelled(each)}", *((each.low, each.high) if each.known else ()))
        for level, x in _places(factor).items()
        if (each := found.get(level))
    ]
    numbers = [each.y for each in points if not run.charging.means_nothing(each.y, metric)]
    rows = tuple((level, found[level].mean, found[level].low, found[level].high) for level in factor.levels if level in found)
    title = f"{capital(spoken(metric))} along {factor.name}"
    return _curve(metric, factor, title, points, growing(numbers, ends), (factor.name, metric, "low", "high"), rows)


def _main(metric: str, factor: Factor, means: dict[str, float]) -> Figure:
    """Draw the mean at each level of a factor."""
    points = [
        Point(x, means[level], f"{factor.name} {level}: {number(means[level])}")
        for level, x in _places(factor).items()
        if level in means
    ]
    title = f"{capital(spoken(metric))} along {factor.name}, mean over the other factors"
    rows = tuple((level, means[level]) for level in factor.levels if level in means)
    return _curve(metric, factor, title, points, growing(means.values()), (factor.name, metric), rows)


def _places(factor: Factor) -> dict[str, float]:
    return dict(zip(factor.levels, factor.numbers or map(float, range(len(factor.levels))), strict=True))


def _curve(
    metric: str, factor: Factor, title: str, points: Sequence[Point], y: Scale, head: tuple[str, ...],
    rows: tuple[tuple[Value, ...], ...],
) -> Figure:  # fmt: skip
    across: Scale = along_levels(_places(factor).values())
    note = ""
    if not factor.numbers:
        across = Named(factor.levels)
        if max(map(text_width, factor.levels)) > WIDTH / len(factor.levels) - 12:
            across = Named(tuple(map(str, range(1, len(factor.levels) + 1))))
            note = ", ".join(f"{at}: {level}" for at, level in enumerate(factor.levels, 1))
    chart = Chart(title, across, y, factor.title, spoken(metric))
    chart.line([(each.x, each.y) for each in points])
    chart.points(points)
    return Figure(f"effect-{metric}-{factor.name}", title, chart.svg(), head, rows, note)


def _shares(metric: str, found: dict[tuple[str, ...], float]) -> list[Figure]:
    """Draw the shares as bars."""
    if not found:
        return []
    ordered = sorted(found.items(), key=lambda each: -each[1])
    named = [(" with ".join(names) if names else "all others", share) for names, share in ordered]
    title = f"What {spoken(metric)} depends on: shares of its variance between cells"
    drawn = []
    for at, (name, share) in enumerate(named):
        top = 6 + at * ROW
        wide = max(1.0, share * (WIDTH - _LEFT - 60))
        drawn.append(f'<text x="{_LEFT - 6}" y="{top + 14}" text-anchor="end">{escaped(clipped(name, _LEFT - 12))}</text>')
        drawn.append(f'<rect x="{_LEFT}" y="{top + 2}" width="{wide:.1f}" height="{ROW - 8}" fill="var(--measured)"/>')
        drawn.append(f'<text x="{_LEFT + wide + 6:.1f}" y="{top + 14}">{100 * share:.1f} %</text>')
    svg = element(title, 10 + ROW * len(named), "".join(drawn))
    rows = tuple((name, share) for name, share in named)
    note = "A pair's share is its interaction: what the sum of the two factors' effects does not explain."
    return [Figure(f"shares-{metric}", title, svg, ("factor", "share"), rows, note if len(named) > 2 else "")]


METRICS = 3
"""Metrics that are drawn unless a criterion names one; the others are in the samples."""
LARGEST = 10_000
"""Cells that are drawn as maps: each takes a kilobyte of the page."""
FACTS = ("started", "place", "clock", "tdf", "cpu", "blocks", "kernel", "image")


def sweep_figures(run: RunData, verdicts: Mapping[str, str], criterion: str, metric: str = "") -> list[Figure]:
    """Return the figures of a sweep: verdicts, then each metric; ``metric`` is that of the criterion."""
    varied = factors(run)
    mapped = len(varied) > 1 and len(run.cells) <= LARGEST
    sparse = mapped and is_sparse(run, varied)
    names = [metric] if metric else _metrics(run)[:METRICS]
    found: list[Figure] = []
    if verdicts and mapped:
        found += (
            verdict_points(run, criterion, verdicts, varied) if sparse else verdict_maps(run, criterion, verdicts, *varied[:2])
        )
    for name in names:
        if mapped:
            found += metric_points(run, name, varied) if sparse else metric_maps(run, name, *varied[:2])
        found += effect_figures(run, name, varied)
    return found


def maps_of(run: RunData) -> list[Figure]:
    """Return the figures of a sweep's page, from its folder; none if it is not one. Raises SlownetError."""
    if not measured_folder.is_of_a_sweep(run.directory):
        return []
    from slownet.judge.records import sweep_samples  # reads Parquet, which takes a quarter of a second to import

    header = sweep_samples.read_header(run.directory)
    criterion = str((header.get("spec") or {}).get("criterion") or "")
    metric = next((name for name in _metrics(run) if name in re.findall(r"\w+", criterion)), "")
    return sweep_figures(run, header.get("verdicts") or {}, criterion, metric) if "spec" in header else []


def _metrics(run: RunData) -> list[str]:
    return list(dict.fromkeys(name for cell in run.cells for name in cell.metrics))


def answer(run: RunData, verdicts: Mapping[str, str], criterion: str, metric: str = "") -> str:
    """Return what a sweep found, in sentences: how many cells meet its criterion, how far the metric goes, what it depends on.

    A sweep without a criterion has the answer of a run, as `slownet show` prints it.

    verdicts: of each cell that was judged, by its title; empty without a criterion.
    criterion: as it was written.
    metric: that of the criterion; the first of the run if empty.
    """
    if not verdicts and (said := answer_of(view(run))):
        return said
    names = [metric] if metric else _metrics(run)[:1]
    known = {cell.title: cell.metrics[name].mean for name in names for cell in run.cells if name in cell.metrics}
    return " ".join(filter(None, [_judged(run, verdicts, criterion), *(_range(run, name, known) for name in names)]))


def _judged(run: RunData, verdicts: Mapping[str, str], criterion: str) -> str:
    if not verdicts:
        return ""
    count = Counter(verdicts.values())
    met, not_met = count.pop(SUPPORTED, 0), count.pop(REFUTED, 0)
    rest = [
        (not_met, "does not", "do not"),
        (count.total(), "is open", "are open"),
        (len(run.cells) - len(verdicts), "was not judged", "were not judged"),
    ]
    others = listed([f"{number} {one if number == 1 else many}" for number, one, many in rest if number])
    return f"{met} of {len(run.cells)} cells meet {criterion}{'; ' if others else ''}{others}."


def _range(run: RunData, metric: str, known: Mapping[str, float]) -> str:
    if len(known) < 2 or min(known.values()) == max(known.values()):
        return ""
    least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    unit = unit_of(metric)
    said = f"{capital(spoken(metric).partition(',')[0])} goes from {amount(known[least], unit)} ({least})"
    said += f" to {amount(known[most], unit)} ({most})"
    found = variance_shares(run, metric, factors(run))
    if not found:
        return f"{said}."
    names, share = max(found.items(), key=lambda each: each[1])
    return f"{said}; {' with '.join(names) or 'the rest'} explains most of it, {100 * share:.0f} %."


def write_sweep(
    run: RunData, verdicts: Mapping[str, str], criterion: str, metric: str, flips: Sequence[str],
    aside: Sequence[Mapping[str, Any]],
) -> Path:  # fmt: skip
    """Write ``report.html`` into the sweep's folder. Raises SlownetError."""
    text = template("sweep.html.j2").render(
        run=run,
        title=run.experiment,
        question=run.facts.get("question") or run.experiment,
        answer=answer(run, verdicts, criterion, metric),
        flips=flips,
        positions=position_notes(run),
        clock=clock(run.facts),
        samples=sum(len(cell.samples) for cell in run.cells),
        failed=[(cell.title, cell.error) for cell in run.cells if cell.error],
        aside=aside,
        mapped=len(factors(run)) > 1,
        unmapped=f"More than {LARGEST:,} cells are not drawn as maps; the samples have them all." * (len(run.cells) > LARGEST),
        figures=sweep_figures(run, verdicts, criterion, metric),
        facts=[(NAMED.get(name, name), run.facts.get(name)) for name in FACTS if run.facts.get(name) not in (None, {}, "")],
        script=resources.files("slownet.report").joinpath("page.js").read_text("utf-8"),
        folder=html.escape(str(run.directory)),
    )
    return write_html(run.directory / REPORT, text)


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
