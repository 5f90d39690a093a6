"""Curves against delay, one for each law that a run claims, and dots with intervals for cells that lie on no law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.records.cell import Cell
from slownet.judge.records.intervals import Scope
from slownet.judge.records.naming import conditions_phrase, metric_title
from slownet.judge.records.samples import cell_key
from slownet.model.errors import NoCellError, SlownetError
from slownet.report import scale
from slownet.report.chart import FREE, RIGHT, TRIANGLE, WIDTH, Chart, Point, clipped
from slownet.report.figure import Figure
from slownet.report.text import spelled, trimmed
from slownet.report.view import ALONG, View
from slownet.theory.law import Law, fit
from slownet.theory.stats import Summary

ROW, GROUP = 36, 16
INDENT = 8
BOLD = 0.9
"""The part of a text's letters that fit in bold."""


@dataclass(frozen=True)
class Dot:
    """One row: its title, its number, its text, the heading above it, and the published and the predicted number."""

    title: str
    value: Summary
    says: str
    group: str = ""
    hollow: bool = False
    published: float | None = None
    theory: float | None = None


@dataclass(frozen=True)
class _Rows:
    """A scale of rows from the top; `Chart` counts from below."""

    height: float

    def at(self, value: float) -> float:
        return 1 - value / self.height

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return []


def dots(label: str, rows: Sequence[Dot], unit: str, measured: str, hollow: str = "", base: float | None = None) -> str:
    """Draw rows of dots with their titles above them, as an ``<svg>`` element.

    measured, hollow: the legend of filled and hollow dots; base: a number to draw a line at.
    """
    others = [each for row in rows for each in (row.published, row.theory) if each]
    numbers = [*(row.value.mean for row in rows), *others]
    limits = [end for row in rows if row.value.known for end in (row.value.low, row.value.high)]
    across = scale.fitting(numbers, limits)
    high = GROUP * sum(bool(row.group) for row in rows) + ROW * len(rows)
    chart = Chart(label, across, _Rows(high), unit, "", high + 78.0, left=14)
    if base is not None and base > 0:
        chart.rule(base, "healthy")
    at, is_grouped = 0.0, any(row.group for row in rows)
    for row in rows:
        at += GROUP if row.group else 0
        if row.group:
            chart.text(at - 4, clipped(row.group, BOLD * (WIDTH - RIGHT)), "group")
        chart.text(at + 12, clipped(row.title, WIDTH - RIGHT - 2 * INDENT), "small", INDENT if is_grouped else 0)
        middle = at + 21
        if row.theory:
            chart.points(
                [Point(row.theory, middle, f"{row.title}: {row.theory:.4g} predicted")], "theory", "third", True, TRIANGLE
            )
        chart.across(
            [Point(row.value.mean, middle, row.says, *ends(row.value))], hollow if row.hollow else measured, row.hollow
        )
        if row.published:
            chart.points(
                [Point(row.published, middle, f"{row.title}: {row.published:g} published")], "published", "published", True
            )
        at += ROW
    return chart.svg()


FEWEST = 3
"""Delays that a curve needs: two lie on a straight line in any case."""


@dataclass(frozen=True)
class _Curve:
    """The cells of one law, by delay in ms."""

    label: Mapping[str, str]
    points: tuple[tuple[float, Cell], ...]
    law: Law


def curve_figure(seen: View) -> Figure | None:
    """Draw the main metric of each law with a fitted line, and published points; None without laws of some cells."""
    curves = _curves(seen)
    if not curves:
        return None
    differing = [name for name in curves[0].label if len({str(each.label.get(name)) for each in curves}) > 1]
    published = {cell_key(cell.label): row.published_time for cell, row in zip(seen.run.cells, seen.rows, strict=True)}
    measured = [cell.metrics[seen.metric] for each in curves for _, cell in each.points]
    times = [end for time in measured for end in ((time.mean, time.high) if time.known else (time.mean,))]
    times += [time for each in curves for _, cell in each.points if (time := published[cell_key(cell.label)])]
    title = f"{metric_title(seen.metric, seen.run)} against added round-trip delay"
    across = scale.along(at for each in curves for at, _ in each.points)
    chart = Chart(f"{seen.run.experiment}: {title}", across, scale.from_zero(times), "added round-trip delay, ms", seen.unit)
    rows: list[tuple[str | float | None, ...]] = []
    for number, each in enumerate(curves):
        colour = FREE[number % len(FREE)]
        name = conditions_phrase(each.label, differing) or "measured"
        delays = (each.points[0][0], each.points[-1][0])
        chart.line(((at, each.law.at(at).mean) for at in delays), f"{name}: {trimmed(each.law.k.mean, 3)} round trips", colour)
        chart.points(
            [measured_point(at, cell.metrics[seen.metric], cell.title, seen.unit) for at, cell in each.points], "", colour
        )
        known = [(at, cell, time) for at, cell in each.points if (time := published[cell_key(cell.label)])]
        chart.points(
            [Point(at, time, f"{cell.title}: {time:g} published") for at, cell, time in known], "published", "published", True
        )
        rows += [(cell.title, cell.metrics[seen.metric].mean, published[cell_key(cell.label)]) for _, cell in each.points]
    return Figure("curves", title, chart.svg(), ("condition", seen.unit, "published"), tuple(rows))


def _curves(seen: View) -> list[_Curve]:
    """Return the curves of all laws of some cells, each set of cells once; without cells that failed."""
    found: dict[str, _Curve] = {}
    for claim in seen.run.claims:
        label = claim.parameters.get("at")
        if claim.kind != "law" or claim.metric != seen.metric or not label or cell_key(label) in found:
            continue
        cells = [cell for cell in _cells(seen, label) if seen.metric in cell.metrics and ALONG in cell.condition]
        points = tuple(sorted(((float(cell.condition[ALONG]), cell) for cell in cells), key=lambda pair: pair[0]))
        if len(points) < FEWEST:
            continue
        try:
            law = fit((at, cell.summary(seen.metric, Scope.WITHIN_RUN)) for at, cell in points)
        except SlownetError:  # all at the same delay
            continue
        found[cell_key(label)] = _Curve(label, points, law)
    return list(found.values())


def _cells(seen: View, label: Mapping[str, str]) -> tuple[Cell, ...]:
    """Return the cells of a claim; none where others alone were asked for."""
    try:
        return seen.run.where(label).cells
    except NoCellError:
        return ()


def ends(number: Summary) -> tuple[float | None, float | None]:
    """Return the ends of an interval as a chart draws them: none if it has no width or is not known."""
    return (number.low, number.high) if number.known and number.low != number.high else (None, None)


def measured_point(at: float, number: Summary, title: str, unit: str) -> Point:
    """Return the mark of a measured number with its interval."""
    return Point(at, number.mean, f"{title}: {spelled(number)} {unit}", *ends(number))
