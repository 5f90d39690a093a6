"""The cells of a sweep as a grid: factors with their levels in order, and where named conditions lie on it. Pure."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.records.cell import Cell
from slownet.judge.records.condition_columns import condition
from slownet.judge.records.result import RunData
from slownet.links.conditions import profiles
from slownet.model.errors import SlownetError
from slownet.model.units import unit_of

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
