"""The pictures that fit a run: a curve against delay, dots with intervals, latency by percentile, harm against cure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module

from slownet.judge.records.condition_columns import NONE, OPERATION
from slownet.judge.records.naming import capital, condition_phrase, conditions_phrase, metric_title, operation, varied, where
from slownet.judge.records.result import RunData
from slownet.model.units import spoken, unit_of
from slownet.report import scale
from slownet.report.chart import Chart, Point
from slownet.report.comparison import PREDICTION
from slownet.report.curves import Dot, curve_figure, dots, measured_point
from slownet.report.figure import Figure
from slownet.report.latency import latency_figures
from slownet.report.losses import loss_figure
from slownet.report.text import confidence, spelled
from slownet.report.view import ALONG, CURE, RATE, Row, View, baseline
from slownet.theory.stats import Summary

OF_RUNS = ("waterfall", "sequence", "series")
"""The modules of the pictures below a run's main one, in order: ``of_run`` of each draws none, one or more of a run."""
STEPS = 60
FEWEST = 2
"""Cells that dots compare."""


def figures(seen: View) -> list[Figure]:
    """Return the figures that fit a run, the most important one first."""
    latencies = latency_figures(seen.run)
    others = [] if latencies else [loss_figure(seen) or curve_figure(seen) or dot_figure(seen)]
    curves = [time_figure(seen), rate_figure(seen)] if seen.along else others
    main = [each for each in curves if each]
    return [*latencies, *main, *(figure for name in OF_RUNS for figure in _drawn(name, seen.run))]


def _drawn(module: str, run: RunData) -> Iterable[Figure]:
    found: Iterable[Figure] = import_module(f"slownet.report.{module}").of_run(run)
    return found


def time_figure(seen: View) -> Figure | None:
    """Draw the main metric along the varied number, with law and published points; None without a number."""
    rows = [row for row in seen.rows if row.delay is not None and row.time]
    if not rows:
        return None
    return _curve(seen, "time", rows, lambda row: row.time, seen.metric, seen.unit, lambda time: time)


def rate_figure(seen: View) -> Figure | None:
    """Draw requests per second along the varied number; None if no rate was measured."""
    rows = [row for row in seen.rows if row.delay is not None and row.rate and row.rate.mean > 0]
    if not rows:
        return None
    at_once = _at_once(seen.rows)
    curve = (lambda time: 1000 * at_once / time if time > 0 else math.nan) if at_once else None
    return _curve(seen, "rate", rows, lambda row: row.rate, RATE, f"{operation(seen.run)}s per second", curve)


def _curve(
    seen: View, name: str, rows: Sequence[Row], value: Callable[[Row], Summary | None], metric: str, unit_: str,
    curve: Callable[[float], float] | None,
) -> Figure:  # fmt: skip
    """Draw one curve; ``curve`` converts a time of the law to the drawn quantity."""
    published = sorted(
        (at, float(row[metric])) for at, row in seen.article.items() if isinstance(at, float) and row.get(metric)
    )
    measured = [(row, found) for row in rows if (found := value(row)) and row.delay is not None]
    numbers = [found.mean for _, found in measured] + [each for _, each in published]
    limits = [end for _, found in measured if found.known for end in (found.low, found.high)]
    xs = [row.delay for row, _ in measured if row.delay is not None] + [at for at, _ in published]
    y = scale.growing(numbers, limits) if name == "rate" else scale.from_zero([*numbers, *limits])
    x_title = "added round-trip delay, ms" if seen.along == ALONG else spoken(seen.along)
    what = metric_title(metric, seen.run) if name == "time" else capital(unit_)
    title = f"{what} against {x_title.partition(',')[0]}"
    chart = Chart(f"{seen.run.experiment}: {title}", scale.along(xs), y, x_title, unit_)
    if seen.law and curve:
        law, last = seen.law, max(xs)
        first = min(xs)
        steps = [first + (last - first) * step / STEPS for step in range(STEPS + 1)]
        start = seen.article.get(0.0, {}).get(seen.metric)
        if start is not None:
            line = ((at, curve(start + law.k.mean * seen.trip * at)) for at in steps)
            chart.line(line, "law with the published T0", "published", dashed=True)
        near = min(row.delay or 0.0 for row, _ in measured)  # before it nothing was measured that the law is of
        chart.line(((at, curve(law.t0.mean + law.k.mean * seen.trip * at)) for at in steps if at >= near), "law, fitted")
    points = [Point(at, each, f"{_at(seen, at)}: {each:g} published") for at, each in published]
    if points:
        chart.points(points, "published", "published", hollow=True)
    chart.points(
        [measured_point(row.delay or 0.0, found, row.title, unit_) for row, found in measured],
        _measured([found for _, found in measured]),
    )
    return Figure(name, title, chart.svg(), *_table(seen, measured, metric, unit_, dict(published)))


