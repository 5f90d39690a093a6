"""Effects in a sweep: a metric along each factor, and the shares of factors and pairs in its variance."""

from __future__ import annotations

from collections.abc import Sequence

from slownet.judge.records.naming import capital
from slownet.judge.records.result import RunData
from slownet.model.units import spoken
from slownet.report.chart import Chart, Point, clipped, element, escaped, text_width
from slownet.report.figure import Figure
from slownet.report.grid import Factor
from slownet.report.scale import Named, Scale, along_levels, growing
from slownet.report.spreadsheet import Value
from slownet.report.text import number, spelled
from slownet.theory.stats.factorial import Levels, is_complete, marginal, shares

WIDTH, ROW, LEFT = 352, 24, 130


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
        wide = max(1.0, share * (WIDTH - LEFT - 60))
        drawn.append(f'<text x="{LEFT - 6}" y="{top + 14}" text-anchor="end">{escaped(clipped(name, LEFT - 12))}</text>')
        drawn.append(f'<rect x="{LEFT}" y="{top + 2}" width="{wide:.1f}" height="{ROW - 8}" fill="var(--measured)"/>')
        drawn.append(f'<text x="{LEFT + wide + 6:.1f}" y="{top + 14}">{100 * share:.1f} %</text>')
    svg = element(title, 10 + ROW * len(named), "".join(drawn))
    rows = tuple((name, share) for name, share in named)
    note = "A pair's share is its interaction: what the sum of the two factors' effects does not explain."
    return [Figure(f"shares-{metric}", title, svg, ("factor", "share"), rows, note if len(named) > 2 else "")]
