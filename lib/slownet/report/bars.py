"""A run whose conditions are no numbers: one bar a cell, the published number beside it."""

from __future__ import annotations

import matplotlib
from matplotlib.figure import Figure

from slownet.report.plots import MEASURED, PUBLISHED, SIZE, STYLE, inline
from slownet.report.text import number
from slownet.report.view import View

BAR = 0.32
"""The height of one cell's bar, in inches."""


def bar_plot(seen: View) -> str | None:
    """The main metric of each cell, as an ``<svg>`` element; None when nothing was measured."""
    rows = [row for row in seen.rows if row.time is not None]
    if not rows:
        return None
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": f"{seen.run.directory.name}-bars", "axes.grid.axis": "x"}):
        figure = Figure(figsize=(SIZE[0], max(2.0, 0.8 + BAR * len(rows))), layout="constrained")
        axes = figure.add_subplot()
        places = range(len(rows))
        means = [row.time.mean for row in rows if row.time]
        bars = axes.barh(places, means, height=0.6, color=MEASURED, alpha=0.8, label="measured")
        axes.bar_label(bars, [number(mean, 3) for mean in means], padding=3)
        told = [(place, row.published_time) for place, row in enumerate(rows) if row.published_time is not None]
        if told:
            axes.plot(
                [time for _, time in told], [place for place, _ in told], "D", color=PUBLISHED, mfc="none", label="published"
            )
        axes.set_yticks(list(places), [row.title.removeprefix(f"{seen.along} ") for row in rows])
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.set_xlabel(seen.unit)
        axes.legend(loc="lower right")
        return inline(figure, f"{seen.run.experiment}: {seen.unit} of each {seen.along}")
