"""The plots of a report, as SVG with the colours of the page: time and rate against delay, or bars."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from slownet.law import Law
from slownet.report.text import confidence, trimmed
from slownet.report.view import ALONG, RATE, Row, View
from slownet.stats import Summary
from slownet.units import spoken

COLOURS = {
    "#010203": "var(--ink)",
    "#040506": "var(--rule)",
    "#070809": "var(--measured)",
    "#0a0b0c": "var(--published)",
}
"""Placeholder colours, each of which is replaced by a CSS variable, so that the plots follow light and dark mode."""
INK, RULE, MEASURED, PUBLISHED = COLOURS
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": RULE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
SIZE = (5.4, 3.5)
TITLE_WIDTH = 40
"""Characters per line of a bar's title; longer lines would leave no room for the bars."""
STEPS = 200
NEAR = 0.05
"""Minimum distance of ticks, as a fraction of the axis; closer labels would overlap."""

Point = tuple[float, Summary]
Curve = Callable[[float], float]


def time_plot(seen: View) -> str:
    """Plot time per operation against delay, as an ``<svg>`` element."""
    rows = [(row.delay, row) for row in seen.rows if row.delay is not None]
    measured = [(delay, row.time) for delay, row in rows if row.time]
    return _draw(seen, "time", measured, _published(seen, seen.metric), seen.unit, lambda time: time)


def rate_plot(seen: View) -> str | None:
    """Plot requests per second against delay, as an ``<svg>`` element; None if no rate was measured."""
    rows = [(row.delay, row) for row in seen.rows if row.delay is not None]
    measured = [(delay, row.rate) for delay, row in rows if row.rate and row.rate.mean > 0]
    if not measured:
        return None
    at_once = _at_once(seen.rows)
    curve = (lambda time: 1000 * at_once / time if time > 0 else math.nan) if at_once else None
    unit = "requests per second (log scale)"
    return _draw(seen, "rate", measured, _published(seen, RATE), unit, curve, log=True)


def bar_plot(seen: View) -> str | None:
    """Plot the main metric and its published values as bars, for cells that do not vary one number, as an ``<svg>`` element."""
    rows = [row for row in seen.rows if row.time is not None and row.time.mean > 0]
    if not rows:
        return None
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": f"{seen.run.directory.name}-bars"}):
        titles = [textwrap.fill(row.title, TITLE_WIDTH) for row in rows]
        lines = 1 + max(title.count("\n") for title in titles)
        figure = Figure(figsize=(SIZE[0], 0.8 + (0.2 + 0.15 * lines) * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        places = range(len(rows))
        axes.barh(places, [row.time.mean for row in rows if row.time], 0.5, color=MEASURED, label="measured")
        published = [(row.published_time, place) for row, place in zip(rows, places, strict=True) if row.published_time]
        if published:
            axes.plot(*zip(*published, strict=True), "D", color=PUBLISHED, mfc="white", label="published", zorder=4)
        axes.set_yticks(places, titles)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: trimmed(value)))
        axes.set_xlabel(f"{seen.unit} (log scale)")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        return inline(figure, f"{seen.run.experiment}: {seen.unit} by condition")


def _published(seen: View, metric: str) -> list[tuple[float, float]]:
    rows = [(delay, float(row[metric])) for delay, row in seen.article.items() if isinstance(delay, float) and row.get(metric)]
    return sorted(rows)


def _draw(
    seen: View,
    name: str,
    measured: Sequence[Point],
    published: Sequence[tuple[float, float]],
    unit: str,
    curve: Curve | None,
    log: bool = False,
) -> str:
    """Draw one plot; ``curve`` converts a time of the law to the plotted quantity."""
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": f"{seen.run.directory.name}-{name}"}):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        if log:
            _log_axis(axes)
        delays = [delay for delay, _ in measured] + [delay for delay, _ in published]
        if seen.law and curve:
            start = seen.article.get(0.0, {}).get(seen.metric)
            _draw_law(axes, seen.law, start, curve, max(delays))
        if published:
            axes.plot(*zip(*published, strict=True), "D", color=PUBLISHED, mfc="none", label="published")
        _draw_measured(axes, measured)
        if delays:
            axes.set_xticks(_ticks(delays), [trimmed(tick) for tick in _ticks(delays)])
        axes.set_xlabel("added round-trip delay, ms" if seen.along == ALONG else spoken(seen.along))
        axes.set_ylabel(unit)
        if not log:
            axes.set_ylim(bottom=0)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper right" if log else "upper left")
        return inline(figure, f"{seen.run.experiment}: {unit} against delay")


def _draw_measured(axes: Axes, points: Sequence[Point]) -> None:
    if not points:
        return
    wide = any(0 < summary.half_width < math.inf for _, summary in points)
    label = f"measured, {confidence(points[0][1].confidence)} intervals" if wide else "measured"
    delays = [delay for delay, _ in points]
    below = [summary.mean - summary.low if summary.known else 0.0 for _, summary in points]
    above = [summary.high - summary.mean if summary.known else 0.0 for _, summary in points]
    means = [summary.mean for _, summary in points]
    bars = (below, above)
    axes.errorbar(delays, means, bars, fmt="o", color=MEASURED, capsize=3, label=label, zorder=3)


def _draw_law(axes: Axes, law: Law, start: float | None, curve: Curve, last: float) -> None:
    """Draw the fitted law and, if ``start`` (the published T0 in ms) is given, the same k from there."""
    delays = [last * step / STEPS for step in range(STEPS + 1)]
    k, t0 = law.k.mean, law.t0.mean
    axes.plot(delays, [curve(t0 + k * d) for d in delays], "-", color=MEASURED, lw=1, label="law, fitted")
    if start is not None:
        times = [curve(start + k * delay) for delay in delays]
        axes.plot(delays, times, "--", color=PUBLISHED, lw=1, label="law with the published T0")


def _at_once(rows: Iterable[Row]) -> float | None:
    """Return the number of concurrent requests (rate times time), None if the cells differ."""
    counts = [row.rate.mean * row.time.mean / 1000 for row in rows if row.rate and row.time]
    if not counts or max(counts) > 1.1 * min(counts):
        return None
    return math.fsum(counts) / len(counts)


def _log_axis(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: trimmed(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _ticks(delays: Iterable[float]) -> list[float]:
    """Return the measured delays without those whose labels would overlap the one before."""
    ordered = sorted(set(delays))
    kept: list[float] = []
    for delay in ordered:
        if not kept or delay - kept[-1] >= NEAR * (ordered[-1] - ordered[0]):
            kept.append(delay)
    return kept


def inline(figure: Figure, label: str) -> str:
    """Convert a figure to an ``<svg>`` element for a page, without a fixed size and without ids that other plots share."""
    file = io.StringIO()
    # Figure.savefig would do the layout and draw the figure twice.
    FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    svg = file.getvalue()[file.getvalue().index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for colour, variable in COLOURS.items():
        svg = svg.replace(colour, variable)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
