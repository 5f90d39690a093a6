"""TOML files, and errors with line and column in them: finds the places of keys, which tomllib does not report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from slownet.model import userfile
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.shapes import Json

T = TypeVar("T")
Keys = tuple[str | int, ...]
"""The path of a key: names of tables and indexes of arrays, such as ("prediction", 1, "metric")."""
_TOKEN = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<skip>#[^\n]*|[ \t\r]+)|(?P<mark>[\[\]{}=,.\n])|(?P<bare>[^\s\[\]{}=,.\"'#]+)",
    re.DOTALL,
)


Table = Mapping[str, Json]
"""A table of a user's file: any value that TOML has, until its key is checked."""


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ExperimentError."""
    try:
        return userfile.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"cannot read {path}", fix=userfile.reason(error)) from error


def read_toml(path: Path) -> tuple[str, dict[str, Json]]:
    """Return the text of a TOML file, and its content. Raises ExperimentError."""
    text = read_text(path)
    try:
        return text, userfile.toml(text)
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(f"not TOML: {error}", where=str(path)) from error


class Source:
    """A file and its text; errors name line and column, from 1."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def fail(self, what: str, keys: Keys, fix: str) -> NoReturn:
        """Raise ExperimentError with the place of the key."""
        raise ExperimentError(what, where=self.place(keys), fix=fix)

    def place(self, keys: Keys) -> str:
        """Return file, line and column of a key."""
        line, column = place_of(self._text, keys)
        return f"{self._path}:{line}:{column}"

    def known(self, table: Table, names: Iterable[str], where: Keys) -> None:
        """Check that a table has no other keys than ``names``. Raises ExperimentError."""
        names = tuple(names)
        for key in table:
            if key not in names:
                self.fail(f"unknown key '{key}'", (*where, key), nearest(key, names))

    def tried(self, attempt: Callable[[], T], where: Keys) -> T:
        """Return what ``attempt`` does; if it raises a SlownetError, raise ExperimentError with the place of the key."""
        try:
            return attempt()
        except SlownetError as error:
            self.fail(error.what, where, error.fix)


def place_of(text: str, keys: Keys) -> tuple[int, int]:
    """Return line and column, from 1, of a key in a valid TOML text; of the table around it if the key is missing."""
    found = _Scan(text).places
    while keys and keys not in found:
        keys = keys[:-1]
    at = found.get(keys, 0)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


class _Scan:
    """The offsets of all keys and array elements, found in one pass over the tokens."""

    def __init__(self, text: str) -> None:
        self.places: dict[Keys, int] = {}
        self._tokens = [each for each in _TOKEN.finditer(text) if each.lastgroup != "skip"]
        self._next = 0
        self._counts: dict[Keys, int] = {}
        here: Keys = ()
        while self._next < len(self._tokens):
            if self._at("\n"):
                self._next += 1
            elif self._at("["):
                here = self._header()
            else:
                self._pair(here)

    def _at(self, *marks: str) -> bool:
        if self._next >= len(self._tokens):
            return False
        one = self._tokens[self._next]
        return one.lastgroup == "mark" and one[0] in marks

    def _header(self) -> Keys:
        """Read [a.b] or [[a.b]] and return its path; within an array of tables, it belongs to the last element."""
        self._next += 1
        many = self._at("[")
        self._next += many
        at, names = self._names("]")
        self._next += many
        path: Keys = ()
        for name in names[:-1]:
            path = (*path, name)
            if path in self._counts:
                path = (*path, self._counts[path])
        path = (*path, names[-1])
        self.places.setdefault(path, at)
        if many:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
            self.places[path] = at
        return path

    def _pair(self, here: Keys) -> None:
        """Read key = value in a table."""
        at, names = self._names("=")
        for count in range(len(names)):
            self.places.setdefault((*here, *names[: count + 1]), at)
        self._value((*here, *names))

    def _names(self, end: str) -> tuple[int, list[str]]:
        """Read a dotted key and the mark after it; return its offset and its parts."""
        at, names = self._tokens[self._next].start(), []
        while not self._at(end):
            one = self._tokens[self._next]
            if one.lastgroup != "mark":
                names.append(one[0].strip("\"'") if one.lastgroup == "text" else one[0])
            self._next += 1
        self._next += 1
        return at, names

    def _value(self, path: Keys) -> None:
        if self._at("["):
            self._next += 1
            self._list(path, "]", lambda number: self._element((*path, number)))
        elif self._at("{"):
            self._next += 1
            self._list(path, "}", lambda number: self._pair(path))
        else:
            while self._next < len(self._tokens) and not self._at(",", "]", "}", "\n"):
                self._next += 1

    def _element(self, path: Keys) -> None:
        self.places[path] = self._tokens[self._next].start()
        self._value(path)

    def _list(self, path: Keys, end: str, each: Callable[[int], None]) -> None:
        """Read the elements between commas, which may span lines, up to and including the end mark."""
        number = 0
        while not self._at(end):
            if self._at(",", "\n"):
                self._next += 1
            else:
                each(number)
                number += 1
        self._next += 1
