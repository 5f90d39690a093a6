"""Variables in compose files: ``${NAME:-default}`` and its relatives, and the files that set them: ``.env``, ``env_file``."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from slownet.compose.document import Items, Map, Place
from slownet.model import userfile
from slownet.model.errors import ComposeError

_KEY = re.compile(r"(?:export[ \t]+)?(?P<name>[\w.\[\]-]+)[ \t]*(?P<sign>[=:]|(?=\n|\Z))[ \t]*")
_BLANK = re.compile(r"(?:\s+|#[^\n]*)*")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\", "$": "$$"}
RAW = "raw"
FORMATS = (None, "", ".env", RAW)
"""The formats of a service's file of variables."""
_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[abfnrtv\"\\$])")


def read(
    path: Path,
    outer: Mapping[str, str],
    before: Mapping[str, str] | None = None,
    raw: bool = False,
    budget: Budget | None = None,
) -> dict[str, str]:
    """Return the variables of a file.

    outer: those that its values may name, and from which a name without a value is taken. before: those of earlier files, which
    count after the file's own. raw: its lines are taken as they are, without quotes and variables. budget: of its values'
    length. Raises ComposeError with the line.
    """
    try:
        text = userfile.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ComposeError(f"cannot read {path}: {userfile.reason(error)}") from error
    others = ChainMap(*(dict(each) for each in (outer, before or {})))
    return _raw(text, str(path), others) if raw else _File(text, str(path), others, budget).read()


