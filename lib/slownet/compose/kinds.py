"""Kinds of values in a compose file, and the check of a value against its kind, with the place of what is wrong."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slownet.compose.document import Items, Keys, Map, Place, Reset, identity
from slownet.compose.scalars import Date
from slownet.model.errors import ComposeError, nearest

A_TEXT, A_WHOLE, A_NUMBER, A_TRUTH = "a text", "a whole number", "a number", "true or false"
A_LIST, A_MAPPING, EMPTY = "a list", "a mapping", "empty"
_ORDER = (A_TRUTH, A_TEXT, A_WHOLE, A_NUMBER, A_MAPPING, A_LIST)
"""Of kinds in a message; that a value may be empty needs no word."""
EXTENSION = "x-"
NONE, EXTENSIONS, ALL = "none", "extensions", "all"


@dataclass(frozen=True)
class Kind:
    """The values that a field may have; `|` joins two kinds without a common kind of JSON value."""

    kinds: frozenset[str]
    """Of `A_TEXT` and its like."""
    choices: tuple[str, ...] = ()
    """Of a text: all that it may be."""
    pattern: str = ""
    """Of a text: a regular expression, found in it."""
    form: str = ""
    """A description of the pattern, for a message."""
    low: int | None = None
    high: int | None = None
    element: Kind | None = None
    """Of a list's elements; None: anything."""
    once: bool = False
    """True if a list may have no element twice."""
    fields: Mapping[str, Kind] = field(default_factory=dict)
    """Of a mapping."""
    names: str = ""
    """Of a mapping whose keys the file's author chooses: a regular expression, found in a key."""
    named: Kind | None = None
    """The values of those keys."""
    others: str = NONE
    """The keys that a mapping may have besides: `NONE`, those that begin with x- (`EXTENSIONS`), or `ALL`."""
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    """A mapping has at least one of these fields."""

    def __or__(self, other: Kind) -> Kind:
        unset = Kind(frozenset())
        names = [each.name for each in dataclasses.fields(self) if getattr(other, each.name) != getattr(unset, each.name)]
        return dataclasses.replace(self, **{name: getattr(other, name) for name in names} | {"kinds": self.kinds | other.kinds})


TEXT, WHOLE, NUMBER, TRUTH, NOTHING = (Kind(frozenset({each})) for each in (A_TEXT, A_WHOLE, A_NUMBER, A_TRUTH, EMPTY))


def formed(pattern: str, form: str) -> Kind:
    """Return the kind of a text that has a pattern. form: a description of the pattern."""
    return dataclasses.replace(TEXT, pattern=pattern, form=form)


def choice(*texts: str) -> Kind:
    """Return the kind of a text that is one of several."""
    return dataclasses.replace(TEXT, choices=texts)


def between(low: int, high: int | None = None) -> Kind:
    """Return the kind of a whole number that is not below or above another."""
    return dataclasses.replace(WHOLE, low=low, high=high)


def listed(element: Kind, once: bool = False) -> Kind:
    """Return the kind of a list. once: it may have no element twice."""
    return Kind(frozenset({A_LIST}), element=element, once=once)


def record(
    fields: Mapping[str, Kind], required: tuple[str, ...] = (), one_of: tuple[str, ...] = (), others: str = EXTENSIONS
) -> Kind:
    """Return the kind of a mapping whose fields have names of their own."""
    return Kind(frozenset({A_MAPPING}), fields=fields, required=required, one_of=one_of, others=others)


def named(kind: Kind, names: str, others: str = NONE) -> Kind:
    """Return the kind of a mapping whose keys the author of the file chooses."""
    return Kind(frozenset({A_MAPPING}), names=names, named=kind, others=others)


FLAG, COUNT, REAL = TRUTH | TEXT, WHOLE | TEXT, NUMBER | TEXT
"""A variable makes a text of any number and truth."""
TEXTS = listed(TEXT, once=True)
COMMAND = NOTHING | TEXT | listed(TEXT)
PAIRS = named(TEXT | NUMBER | TRUTH | NOTHING, ".+") | TEXTS
ULIMITS = named(COUNT | record({"hard": COUNT, "soft": COUNT}, required=("soft", "hard")), "^[a-z]+$", ALL)


@dataclass(frozen=True)
class Fault:
    """A mistake in a file, its place, and how to fix it."""

    place: Place
    what: str
    fix: str = ""


def check(tree: Map, kind: Kind) -> None:
    """Raise ComposeError for the first thing in a file that its kind does not allow."""
    found = list(_faults(tree, kind, (), tree.place))
    if found:
        first = min(found, key=lambda each: (each.place.line, each.place.column))
        raise ComposeError(first.what, where=str(first.place), fix=first.fix)


