"""A finding as data: its code, and the numbers and names in it.

Programs and tests read the data; people read the text, which is made when it is shown. A `Phrase` is both: it is defined once,
beside what finds it, with the words for its values, and makes the statements of its code.

>>> BENT = Phrase("off the line", lambda off_ms: f"off by {off_ms:g} ms")
>>> found = BENT(off_ms=0.5)
>>> str(found), found.to_json()
('off by 0.5 ms', {'code': 'off the line', 'off_ms': 0.5})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from slownet.model.shapes import Json
from slownet.theory.stats import Summary

CODE = "code"
NUMBER = ("mean", "low", "high", "n")
"""The fields of a measured number in a record."""


@dataclass(frozen=True)
class Statement:
    """A finding of judging; ``str()`` is its text.

    code: that of its `Phrase`, such as "law measured".
    values: the values of the phrase: numbers, `Summary` of numbers with their intervals, texts, and other statements.
    """

    code: str
    values: Mapping[str, Json]

    def __str__(self) -> str:
        return _WORDS[self.code](**self.values)

    @property
    def has_words(self) -> bool:
        """True if the phrases of its code and of all statements in it are loaded; those of a package may not be."""
        return self.code in _WORDS and all(each.has_words for each in _statements(tuple(self.values.values())))

    def to_json(self) -> dict[str, object]:
        """Return the code beside the values, with measured numbers as ``{"mean", "low", "high", "n"}``."""
        return {CODE: self.code, **{name: _plain(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, record: Mapping[str, Json]) -> Self:
        """Read what `to_json` returned."""
        return cls(str(record[CODE]), {name: _read(value) for name, value in record.items() if name != CODE})


_WORDS: dict[str, Callable[..., str]] = {}
"""The words of each phrase, by its code."""


class Phrase:
    """A kind of statement: called with its values, it makes one.

    code: its name in records; no two phrases have the same.
    words: takes the values as keywords, and returns the text.
    """

    def __init__(self, code: str, words: Callable[..., str]) -> None:
        self.code = code
        _WORDS[code] = words

    def __call__(self, **values: Any) -> Statement:
        """Make a statement of these values."""
        return Statement(
            self.code, {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        )


TEXT = Phrase("text", lambda text: str(text))
"""The text of a claim's author."""


def text_of(statements: Sequence[Statement]) -> str:
    """Return the text of statements that follow each other: those after the first begin with their own punctuation."""
    return "".join(map(str, statements))


def _statements(value: Any) -> list[Statement]:
    """Return the statements among values, at any depth of lists and tables."""
    if isinstance(value, Statement):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    return [found for each in inner for found in _statements(each)]


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
