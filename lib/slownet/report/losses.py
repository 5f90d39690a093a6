"""Throughput against loss, both logarithmic, with theory: one line for each other condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.judge.claim.description import THEORY
from slownet.judge.records.cell import Cell
from slownet.judge.records.naming import conditions_phrase, metric_title, varied
from slownet.judge.records.samples import cell_key
from slownet.model.units import unit_of
from slownet.report import scale
from slownet.report.chart import FREE, TRIANGLE, Chart, Point
from slownet.report.curves import measured_point
from slownet.report.figure import Figure
from slownet.report.text import trimmed
from slownet.report.view import View

RATES = ("mbit_per_s", "mib_per_s")
LOSS = "loss"
"""The prefix of conditions that are a percentage of lost packets."""
FEWEST = 3
"""Shares that a line needs."""


@dataclass(frozen=True)
class _Line:
    """The cells that differ only in their loss, from the smallest one."""

    name: str
    cells: tuple[tuple[float, Cell], ...]


def loss_figure(seen: View) -> Figure | None:
    """Draw a rate against the share of lost packets; None unless every cell has both and a few shares are alike otherwise."""
    lines = _lines(seen)
    if not lines:
        return None
    theory, claimed = _theory(seen), _claimed(seen)
    cells = [cell for line in lines for _, cell in line.cells]
    numbers = [cell.metrics[seen.metric].mean for cell in cells] + [*theory.values()]
    title = f"{metric_title(seen.metric, seen.run)} against loss"
    across = scale.along_levels(at for line in lines for at, _ in line.cells)
    chart = Chart(f"{seen.run.experiment}: {title}", across, scale.log(numbers), "packets lost, %", seen.unit)
    published = {row.title: row.published_time for row in seen.rows if row.published_time}
    rows: list[tuple[str | float | None, ...]] = []
    for line, colour in zip(lines, FREE, strict=False):
        for at, cell in line.cells:
            if limits := claimed.get(cell_key(cell.label)):
                says = f"{cell.title}: {trimmed(limits[0], 3)} to {trimmed(limits[1], 3)} {seen.unit} claimed"
                chart.stroke((at, limits[0]), (at, limits[1]), says, "range that is claimed", "soft", thin=True)
        expected = [(at, theory[key]) for at, cell in line.cells if (key := cell_key(cell.label)) in theory]
        chart.line(expected, "", colour, dashed=True)
        chart.line([(at, cell.metrics[seen.metric].mean) for at, cell in line.cells], line.name, colour)
        chart.points(
            [measured_point(at, cell.metrics[seen.metric], cell.title, unit_of(seen.metric)) for at, cell in line.cells],
            "",
            colour,
        )
        said = [Point(*each, f"{line.name}: {each[1]:.4g} {unit_of(seen.metric)} by theory") for each in expected]
        chart.points(said, "theory", colour, True, TRIANGLE)
        known = [Point(at, value, f"{cell.title}: {value:g} published")
                 for at, cell in line.cells if (value := published.get(cell.title))]  # fmt: skip
        chart.points(known, "published", "published", True)
        rows += [_row(seen, cell, theory, published) for _, cell in line.cells]
    head = ("condition", seen.unit, "from", "to", "theory", "published")
    keep = [number for number, name in enumerate(head) if number < 4 or any(row[number] is not None for row in rows)]
    return Figure("loss", title, chart.svg(), tuple(head[each] for each in keep),
                  tuple(tuple(row[each] for each in keep) for row in rows))  # fmt: skip


def _lines(seen: View) -> list[_Line]:
    """Return the lines; none if they are too many, or if a cell belongs to none."""
    measured = [cell for cell in seen.run.cells if cell.metrics.get(seen.metric)]
    names = [name for name in varied(seen.run) if name.startswith(LOSS)]
    if seen.metric not in RATES or len(names) != 1 or len(measured) < FEWEST:
        return []
    name, groups = names[0], dict[str, list[tuple[float, Cell]]]()
    others = [each for each in varied(seen.run) if each != name]
    for cell in measured:
        share = cell.condition.get(f"{name}_percent")
        if not isinstance(share, int | float) or share <= 0 or cell.metrics[seen.metric].mean <= 0:
            return []
        said = conditions_phrase(cell.label, others) or "measured"
        groups.setdefault(said, []).append((float(share), cell))
    if len(groups) > len(FREE) or max(len(group) for group in groups.values()) < FEWEST:
        return []
    return [_Line(said, tuple(sorted(group, key=lambda pair: pair[0]))) for said, group in groups.items()]


def _theory(seen: View) -> dict[str, float]:
    """Return what claims compute of the main metric, by cell."""
    claims = [claim for claim in seen.run.claims if claim.metric == seen.metric]
    found = [each for claim in claims for each in claim.parameters.get(THEORY) or ()]
    return {cell_key(each["cell"]): float(each["value"]) for each in found if each["value"] > 0}


def _claimed(seen: View) -> dict[str, tuple[float, float]]:
    """Return the range in which a claim states that the main metric of a cell lies, where both of its ends are given."""
    found = {}
    for claim in seen.run.claims:
        least, most = claim.margin
        if claim.kind == "bound" and claim.metric == seen.metric and len(claim.cells) == 1 and least and most:
            found[cell_key(claim.cells[0])] = (least, most)
    return found


def _row(
    seen: View, cell: Cell, theory: Mapping[str, float], published: Mapping[str, Any]
) -> tuple[str | float | None, ...]:  # fmt: skip
    number = cell.metrics[seen.metric]
    interval: Sequence[float | None] = (number.low, number.high) if number.known else (None, None)
    return (cell.title, number.mean, *interval, theory.get(cell_key(cell.label)), published.get(cell.title))
