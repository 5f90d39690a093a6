"""Where the keys of a TOML text stand, and mistakes that are said there: tomllib reads values and forgets the places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from slownet.errors import ExperimentError, SlownetError, nearest

Keys = tuple[str | int, ...]
"""A key with the tables and the numbers of the arrays around it: ("prediction", 1, "metric")."""
_TOKEN = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<skip>#[^\n]*|[ \t\r]+)|(?P<mark>[\[\]{}=,.\n])|(?P<bare>[^\s\[\]{}=,.\"'#]+)",
    re.DOTALL,
)


class Source:
    """A file and its text; mistakes in it name line and column, from 1."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def fail(self, what: str, keys: Keys, fix: str) -> NoReturn:
        """Raises ExperimentError that says where the key stands."""
        line, column = place_of(self._text, keys)
        raise ExperimentError(what, where=f"{self._path}:{line}:{column}", fix=fix)

    def known(self, table: Mapping[str, Any], names: Iterable[str], where: Keys) -> None:
        """Raises ExperimentError for a key of a table that is none of these."""
        names = tuple(names)
        for key in table:
            if key not in names:
                self.fail(f"unknown key '{key}'", (*where, key), nearest(key, names))

    def tried(self, attempt: Callable[[], object], where: Keys) -> None:
        """Calls it; what is wrong is said to stand there."""
        try:
            attempt()
        except SlownetError as error:
            self.fail(error.what, where, error.fix)


def place_of(text: str, keys: Keys) -> tuple[int, int]:
    """Line and column, from 1, of a key in a text that tomllib reads; of what is around it where it is not there."""
    found = _Scan(text).places
    while keys and keys not in found:
        keys = keys[:-1]
    at = found.get(keys, 0)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


class _Scan:
    """The offsets of all keys, and of all elements of arrays, in one pass over the tokens."""

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
        """[a.b] or [[a.b]], of which the last written one is meant where an array of tables is named."""
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
        """key = value, below a table."""
        at, names = self._names("=")
        for count in range(len(names)):
            self.places.setdefault((*here, *names[: count + 1]), at)
        self._value((*here, *names))

    def _names(self, end: str) -> tuple[int, list[str]]:
        """The parts of a dotted key up to a mark, which is passed, and where the first stands."""
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
        """What stands between commas, over as many lines as it takes, up to the end, which is passed."""
        number = 0
        while not self._at(end):
            if self._at(",", "\n"):
                self._next += 1
            else:
                each(number)
                number += 1
        self._next += 1
