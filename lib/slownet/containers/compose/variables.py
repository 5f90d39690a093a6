"""Variables in compose files: ``${NAME:-default}`` and its relatives, in every value and in files of variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from slownet.containers.compose.document import Items, Map, Place
from slownet.model.errors import ComposeError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-+?]")
Warn = Callable[[str], None]


class Variables:
    """The variables that a text may name; one that is not set counts as empty, with a warning."""

    def __init__(self, values: Mapping[str, str], warn: Warn = lambda line: None) -> None:
        self.values = values
        self._warn = warn

    def but(self, values: Mapping[str, str]) -> Variables:
        """Return other variables, with warnings to the same place."""
        return Variables(values, self._warn)

    def substitute(self, text: str, where: str) -> str:
        """Return a text with its variables replaced. Raises ComposeError for a required one that is missing."""
        return _Text(text, where, self.values, self._warn).result()

    def everywhere(self, tree: Any, place: Place | None = None) -> Any:
        """Replace the variables in all texts of a tree, in place; return it. Keys stay as they are. Raises ComposeError."""
        if isinstance(tree, Map):
            for key, value in tree.items():
                tree[key] = self.everywhere(value, tree.values_at[key])
        elif isinstance(tree, Items):
            tree[:] = [self.everywhere(value, at) for value, at in zip(tree, tree.at, strict=True)]
        elif isinstance(tree, str) and "$" in tree:
            return self.substitute(tree, str(place or ""))
        return tree


class _Text:
    """One text, read from left to right; defaults may contain variables, too."""

    def __init__(self, text: str, where: str, values: Mapping[str, str], warn: Warn) -> None:
        self._text, self._where, self._values, self._warn = text, where, values, warn

    def result(self) -> str:
        found, at = "", 0
        while (dollar := self._text.find("$", at)) >= 0:
            found += self._text[at:dollar]
            value, at = self._variable(dollar + 1)
            found += value
        return found + self._text[at:]

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
        """Return where the brace that opens here is closed."""
        depth = 0
        for index in range(at, len(self._text)):
            if self._text[index] == "{" and (index == at or self._text[index - 1] == "$"):
                depth += 1
            elif self._text[index] == "}":
                depth -= 1
                if not depth:
                    return index
        return self._invalid()

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
        return _Text(text, self._where, self._values, self._warn).result()

    def _plain(self, name: str) -> str:
        if name not in self._values:
            self._warn(f"{self._where}: the variable {name} is not set and counts as empty")
        return self._values.get(name, "")

    def _invalid(self) -> NoReturn:
        fix = "write $NAME, ${NAME} or ${NAME:-default}; $$ stands for a dollar sign"
        raise ComposeError(f"unclear variable in '{self._text}'", self._where, fix)
