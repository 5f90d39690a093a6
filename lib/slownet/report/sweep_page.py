"""The report page of a sweep: one self-contained HTML file with its maps."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from slownet.records.result import RunData, clock
from slownet.report.effects import effect_figures
from slownet.report.figure import Figure
from slownet.report.grid import factors
from slownet.report.maps import metric_maps, verdict_maps
from slownet.report.page import REPORT, template, write_html
from slownet.report.scatter import is_sparse, metric_points, verdict_points
from slownet.report.view import position_notes

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
    names = [metric] if metric else list(dict.fromkeys(name for cell in run.cells for name in cell.metrics))[:METRICS]
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


def write_sweep(
    run: RunData, verdicts: Mapping[str, str], criterion: str, metric: str, flips: Sequence[str],
    aside: Sequence[Mapping[str, Any]],
) -> Path:  # fmt: skip
    """Write ``report.html`` into the sweep's folder. Raises SlownetError."""
    met = sum(each == "supported" for each in verdicts.values())
    text = template("sweep.html.j2").render(
        run=run,
        title=run.experiment,
        question=run.facts.get("question") or run.experiment,
        answer=f"{met} of {len(verdicts)} cells meet {criterion}." if verdicts else "",
        flips=flips,
        positions=position_notes(run),
        clock=clock(run.facts),
        samples=sum(len(cell.samples) for cell in run.cells),
        failed=[(cell.title, cell.error) for cell in run.cells if cell.error],
        aside=aside,
        unmapped=f"More than {LARGEST:,} cells are not drawn as maps; the samples have them all." * (len(run.cells) > LARGEST),
        figures=sweep_figures(run, verdicts, criterion, metric),
        facts=[(name, run.facts[name]) for name in FACTS if run.facts.get(name) not in (None, {}, "")],
        script=resources.files("slownet.report").joinpath("page.js").read_text("utf-8"),
        folder=html.escape(str(run.directory)),
    )
    return write_html(run.directory / REPORT, text)
