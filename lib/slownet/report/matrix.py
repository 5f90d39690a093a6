"""Two factors as a matrix: what a run measured at each pair of their values, in round trips where delays were varied, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slownet.judge.records.cell import Cell
from slownet.judge.records.naming import capital, condition_phrase, operation
from slownet.model.errors import SlownetError
from slownet.report.grid import factors
from slownet.report.text import trimmed
from slownet.report.view import View
from slownet.theory.law import fit, per_round_trip, trip
from slownet.theory.stats import Summary

DIGITS = 3
LEAST_CELLS = 6
"""Fewer pairs are read as easily one below the other."""
MOST_COLUMNS = 6
FILLED = 0.5
"""Least share of the pairs that were measured."""


@dataclass(frozen=True)
class Matrix:
    """A table of two factors: the values of one beside each row, those of the other above each column."""

    title: str
    down: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def matrix(seen: View) -> Matrix | None:
    """Return the matrix of a run's main metric; None unless two factors were varied, or two and one delay."""
    levels = _levels(seen)
    delay = _delay(levels)
    names = [name for name in levels if name != delay]
    if len(names) != 2 or (delay and not seen.metric.endswith("_ms")):
        return None
    down, across = sorted(names, key=lambda name: -len(levels[name]))
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in seen.run.cells:
        groups.setdefault((str(cell.label.get(down, "")), str(cell.label.get(across, ""))), []).append(cell)
    shown = {pair: text for pair, cells in groups.items() if (text := _text(seen, cells, delay))}
    pairs = len(levels[down]) * len(levels[across])
    if pairs < LEAST_CELLS or len(levels[across]) > MOST_COLUMNS or len(shown) < FILLED * pairs:
        return None
    title = f"Round trips per {operation(seen.run)}" if delay else capital(seen.unit)
    rows = tuple((_level(down, row), tuple(shown.get((row, column), "-") for column in levels[across])) for row in levels[down])
    return Matrix(title, down.replace("_", " "), tuple(_level(across, column) for column in levels[across]), rows)


def _level(name: str, value: str) -> str:
    return condition_phrase(name, value).removeprefix(f"{name.replace('_', ' ')} ")


def _levels(seen: View) -> dict[str, list[str]]:
    """Return what differs between the cells, each with its values: in the order of their numbers, or else of measurement."""
    found: dict[str, dict[str, None]] = {}
    for cell in seen.run.cells:
        for name, value in cell.label.items():
            found.setdefault(name, {})[str(value)] = None
    numbered = {each.name: list(each.levels) for each in factors(seen.run) if each.numbers}
    return {
        name: numbered.get(name, list(values))
        for name, values in found.items()
        if len(values) > 1 or any(name not in cell.label for cell in seen.run.cells)
    }


def _delay(levels: dict[str, list[str]]) -> str:
    """Return the one factor of three that is a delay of a round trip; empty if none exists."""
    found = [name for name in levels if per_round_trip(f"{name}_ms") is not None]
    return found[0] if len(levels) == 3 and len(found) == 1 else ""


def _text(seen: View, cells: list[Cell], delay: str) -> str:
    """Return the number of a pair; empty if none exists."""
    if delay:
        try:
            law = fit(_points(seen, cells, delay))
        except SlownetError:
            return ""
        return trimmed(law.k.mean, DIGITS)
    known = [cell.metrics[seen.metric].mean for cell in cells if seen.metric in cell.metrics]
    return trimmed(known[0], DIGITS) if len(known) == 1 else ""


def _points(seen: View, cells: list[Cell], delay: str) -> Iterator[tuple[float, Summary]]:
    column = f"{delay}_ms"
    for cell in cells:
        at = cell.condition.get(column)
        if isinstance(at, int | float) and seen.metric in cell.metrics:
            yield float(at) * trip(column), cell.within_run(seen.metric)
