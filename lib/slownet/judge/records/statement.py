"""A sentence as data: its code, and the numbers and names that it says.

Judging makes statements, for programs and tests. `slownet.report.statement_words` has the words for each code; they are asked
of the package itself, so that no room imports a room above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import slownet
from slownet.model.shapes import Json
from slownet.theory.stats import Summary

CODE = "code"
NUMBER = ("mean", "low", "high", "n")
"""The fields of a measured number in a record."""


@dataclass(frozen=True)
class Statement:
    """What judging says of a claim, or of the numbers that it found; ``str()`` puts it into words.

    Parameters
    ----------
    code : str
        Which statement it is, such as "law measured".
    values : mapping
        What it says: numbers, `Summary` of numbers with their intervals, texts, and other statements.
    """

    code: str
    values: Mapping[str, Json]

    def __str__(self) -> str:
        return slownet.in_words(self.code, self.values)

    def to_json(self) -> dict[str, object]:
        """Return the code beside the values, with measured numbers as ``{"mean", "low", "high", "n"}``."""
        return {CODE: self.code, **{name: _plain(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, record: Mapping[str, Json]) -> Self:
        """Read what `to_json` returned."""
        return cls(str(record[CODE]), {name: _read(value) for name, value in record.items() if name != CODE})


def state(code: str, **values: Any) -> Statement:
    """Make a statement of its code and what it says."""
    return Statement(code, {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def text_of(statements: Sequence[Statement]) -> str:
    """Put statements that follow each other into words: those after the first begin with their own punctuation."""
    return "".join(map(str, statements))


def _plain(value: Any) -> object:
    if isinstance(value, Statement):
        return value.to_json()
    if isinstance(value, Summary):
        return {"mean": float(value.mean), "low": float(value.low), "high": float(value.high), "n": value.n}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _read(value: Any) -> object:
    if isinstance(value, Mapping):
        if CODE in value:
            return Statement.from_json(value)
        if tuple(value) == NUMBER:
            return Summary(value["mean"], _end(value["low"], -1), _end(value["high"], 1), value["n"])
        return {name: _read(each) for name, each in value.items()}
    return tuple(_read(each) for each in value) if isinstance(value, list) else value


def _end(end: float | None, sign: int) -> float:
    """Return an end of an interval; a record has null for one that is not known."""
    return sign * float("inf") if end is None else end