def _raw(text: str, shown: str, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of lines without quotes, as ``docker run --env-file`` reads them; a bare name's is the outer one."""
    found = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        stated = line.removesuffix("\r").lstrip()
        name, equals, value = stated.partition("=")
        if not stated or stated.startswith("#"):
            continue
        if not name or " " in name or "\t" in name:
            what = "a line without a name" if not name else f"the name '{name[:40]}' has a space"
            raise ComposeError(what, where=f"{shown}:{number}", fix="write NAME=VALUE")
        if equals or name in outer:
            found[name] = value if equals else outer[name]
    return found


class _File:
    def __init__(self, text: str, shown: str, others: ChainMap[str, str], budget: Budget | None) -> None:
        self._text, self._shown, self._outer = text.removeprefix("\ufeff").replace("\r\n", "\n"), shown, others
        self._at, self._line, self._counted = 0, 1, 0
        self._found: dict[str, str] = {}
        before, earlier = others.maps
        self._variables = Variables(ChainMap(before, self._found, earlier), budget=budget)

    def read(self) -> dict[str, str]:
        while self._skip() < len(self._text):
            key = _KEY.match(self._text, self._at)
            if not key:
                self._fail("a line without a name", "write NAME=VALUE")
            self._at = key.end()
            if not key["sign"]:
                if key["name"] in self._outer:
                    self._found[key["name"]] = self._outer[key["name"]]
            else:
                self._found[key["name"]] = self._value()
        return self._found

    def _skip(self) -> int:
        blank = _BLANK.match(self._text, self._at)
        assert blank
        self._at = blank.end()
        return self._at

    def _value(self) -> str:
        quote = self._text[self._at : self._at + 1]
        if quote in ("'", '"'):
            return self._quoted(quote)
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        value = re.split(r" #", self._text[self._at : end], maxsplit=1)[0].rstrip()
        self._at = end
        return self._filled(value)

    def _quoted(self, quote: str) -> str:
        pattern = re.compile(rf"{quote}((?:\\.|[^\\{quote}])*){quote}", re.DOTALL)
        found = pattern.match(self._text, self._at)
        if not found:
            self._fail("a quoted value does not end", f"close it with {quote}")
        self._at = found.end()
        if quote == "'":
            return found[1].replace("\\'", "'")
        return self._filled(_ESCAPE.sub(_unescaped, found[1]))

    def _filled(self, value: str) -> str:
        """Replace variables; those of the machine come before the file's own, as in compose."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._variables.substitute(value, f"{self._shown}:{self._line}") if "$" in value else value

    def _fail(self, what: str, fix: str) -> NoReturn:
        raise ComposeError(what, where=f"{self._shown}:{self._text.count(chr(10), 0, self._at) + 1}", fix=fix)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8)) if code[0] == "0" else _ESCAPES[code]


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-+?]")
DEEPEST = 50
"""Defaults in one another."""
MOST_CHARACTERS = 4 << 20
"""Of all values that variables stand for, in one project: a value that names another one twice doubles it each time."""
Warn = Callable[[str], None]


class Budget:
    """The number of characters that variables may still expand to."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._left = most

    def take(self, characters: int, where: str) -> None:
        """Take some. Raises ComposeError when none are left."""
        self._left -= characters
        if self._left < 0:
            what = f"variables stand for more than {MOST_CHARACTERS >> 20} MB of text"
            raise ComposeError(what, where, "write values that do not repeat one another")


class Variables:
    """The variables that a text may name; one that is not set counts as empty, with a warning."""

    def __init__(self, values: Mapping[str, str], warn: Warn = lambda line: None, budget: Budget | None = None) -> None:
        self.values = values
        self.budget = budget or Budget()
        self.warn = warn

    def but(self, values: Mapping[str, str]) -> Variables:
        """Return other variables, with warnings to the same place, and the same budget."""
        return Variables(values, self.warn, self.budget)

    def substitute(self, text: str, where: str) -> str:
        """Return a text with its variables replaced. Raises ComposeError for a required one that is missing."""
        return _Text(text, where, self.values, self.warn, self.budget).result()

    def everywhere(self, tree: Any, place: Place | None = None) -> Any:
        """Replace the variables in all texts of a tree, in place; return it. Keys stay as they are. Raises ComposeError."""
        if isinstance(tree, Map):
            for key, value in tree.items():
                tree[key] = self.everywhere(value, tree.values_at[key])
        elif isinstance(tree, Items):
            tree[:] = [self.everywhere(value, at) for value, at in zip(tree, tree.at, strict=True)]
        elif isinstance(tree, str) and "$" in tree:
            return type(tree)(self.substitute(tree, str(place or "")))
        return tree


class _Text:
    """One text, read from left to right; defaults may contain variables, too."""

    def __init__(self, text: str, where: str, values: Mapping[str, str], warn: Warn, budget: Budget, depth: int = 0) -> None:
        self._text, self._where, self._values, self._warn = text, where, values, warn
        self._budget, self._depth = budget, depth
        self._line_end, self._last = 0, -1  # of the line that is read: its end, and its last closing brace

    def result(self) -> str:
        found, at = [], 0
        while (dollar := self._text.find("$", at)) >= 0:
            found.append(self._text[at:dollar])
            value, at = self._variable(dollar + 1)
            self._budget.take(len(value), self._where)
            found.append(value)
        return "".join([*found, self._text[at:]])

    def _variable(self, at: int) -> tuple[str, int]:
        """Return what stands for a variable, and where the text continues."""
        if self._text.startswith("$", at):
            return "$", at + 1
        if self._text.startswith("{", at):
            end = self._closing(at)
            return self._braced(self._text[at + 1 : end]), end + 1
        name = _NAME.match(self._text, at)
        if not name:
            return "$", at  # text, as in compose-go's template: $(date), $1, 5$
        return self._plain(name[0]), name.end()

    def _closing(self, at: int) -> int:
        """Return where the brace that opens here is closed, as compose finds it: on the same line; each brace counts.

        A brace after another one does not. If they do not balance, it is the last one that closes.
        """
        if at >= self._line_end:
            end = self._text.find("\n", at)
            self._line_end = len(self._text) if end < 0 else end
            self._last = self._text.rfind("}", at, self._line_end)
        last = self._last
        if last < at:
            self._invalid()
        depth, index = 0, at
        while index <= last:
            if self._text[index] == "}":
                depth -= 1
                if not depth:
                    return index
            elif self._text[index] == "{":
                depth += 1
                index += 1
            index += 1
        return last

    def _braced(self, inner: str) -> str:
        name = _NAME.match(inner)
        if not name:
            self._invalid()
        rest = inner[name.end() :]
        if not rest:
            return self._plain(name[0])
        operator = _OPERATOR.match(rest)
        if not operator:
            self._invalid()
        return self._with_operator(name[0], operator[0], rest[operator.end() :])

    def _with_operator(self, name: str, operator: str, other: str) -> str:
        value = self._values.get(name)
        stands = bool(value) if operator.startswith(":") else value is not None
        kind = operator[-1]
        if kind == "+":
            return self._inner(other) if stands else ""
        if stands:
            return value or ""
        if kind == "-":
            return self._inner(other)
        raise ComposeError(f"the variable {name} is missing", self._where, self._inner(other) or f"set it: export {name}=...")

    def _inner(self, text: str) -> str:
        if self._depth >= DEEPEST:
            what = f"defaults are nested deeper than {DEEPEST} in '{self._text[:20]}...'"
            raise ComposeError(what, self._where, "set the variable, or write one default")
        self._budget.take(len(text), self._where)
        return _Text(text, self._where, self._values, self._warn, self._budget, self._depth + 1).result()

    def _plain(self, name: str) -> str:
        if name not in self._values:
            self._warn(f"{self._where}: the variable {name} is not set and counts as empty")
        return self._values.get(name, "")

    def _invalid(self) -> NoReturn:
        fix = "write $NAME, ${NAME} or ${NAME:-default}; $$ stands for a dollar sign"
        raise ComposeError(f"unclear variable in '{self._text[:60]}{'...' * (len(self._text) > 60)}'", self._where, fix)
