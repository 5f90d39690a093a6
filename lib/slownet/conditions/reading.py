"""A condition's fields read from texts: the readers of single values, and all fields by their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, TypeVar

from slownet.conditions import impairment
from slownet.conditions.impairment import Chance, Loss
from slownet.conditions.jitter import Table
from slownet.conditions.row import Row
from slownet.errors import ConditionError, nearest
from slownet.units import size

Model = TypeVar("Model", Chance, Loss)
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")


def fields(words: Mapping[str, Row], given: Mapping[str, Any]) -> dict[str, Any]:
    """A condition's own attributes from what was stated of it; None is a field's default.

    words: all that can be stated, and of which row each is. Raises UnitError, ConditionError.
    """
    for name in given:
        if name not in words:
            raise ConditionError(f"a condition has no field '{name}'", fix=nearest(name, words))
    values: dict[str, Any] = {}
    for row in dict.fromkeys(row for name, row in words.items() if name in given):
        values |= _of_row(row, given)
    return values


def _of_row(row: Row, given: Mapping[str, Any]) -> dict[str, Any]:
    """What takes back goes first, so that a word with a value counts beside it."""
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
    """Reads the probability of something that happens to single packets, by its field's name."""
    return lambda value: _any(value if isinstance(value, Chance) else impairment.chance(value, name))


def loss(value: Any) -> Loss | None:
    """Reads a loss. Raises UnitError, ConditionError."""
    return _any(impairment.loss(value))


def _any(value: Model) -> Model | None:
    """0 % is none, or a link would be called lossy that loses nothing."""
    return None if isinstance(value, Chance) and not value.probability else value


def whole(name: str, least: int) -> Callable[[Any], int]:
    """Reads a whole number from `least` on."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not str(value).isdecimal() or int(value) < least:
            raise ConditionError(f"{name} {value!r} is no whole number from {least} on")
        return int(value)

    return read


def octets(name: str, most: int) -> Callable[[Any], int | None]:
    """Reads a number of bytes; 0 is none."""

    def read(value: Any) -> int | None:
        number = size(value)
        if number > most:
            raise ConditionError(f"{name} '{value}' is more than {most} B", fix="give a smaller one")
        return number or None

    return read


def flag(name: str) -> Callable[[Any], bool]:
    """Reads True, False, "on" or "off"."""

    def read(value: Any) -> bool:
        if value in (True, "on", False, "off"):
            return value in (True, "on")
        raise ConditionError(f"{name} {value!r} is neither on nor off", fix="give True or False")

    return read


def distribution(name: str | Table) -> str | Table:
    """Reads the name of one of netem's distributions, or takes a measured one. Raises ConditionError with the nearest."""
    if isinstance(name, Table):
        return name
    if name not in DISTRIBUTIONS:
        raise ConditionError(f"no distribution '{name}'", fix=nearest(str(name), DISTRIBUTIONS))
    return name
