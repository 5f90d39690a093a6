"""Dots with intervals, one row each, for cells that do not lie along one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slownet.report import scale
from slownet.report.chart import RIGHT, TRIANGLE, WIDTH, Chart, Point, clipped
from slownet.report.curves import ends
from slownet.theory.stats import Summary

ROW, GROUP = 36, 16
INDENT = 8
BOLD = 0.9
"""The part of a text's letters that fit in bold."""


@dataclass(frozen=True)
class Dot:
    """One row: its title, its number, what it says, the heading above it, and the published and the predicted number."""

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