def dot_figure(seen: View) -> Figure | None:
    """Draw the main metric of cells that do not vary one number as dots with intervals; harms beside their cures."""
    if sum(row.time is not None for row in seen.rows) < FEWEST:
        return None
    is_cured = {NONE} < {str(cell.label.get(CURE, NONE)) for cell in seen.run.cells}
    found, before = [], ""
    for cell, row in zip(seen.run.cells, seen.rows, strict=True):
        if not row.time:
            continue
        group, title = "", where(cell.label, seen.run)
        if is_cured:
            harm = conditions_phrase(cell.label, [name for name in varied(seen.run) if name != CURE])
            group, title = (harm if harm != before else ""), condition_phrase(CURE, cell.label.get(CURE, NONE))
            before = harm
        hollow = is_cured and cell.label.get(CURE) == "none"
        says = f"{row.title}: {spelled(row.time)} {unit_of(seen.metric)}".rstrip()
        found.append(Dot(title, row.time, says, group, hollow, row.published_time, _theory(seen, cell.label)))
    one = is_cured and not any(OPERATION in cell.label for cell in seen.run.cells)  # several operations have no common start
    start = baseline(seen.run, seen.run.cells[0]) if one else None
    base = start.metrics[seen.metric].mean if start and seen.metric in start.metrics else None
    name = "cures" if is_cured else "cells"
    title = f"Harm against cure: {seen.unit}" if is_cured else f"{metric_title(seen.metric, seen.run)} by condition"
    measured = [(row, row.time) for row in seen.rows if row.time]
    published = {row.title: row.published_time for row in seen.rows if row.published_time}
    label = _measured([summary for _, summary in measured])
    drawn = dots(f"{seen.run.experiment}: {title}", found, seen.unit, label, "without a cure" if is_cured else "", base)
    return Figure(name, title, drawn, *_table(seen, measured, seen.metric, seen.unit, published))


def _theory(seen: View, label: Mapping[str, str]) -> float | None:
    """Return what a claim predicts of the main metric of a cell; None without such a claim."""
    claims = (each for each in seen.run.claims if each.kind == PREDICTION and each.metric == seen.metric)
    return next((each.expected for each in claims if each.cells[:1] == (label,)), None)


def _measured(found: Sequence[Summary]) -> str:
    wide = any(0 < each.half_width < math.inf for each in found)
    return f"measured, {confidence(found[0].confidence)} intervals" if wide else "measured"


def _at(seen: View, at: float) -> str:
    row = next((row for row in seen.rows if row.delay == at), None)
    return row.title if row else f"{spoken(seen.along)} {at:g}"


def _table(
    seen: View,
    measured: Iterable[tuple[Row, Summary]],
    metric: str,
    unit_: str,
    published: dict[float, float] | dict[str, float],
) -> tuple[tuple[str, ...], tuple[tuple[str | float | None, ...], ...]]:
    """Return the columns and rows of a figure's numbers; published ones stand at their conditions, measured there or not."""
    known: dict[str | float, float] = dict(published.items())
    rows: list[tuple[str | float | None, ...]] = []
    for row, found in measured:
        ends = (found.low, found.high) if found.known else (None, None)
        both = (row.title, row.delay)
        rows.append((row.title, found.mean, *ends, next((known.pop(key) for key in both if key in known), None)))
    left = ((key if isinstance(key, str) else _at(seen, key), value) for key, value in known.items())
    rows += [(condition, None, None, None, value) for condition, value in left]
    head: tuple[str, ...] = ("condition", unit_, "from", "to", "published")
    if not published:
        head, rows = head[:-1], [row[:-1] for row in rows]
    return head, tuple(rows)


def _at_once(rows: Iterable[Row]) -> float | None:
    """Return the number of concurrent requests (rate times time), None if the cells differ."""
    counts = [row.rate.mean * row.time.mean / 1000 for row in rows if row.rate and row.time]
    if not counts or max(counts) > 1.1 * min(counts):
        return None
    return math.fsum(counts) / len(counts)
