"""The cells of a run or a sweep as a grid: factors with their levels in order, and two of them as a matrix. Pure."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.records.cell import Cell
from slownet.judge.records.condition_columns import condition
from slownet.judge.records.intervals import Scope
from slownet.judge.records.naming import capital, condition_phrase, operation
from slownet.judge.records.result import RunData
from slownet.links.conditions import profiles
from slownet.model.errors import SlownetError
from slownet.model.units import unit_of
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
            yield float(at) * trip(column), cell.summary(seen.metric, Scope.WITHIN_RUN)


ZERO = ("loss", "jitter", "duplicate", "reorder", "corrupt")
"""Conditions that a named one lacks unless it sets them."""


@dataclass(frozen=True)
class Factor:
    """A factor with at least two levels, in the order of their numbers if all have one."""

    name: str
    levels: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    """Of the levels; empty if one has none."""
    unit: str = ""
    """Of the numbers."""

    @property
    def title(self) -> str:
        """The name with the unit of its numbers, for an axis."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


def factors(run: RunData) -> list[Factor]:
    """Return the factors that vary in a run, those with the most levels first."""
    found: dict[str, dict[str, float | None]] = {}
    for cell in run.cells:
        for name, text in cell.label.items():
            levels = found.setdefault(name, {})
            if str(text) not in levels:  # reading it is what takes long, and a map has thousands of cells
                levels[str(text)] = _number(name, str(text))
    made = [_factor(name, levels) for name, levels in found.items() if len(levels) > 1]
    return sorted(made, key=lambda each: -len(each.levels))


def _factor(name: str, levels: Mapping[str, float | None]) -> Factor:
    numbers = {text: value for text, value in levels.items() if value is not None}
    if len(numbers) < len(levels):
        return Factor(name, tuple(levels))
    ordered = sorted(numbers, key=numbers.__getitem__)
    columns = [column for column, _ in _columns(name, ordered[0])]
    return Factor(
        name, tuple(ordered), tuple(numbers[text] for text in ordered), unit_of(columns[0]) if len(columns) == 1 else ""
    )


def _columns(name: str, text: str) -> list[tuple[str, float]]:
    """Return the columns that a level fills with a number, and the number in each."""
    try:
        return [(column, value) for column, value in condition({name: text}).items() if isinstance(value, int | float)]
    except SlownetError:
        return []


def _number(name: str, text: str) -> float | None:
    """Return the number of a level in the unit of its column; that of a text without a unit is the text."""
    values = _columns(name, text)
    if len(values) == 1:
        return float(values[0][1])
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def panels(run: RunData, across: Factor, up: Factor) -> Iterator[tuple[str, dict[tuple[str, str], Cell]]]:
    """Yield, for each combination of the other factors, its name and its cells by the levels of two factors."""
    found: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in run.cells:
        others = ", ".join(f"{name} {text}" for name, text in cell.label.items() if name not in (across.name, up.name))
        found.setdefault(others, {})[str(cell.label[across.name]), str(cell.label[up.name])] = cell
    fixed = {name for name in (run.cells[0].label if run.cells else {}) if name not in {each.name for each in factors(run)}}
    for others, cells in found.items():
        words = [word for word in others.split(", ") if word.partition(" ")[0] not in fixed]
        yield ", ".join(filter(None, words)), cells


def named(across: Factor, up: Factor) -> list[tuple[str, float, float]]:
    """Return the named conditions on a map of two numeric factors: name, place along each in levels from 0."""
    found = []
    for each in profiles.rows():
        places = [_place(factor, each) for factor in (across, up)]
        if each.fields and places[0] is not None and places[1] is not None:
            found.append((each.name, places[0], places[1]))
    return found


def _place(factor: Factor, row: profiles.Named) -> float | None:
    """Return where a named condition lies among the levels of a factor; None if it does not."""
    text = row.fields.get(factor.name, row.fields.get(f"{factor.name}_down"))
    number = _number(factor.name, str(text)) if text is not None else 0.0 if factor.name in ZERO else None
    return None if number is None or not factor.numbers else place(factor.numbers, number)


def place(numbers: Sequence[float], number: float) -> float | None:
    """Return where a number lies among ordered ones, in positions from 0; None outside them."""
    if not numbers[0] <= number <= numbers[-1]:
        return None
    at = bisect.bisect_right(numbers, number) - 1
    if at == len(numbers) - 1:
        return float(at)
    return at + (number - numbers[at]) / (numbers[at + 1] - numbers[at])
