"""Variables in compose files: ``${NAME:-default}`` and its relatives, in every value and in files of variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from slownet.compose.document import Items, Map, Place
from slownet.model.errors import ComposeError

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
