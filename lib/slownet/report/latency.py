"""Latency by percentile, corrected beside uncorrected, on the axis of HdrHistogram's plots."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence

from slownet.judge.records.cell import Cell
from slownet.judge.records.naming import varied, where
from slownet.judge.records.result import RunData
from slownet.model.units import amount
from slownet.report import scale
from slownet.report.chart import Chart, Point
from slownet.report.figure import Figure
from slownet.report.scale import PERCENTILES, Percentiles

KINDS = {"corrected": "from when it was due", "uncorrected": "from when it was sent"}
PERCENTILE = re.compile(r"^(corrected|uncorrected)_p(\d+(?:_\d+)?)_s$")
MOST = 6
"""Cells that get a figure of their own."""

Curve = list[tuple[float, float]]
"""Percentiles below 100 with the latency in seconds, rising."""


def latency_figures(run: RunData) -> list[Figure]:
    """Draw a figure for each cell whose tool kept latencies by percentile; none if no cell has the corrected one."""
    cells = [(cell, curves) for cell in run.cells if (curves := _curves(cell))]
    if not any("corrected" in curves for _, curves in cells):
        return []
    ends = [value for _, curves in cells for curve in curves.values() for _, value in curve]
    high = max(percent for _, curves in cells for curve in curves.values() for percent, _ in curve)
    return [
        _figure(run, cell, curves, ends, high, number) for number, (cell, curves) in enumerate(cells[:MOST], 1)
    ]  # fmt: skip


def _figure(
    run: RunData, cell: Cell, curves: Mapping[str, Curve], ends: Sequence[float], high: float, number: int
) -> Figure:  # fmt: skip
    title = f"Latency by percentile{', ' + where(cell.label, run) if varied(run) else ''}"
    y = scale.fitting([1000 * value for value in ends])
    chart = Chart(f"{run.experiment}: {title}", Percentiles(high), y, "percentile, % (HdrHistogram's axis)", "latency, ms")
    rows: dict[float, dict[str, float]] = {}
    for kind, colour in (("uncorrected", "published"), ("corrected", "measured")):
        curve = curves.get(kind)
        if not curve:
            continue
        chart.line([(percent, 1000 * value) for percent, value in [(0.0, curve[0][1]), *curve]], colour=colour)
        for percent in (*(each for each in PERCENTILES if 0 < each < curve[-1][0]), curve[-1][0]):
            rows.setdefault(percent, {})[kind] = _at(curve, percent)
        marks = [_point(percent, found[kind], kind) for percent, found in sorted(rows.items()) if kind in found]
        chart.points(marks, f"{kind}: {KINDS[kind]}", colour)
    found = tuple(
        (f"{percent:.6g} %", each.get("corrected"), each.get("uncorrected")) for percent, each in sorted(rows.items())
    )
    head = ("percentile", "corrected, s", "uncorrected, s")
    if "corrected" not in curves:
        head, found = (head[0], head[2]), tuple((row[0], row[2]) for row in found)  # type: ignore[assignment,misc]
    return Figure(f"latency-{number}", title, chart.svg(), head, found)


def _point(percent: float, value: float, kind: str) -> Point:
    said = amount(value, "s")
    return Point(percent, 1000 * value, f"{percent:.6g} % of requests: at most {said}, {kind} ({KINDS[kind]})")


def _curves(cell: Cell) -> dict[str, Curve]:
    """Return the latencies of a cell by kind, of all its good samples together."""
    good = [sample for sample in cell.samples if sample.get("status") == "ok"]
    found = {}
    for kind in KINDS:
        spectra = [spectrum for sample in good if (spectrum := (sample.get("facts") or {}).get(f"{kind}_spectrum"))]
        curve = _pooled(spectra) if spectra else _printed(cell, kind)
        if len(curve) > 1:
            found[kind] = curve
    return found


def _pooled(spectra: Sequence[Sequence[Sequence[float]]]) -> Curve:
    """Join spectra [latency, part of the requests up to it, their number].

    The slowest of n is drawn at 1 - 1/2n, because 100 % has no place on the axis.
    """
    total = sum(spectrum[-1][2] for spectrum in spectra)
    most = 100 * (1 - 0.5 / total)
    steps = [([step[0] for step in spectrum], [step[2] for step in spectrum]) for spectrum in spectra]
    found: Curve = []
    for value in sorted({step[0] for spectrum in spectra for step in spectrum}):
        upto = sum(counts[at - 1] for values, counts in steps if (at := bisect.bisect_right(values, value)))
        found.append((min(100 * upto / total, most), value))
    return found


def _printed(cell: Cell, kind: str) -> Curve:
    """Return the percentiles that a tool printed."""
    found = []
    for name, summary in cell.metrics.items():
        match = PERCENTILE.match(name)
        if match and match[1] == kind:
            found.append((float(match[2].replace("_", ".")), summary.mean))
    return sorted(found)


def _at(curve: Curve, percent: float) -> float:
    """Return the smallest latency that this part of the requests does not exceed."""
    return next((value for upto, value in curve if upto >= percent - 1e-9), curve[-1][1])
