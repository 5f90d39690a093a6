"""YAML with the place of each key and value, by the rules that compose files follow: its own scalars, anchors, merge keys.

PyYAML alone follows YAML 1.1, where the port ``22:22`` is the number 1342 and the word ``no`` is false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml

from slownet.compose import scalars
from slownet.compose.document import Items, Map, Place, Replacing, Reset
from slownet.model import userfile
from slownet.model.errors import ComposeError

MERGE = "<<"
RESET, OVERRIDE = "!reset", "!override"
"""Compose's tags in a file that is merged over another: remove the value below, or replace it instead of merging."""
MOST_BYTES = userfile.MEBIBYTE
"""Of a file; the largest that people publish has a tenth of that."""
MOST_NODES = 30_000
"""Aliases of aliases grow exponentially; no project is as large as this."""
MOST_DIGITS = 1000
"""Of one number."""
_TAG = "tag:yaml.org,2002:"
KINDS: Mapping[type[yaml.Node], frozenset[str]] = {
    yaml.ScalarNode: frozenset(("null", "bool", "timestamp", "int", "float", "str")),
    yaml.SequenceNode: frozenset(("seq",)),
    yaml.MappingNode: frozenset(("map",)),
}
"""YAML's own tags of each kind of node, without their prefix."""
_SCALARS = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("timestamp", scalars.DATE, list("0123456789")),
    ("int", scalars.WHOLE, list("-+0123456789")),
    ("float", scalars.REAL, list("-+0123456789.")),
)  # fmt: skip


def read(path: Path, shown: str) -> list[Map]:
    """Return the documents of a file, mostly one. shown: its name in messages. Raises ComposeError with line and column."""
    try:
        text = userfile.read_text(path, MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        why = userfile.reason(error)
        raise ComposeError(f"cannot read {shown}: {why}", fix="name a compose file, such as compose.yaml") from error
    return parse(text, shown)


def parse(text: str, shown: str) -> list[Map]:
    """Return the mappings that a text holds, one for each of its documents. Raises ComposeError with line and column."""
    try:
        nodes = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = str(_place(shown, mark)) if mark else shown
        raise ComposeError(f"not YAML: {error.problem or error.context}", where=where) from error
    except yaml.YAMLError as error:
        raise ComposeError(f"not YAML: {error}", where=shown) from error
    except RecursionError as error:
        raise ComposeError(f"mappings and lists are nested deeper than {userfile.DEEPEST}", where=shown) from error
    stated = [node for node in nodes if not (isinstance(node, yaml.ScalarNode) and not node.value)] or nodes
    empty: list[yaml.Node | None] = [None]
    for node in stated or empty:
        if not isinstance(node, yaml.MappingNode):
            where = str(_place(shown, node.start_mark)) if node else shown
            raise ComposeError("a compose file is a mapping", where=where, fix="begin it with services:")
    builder = _Builder(shown)
    return [builder.value(node) for node in stated]


class _Loader(yaml.SafeLoader):
    """PyYAML's loader with YAML 1.2's scalars, as far as compose's own parser follows it."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  # PyYAML's own attribute, extended below


for _name, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), _first)


def _place(shown: str, mark: Any) -> Place:
    return Place(shown, mark.line + 1, mark.column + 1)


class _Builder:
    """Makes values of PyYAML's nodes, which have places."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._within: list[yaml.Node] = []
        self._nodes = 0

    def value(self, node: yaml.Node) -> Any:
        self._nodes += 1
        if any(node is each for each in self._within):
            self._fail("an alias within its own anchor", node)
        if len(self._within) > userfile.DEEPEST:
            self._fail(f"mappings and lists are nested deeper than {userfile.DEEPEST}", node)
        if self._nodes > MOST_NODES:
            self._fail(f"more than {MOST_NODES} values, with those that aliases repeat", node)
        if node.tag == RESET:
            return Reset()
        if node.tag != OVERRIDE and node.tag.removeprefix(_TAG) not in KINDS[type(node)]:
            self._fail(f"unknown tag {node.tag.replace(_TAG, '!!')}", node, f"compose has {RESET} and {OVERRIDE}")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self._within.append(node)
        made = self._items(node) if isinstance(node, yaml.SequenceNode) else self._map(node)
        self._within.pop()
        return made

    def _items(self, node: yaml.SequenceNode) -> Items:
        made = Items(self._at(node), node.tag == OVERRIDE)
        for each in node.value:
            made.add(self.value(each), self._at(each))
        return made

    def _map(self, node: yaml.Node) -> Map:
        merged: list[Map] = []
        made = Map(self._at(node), node.tag == OVERRIDE)
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fail("a key is not a text", key)
            if key.value == MERGE and key.style is None:
                merged += self._merged(value)
            elif type(self.value(key)) is not str:  # a date is one, too
                self._fail(f"the key {key.value or '~'} is not a text to compose", key, "put it in quotes")
            elif key.value in made:
                self._fail(f"the key '{key.value}' is there twice", key, f"it is also in line {made.keys_at[key.value].line}")
            else:
                made.put(key.value, self.value(value), self._at(key), self._at(value))
        for other in merged:
            for name in other:
                if name not in made:
                    made.take(name, other)
        return made

    def _merged(self, node: yaml.Node) -> Sequence[Map]:
        found = self.value(node)
        maps = found if isinstance(found, Items) else [found]
        if not all(isinstance(each, Map) for each in maps):
            self._fail("<< takes a mapping, or a list of mappings", node, "name an anchor: <<: *defaults")
        return maps

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        kind, text = node.tag.removeprefix(_TAG), node.value
        if node.tag == OVERRIDE:
            return Replacing(text)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "timestamp":
            return self._date(text, node)
        if kind in ("int", "float"):
            return self._number(kind, text, node)
        return text

    def _date(self, text: str, node: yaml.ScalarNode) -> str:
        found = scalars.date(text)
        if found is None and not re.fullmatch(scalars.DATE, text):
            self._fail(f"'{text[:40]}' is not a date", node)
        return text if found is None else found

    def _number(self, kind: str, text: str, node: yaml.ScalarNode) -> int | float | str:
        form, read = (scalars.WHOLE, scalars.whole) if kind == "int" else (scalars.REAL, scalars.real)
        if not re.fullmatch(form, text):  # a text with a tag, such as !!int many
            self._fail(f"'{text[:20]}{'...' * (len(text) > 20)}' is not a number", node)
        if len(text) > MOST_DIGITS:
            self._fail(f"{text[:20]}... has too many digits", node)
        number = read(text)
        if isinstance(number, float) and not math.isfinite(number):
            self._fail(f"{text} is not a number that compose takes", node, "put it in quotes")
        return text if number is None else number

    def _at(self, node: yaml.Node) -> Place:
        return _place(self._shown, node.start_mark)

    def _fail(self, what: str, node: yaml.Node, fix: str = "") -> NoReturn:
        raise ComposeError(what, where=str(self._at(node)), fix=fix)
