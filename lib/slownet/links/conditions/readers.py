"""Reads a condition's fields from texts: single values, and all fields by their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, TypeVar

from slownet.links.conditions import impairment, other_names
from slownet.links.conditions.field_row import Row
from slownet.links.conditions.impairment import Chance, Loss
from slownet.links.conditions.jitter import Table
from slownet.model.errors import ConditionError, nearest
from slownet.model.units import size, whole_number

Fields = dict[str, Any]
"""A condition's attributes by their names; each has a type of its own."""
Model = TypeVar("Model", Chance, Loss)
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")


def fields(words: Mapping[str, Row], given: Mapping[str, object]) -> Fields:
    """Return a condition's attributes from the stated fields; None gives a field's default.

    words: the row of each field that can be stated. Raises UnitError, ConditionError.
    """
    for name in given:
        if name not in words:
            raise ConditionError(f"a condition has no field '{name}'", fix=other_names.field(name, words))
    values: Fields = {}
    for row in dict.fromkeys(row for name, row in words.items() if name in given):
        values |= _of_row(row, given)
    return values


def _of_row(row: Row, given: Mapping[str, object]) -> Fields:
    """Read one row. Fields that are None reset attributes first, so that a field with a value wins over them."""
    stated = [word for word in row.stated if given.get(word.name) is not None]
    for one, other in combinations(stated, 2):
        if set(one.sets) & set(other.sets):
            raise ConditionError(f"a condition takes {one.name} or {other.name}, not both", fix=row.contrast)
    taken_back = [word for word in row.stated if word.name in given and word not in stated]
    if row.narrowed and any(len(word.sets) == 1 and word.name in given for word in row.stated):
        taken_back = [word for word in taken_back if len(word.sets) == 1]
    values = {name: row.default for word in taken_back for name in word.sets}
    return values | {name: word.read(given[word.name]) for word in stated for name in word.sets}


def chance(name: str) -> Callable[[Any], Chance | None]:
    """Return a reader for the probability of a field that affects single packets."""
    return lambda value: _any(value if isinstance(value, Chance) else impairment.chance(value, name))


def loss(value: Any) -> Loss | None:
    """Read a loss. Raises UnitError, ConditionError."""
    return _any(impairment.loss(value))


def _any(value: Model) -> Model | None:
    """Return None for 0 %, or a link that loses nothing would count as lossy."""
    return None if isinstance(value, Chance) and not value.probability else value


def whole(name: str, least: int) -> Callable[[Any], int]:
    """Return a reader for whole numbers of at least `least`."""

    def read(value: Any) -> int:
        number = None if isinstance(value, bool) else whole_number(str(value))
        if number is None or number < least:
            raise ConditionError(f"{name} {value!r} is not a whole number of {least} or more")
        return number

    return read


def octets(name: str, most: int) -> Callable[[Any], int | None]:
    """Return a reader for numbers of bytes; 0 gives None."""

    def read(value: Any) -> int | None:
        number = size(value)
        if number > most:
            raise ConditionError(f"{name} '{value}' is more than {most} B", fix="give a smaller one")
        return number or None

    return read


def flag(name: str) -> Callable[[Any], bool]:
    """Return a reader for True, False, "on" or "off"."""

    def read(value: Any) -> bool:
        if value in (True, "on", False, "off"):
            return value in (True, "on")
        raise ConditionError(f"{name} {value!r} is neither on nor off", fix="give True or False")

    return read


def distribution(name: str | Table) -> str | Table:
    """Read the name of one of netem's distributions, or take a measured one. Raises ConditionError with the nearest name."""
    if isinstance(name, Table):
        return name
    if name not in DISTRIBUTIONS:
        raise ConditionError(f"no distribution '{name}'", fix=nearest(str(name), DISTRIBUTIONS))
    return name
