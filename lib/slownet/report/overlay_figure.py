"""Several runs side by side: one picture of their main numbers, and their answers in a table."""

from __future__ import annotations

from collections.abc import Sequence

from slownet.judge.records.naming import metric_title
from slownet.model.units import spoken, unit_of
from slownet.report import scale
from slownet.report.chart import COLOURS, FREE, Chart, Point
from slownet.report.curves import Dot, dots
from slownet.report.figure import Figure
from slownet.report.text import spelled
from slownet.report.view import ALONG, View


def names(views: Sequence[View]) -> list[str]:
    """Return a name for each run: its experiment's if that is the only such run, else its directory's."""
    experiments = [each.run.experiment for each in views]
    return [
        each.run.experiment if experiments.count(each.run.experiment) == 1 else each.run.directory.resolve().name
        for each in views
    ]


def overlay_figure(views: Sequence[View]) -> Figure | None:
    """Draw the main numbers of several runs in one picture; None if they measured different things."""
    metrics = {each.metric for each in views if any(row.time for row in each.rows)}
    if len(views) < 2 or len(metrics) != 1:
        return None
    along = {each.along for each in views}
    colours = FREE if any(each.run.published for each in views) else COLOURS
    few = len(views) <= len(colours)
    svg = _curves(views, colours) if len(along) == 1 and "" not in along and few else _dots(views)
    rows = [
        (row.title, name, row.time.mean, row.time.low if row.time.known else None, row.time.high if row.time.known else None)
        for name, each in zip(names(views), views, strict=True)
        for row in each.rows
        if row.time
    ]
    titles = [row[0] for row in rows]
    rows.sort(key=lambda row: titles.index(row[0]))
    return Figure("together", _title(views[0]), svg, ("condition", "run", views[0].unit, "from", "to"), tuple(rows))


def _title(seen: View) -> str:
    return f"{metric_title(seen.metric, seen.run)} of all runs"


def _curves(views: Sequence[View], colours: Sequence[str]) -> str:
    found = [row for each in views for row in each.rows if row.time and row.delay is not None]
    xs = [row.delay for row in found if row.delay is not None]
    ends = [
        end for row in found if row.time for end in ((row.time.mean, row.time.high) if row.time.known else (row.time.mean,))
    ]
    seen = views[0]
    x_title = "added round-trip delay, ms" if seen.along == ALONG else spoken(seen.along)
    chart = Chart(_title(seen), scale.along(xs), scale.from_zero(ends), x_title, seen.unit)
    for name, each, colour in zip(names(views), views, colours, strict=False):
        if each.law:
            law, delays = each.law, [row.delay for row in each.rows if row.time and row.delay is not None]
            chart.line(((at, law.t0.mean + law.k.mean * each.trip * at) for at in (min(delays), max(delays))), colour=colour)
        rows = [(row, row.time) for row in each.rows if row.time and row.delay is not None]
        points = [
            Point(
                row.delay or 0.0, time.mean, f"{name}, {row.title}: {spelled(time)} {each.unit}",
                *((time.low, time.high) if time.known else (None, None)),
            )
            for row, time in rows
        ]  # fmt: skip
        chart.points(points, name, colour)
    return chart.svg()


def _dots(views: Sequence[View]) -> str:
    """Draw a row for each run below each condition."""
    titles = list(dict.fromkeys(row.title for each in views for row in each.rows if row.time))
    found = []
    for title in titles:
        group = title
        for name, each in zip(names(views), views, strict=True):
            row = next((row for row in each.rows if row.title == title and row.time), None)
            if row and row.time:
                says = f"{name}, {title}: {spelled(row.time)} {unit_of(each.metric)}".rstrip()
                found.append(Dot(name, row.time, says, group))
                group = ""
    return dots(_title(views[0]), found, views[0].unit, "measured")
