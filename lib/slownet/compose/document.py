"""Mappings and lists that know where in a file their keys and values are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from slownet.compose.scalars import text
from slownet.model.errors import ComposeError
from slownet.model.shapes import Json

Keys = tuple[str | int, ...]
"""The path of a value: keys and indexes, such as ("services", "web", "ports", 0)."""


@dataclass(frozen=True)
class Place:
    """The place of something in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Map(dict[str, Json]):
    """A mapping with the places of itself, its keys and its values."""

    def __init__(self, place: Place, replaces: bool = False) -> None:
        super().__init__()
        self.place = place
        self.replaces = replaces
        """True if it has the tag ``!override``."""
        self.keys_at: dict[str, Place] = {}
        self.values_at: dict[str, Place] = {}

    def put(self, key: str, value: Any, key_at: Place, value_at: Place | None = None) -> None:
        """Set a value. ``value_at`` defaults to ``key_at``."""
        self[key] = value
        self.keys_at[key] = key_at
        self.values_at[key] = value_at or key_at

    def take(self, key: str, other: Map, source: str | None = None) -> None:
        """Set a key to what it is in another mapping, where it may have another name."""
        name = source or key
        self.put(key, other[name], other.keys_at[name], other.values_at[name])


class Items(list[Any]):
    """A list with the places of itself and its elements."""

    def __init__(self, place: Place, replaces: bool = False) -> None:
        super().__init__()
        self.place = place
        self.replaces = replaces
        self.at: list[Place] = []

    def add(self, value: Any, at: Place) -> None:
        """Append a value with its place."""
        self.append(value)
        self.at.append(at)


class Replacing(str):
    """A text with the tag ``!override``."""


class Reset:
    """A value with the tag ``!reset``: that of a file below it is removed."""


EMPTY = Map(Place("", 0, 0))
"""In place of a mapping that a file lacks."""


def place_of(tree: Map | Items, keys: Keys) -> Place:
    """Return the place of a key or an element; of what is around it if it does not exist."""
    here, at = tree, tree.place
    for key in keys:
        if isinstance(here, Map) and key in here:
            at = here.keys_at[str(key)]
            here = here[str(key)]
        elif isinstance(here, Items) and isinstance(key, int) and key < len(here):
            at = here.at[key]
            here = here[key]
        else:
            break
    return at


def plain(value: Any) -> Any:
    """Return a value as plain dicts and lists, without what is reset."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if not isinstance(each, Reset)}
    if isinstance(value, list):
        return [plain(each) for each in value if not isinstance(each, Reset)]
    return value


def identity(value: Any) -> str:
    """Return a text that two values have in common only if they are equal."""
    return json.dumps(plain(value), sort_keys=True, default=repr)


def copy(value: Any) -> Any:
    """Return a copy that shares nothing with the original but places."""
    if isinstance(value, Map):
        made = Map(value.place, value.replaces)
        for key, each in value.items():
            made.put(key, copy(each), value.keys_at[key], value.values_at[key])
        return made
    if isinstance(value, Items):
        items = Items(value.place, value.replaces)
        for each, at in zip(value, value.at, strict=True):
            items.add(copy(each), at)
        return items
    return value


def pairs(value: Any, place: Place) -> Map:
    """``[A=1, B]`` or a mapping: names with texts; a name without a value has None."""
    made = Map(value.place, value.replaces)
    if isinstance(value, Map):
        for name, each in value.items():
            given = each if each is None or isinstance(each, Reset) else text(each)
            made.put(name, given, value.keys_at[name], value.values_at[name])
    else:
        for each, at in zip(value, value.at, strict=True):
            name, equals, given = text(each).partition("=")
            if name and name[-1].isspace():
                raise ComposeError(f"the name '{name}' ends with a space", str(at), "write NAME=VALUE, without spaces before =")
            made.put(name, given if equals else None, at)
    return made
