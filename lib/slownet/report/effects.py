"""What matters most in a sweep: a metric along each factor, and the shares of factors and pairs in its variance."""

from __future__ import annotations

from collections.abc import Sequence

from slownet.records.result import RunData
from slownet.report.chart import Chart, Point, clipped, element, escaped
from slownet.report.figure import Figure
from slownet.report.grid import Factor
from slownet.report.scale import along, fitting
from slownet.report.text import number
from slownet.report.words import capital
from slownet.stats.effects import Levels, is_complete, marginal, shares
from slownet.units import spoken

WIDTH, ROW, LEFT = 440, 24, 150


def effect_figures(run: RunData, metric: str, factors: Sequence[Factor]) -> list[Figure]:
    """Return the figures of a metric's main effects, and of the shares if the grid is complete."""
    values: dict[Levels, float] = {
        tuple(str(cell.label[each.name]) for each in factors): cell.metrics[metric].mean
        for cell in run.cells
        if metric in cell.metrics
    }
    if not values:
        return []
    found = [_main(metric, factor, marginal(values, at), len(factors)) for at, factor in enumerate(factors)]
    if len(factors) > 1 and is_complete(values):
        found += _shares(metric, shares(values, [each.name for each in factors]))
    return found


def _main(metric: str, factor: Factor, means: dict[str, float], factors: int) -> Figure:
    """Draw the mean at each level of a factor."""
    places = dict(zip(factor.levels, factor.numbers or map(float, range(len(factor.levels))), strict=True))
    points = [(places[level], means[level], level) for level in factor.levels if level in means]
    title = f"{capital(spoken(metric))} along {factor.name}" + (", mean over the other factors" if factors > 1 else "")
    chart = Chart(title, along(places.values()), fitting(means.values()), factor.name, spoken(metric))
    chart.line([(x, y) for x, y, _ in points])
    chart.points(Point(x, y, f"{factor.name} {level}: {number(y)}") for x, y, level in points)
    rows = tuple((level, y) for _, y, level in points)
    note = "" if factor.numbers else "In the order of measurement, from the left: " + ", ".join(factor.levels) + "."
    return Figure(f"effect-{metric}-{factor.name}", title, chart.svg(), (factor.name, metric), rows, note)


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
    svg = element(title, WIDTH, 10 + ROW * len(named), "".join(drawn))
    rows = tuple((name, share) for name, share in named)
    note = "A pair's share is its interaction: what the sum of the two factors' effects does not explain."
    return [Figure(f"shares-{metric}", title, svg, ("factor", "share"), rows, note if len(named) > 2 else "")]