def _faults(value: Any, kind: Kind, keys: Keys, at: Place) -> Iterator[Fault]:
    """Yield what is wrong with a value. keys, at: its path and place."""
    if not any(_IS[each](value) for each in kind.kinds) or (isinstance(value, Date) and not _takes_dates(kind)):
        yield _of_another_kind(value, kind, keys, at)
    elif isinstance(value, Map):
        yield from _in_a_mapping(value, kind, keys, at)
    elif isinstance(value, Items):
        yield from _in_a_list(value, kind, keys, at)
    elif isinstance(value, str):
        if kind.choices and value not in kind.choices:
            yield Fault(at, f"{_named(keys)} is {_shown(value)}", nearest(value, kind.choices))
        elif kind.pattern and not re.search(kind.pattern, value):
            yield Fault(at, f"{_named(keys)} is {_shown(value)}", f"write {kind.form}")
    elif value is not None and not isinstance(value, bool) and not _is_within(value, kind):
        bounds = f"at least {kind.low}" if kind.high is None else f"a number from {kind.low} to {kind.high}"
        yield Fault(at, f"{_named(keys)} is {_shown(value)}", f"write {bounds}")


def _takes_dates(kind: Kind) -> bool:
    """Return whether a date is a text here, which it is only where numbers and truths are, too."""
    return {A_TEXT, A_NUMBER, A_TRUTH} <= kind.kinds


def _is_within(value: float, kind: Kind) -> bool:
    return (kind.low is None or value >= kind.low) and (kind.high is None or value <= kind.high)


def _in_a_list(value: Items, kind: Kind, keys: Keys, at: Place) -> Iterator[Fault]:
    stated = [(number, each) for number, each in enumerate(value) if not isinstance(each, Reset)]
    if kind.once and len({identity(each) for _, each in stated}) < len(stated):
        yield Fault(at, f"{_named(keys)} has an element twice", "write it once")
    for number, each in stated if kind.element else ():
        yield from _faults(each, kind.element, (*keys, number), value.at[number])  # type: ignore[arg-type]  # not None here


def _in_a_mapping(value: Map, kind: Kind, keys: Keys, at: Place) -> Iterator[Fault]:
    stated = {name: each for name, each in value.items() if not isinstance(each, Reset)}
    unknown = False
    for name, each in stated.items():
        inner = kind.fields.get(name) or (kind.named if kind.names and re.search(kind.names, name) else None)
        if inner is not None:
            yield from _faults(each, inner, (*keys, name), value.keys_at[name])
        elif kind.others == NONE or (kind.others == EXTENSIONS and not name.startswith(EXTENSION)):
            unknown = True
            yield _unknown(name, kind, keys, value.keys_at[name])
    missing = [each for each in kind.required if each not in stated]
    if kind.one_of and not any(each in stated for each in kind.one_of):
        missing += kind.one_of[:1]
    if missing and not unknown:  # what is unknown may be what is missing, misspelt
        yield Fault(at, f"{_named(keys)} lacks '{missing[0]}'", f"add {missing[0]}:")


def _unknown(name: str, kind: Kind, keys: Keys, at: Place) -> Fault:
    of = f" in {_named(keys)}" if keys else ""
    if kind.fields:
        return Fault(at, f"unknown field '{name}'{of}", nearest(name, kind.fields))
    return Fault(at, f"the name '{name}' is not valid{of}", "use letters, digits and . _ -")


def _of_another_kind(value: Any, kind: Kind, keys: Keys, at: Place) -> Fault:
    *most, last = (each for each in _ORDER if each in kind.kinds)
    quoted = "put it in quotes" if A_TEXT in kind.kinds and isinstance(value, int | float | Date) else ""
    return Fault(at, f"{_named(keys)} is {_shown(value)}, not {', '.join(most)}{' or ' if most else ''}{last}", quoted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_IS: Mapping[str, Callable[[Any], bool]] = {
    A_TEXT: lambda value: isinstance(value, str),
    A_WHOLE: lambda value: _is_number(value) and value == value // 1,  # 3.0 is one, too
    A_NUMBER: _is_number,
    A_TRUTH: lambda value: isinstance(value, bool),
    A_LIST: lambda value: isinstance(value, Items),
    A_MAPPING: lambda value: isinstance(value, Map),
    EMPTY: lambda value: value is None,
}


def _named(keys: Keys) -> str:
    return ".".join(map(str, keys)) or "the file"


def _shown(value: Any) -> str:
    if isinstance(value, Map | Items):
        return A_MAPPING if isinstance(value, Map) else A_LIST
    if isinstance(value, Date):
        return f"the date {value.stated}"
    return EMPTY if value is None else json.dumps(value)
