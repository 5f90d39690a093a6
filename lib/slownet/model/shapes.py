"""Shapes of JSON values that come from a lab: a value is checked against one before anything uses it.

A shape is a function of a value and the name of its place, which raises ShapeError. jsonschema does not help here: it takes
10 us for each number of a sample's values, and its messages quote the whole value.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any

TEXT_CHARACTERS = 1 << 20
"""Of a text, unless its shape sets a lower limit."""
DEPTH = 20
"""Levels of a value that may be anything."""
LARGEST = 1e300
SHOWN = 60

Shape = Callable[[Any, str], None]


class ShapeError(ValueError):
    """A value does not have its shape; the message shows which value, and what it should be."""


def _need(good: bool, value: Any, where: str, wanted: str) -> None:
    if not good:
        raise ShapeError(f"{where} is {_shown(value)}, not {wanted}")


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > LARGEST:  # of which Python may refuse to show the digits
        return "a number of more than 300 digits"
    text = repr(value[: SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def text(most: int = TEXT_CHARACTERS) -> Shape:
    """A text of at most so many characters, that UTF-8 can represent."""

    def check(value: Any, where: str) -> None:
        _need(isinstance(value, str) and len(value) <= most, value, where, f"a text of at most {most} characters")
        _need(value.isascii() or _is_unicode(value), value, where, "a text of Unicode characters")

    return check


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def number(low: float = -LARGEST, high: float = LARGEST) -> Shape:
    """A finite number."""

    def check(value: Any, where: str) -> None:
        good = type(value) in (int, float) and low <= value <= high
        _need(good, value, where, "a number" if low == -LARGEST else f"a number from {low:g} on")

    return check


def whole(low: int = 0, high: int = 2**53) -> Shape:
    """A whole number."""

    def check(value: Any, where: str) -> None:
        _need(type(value) is int and low <= value <= high, value, where, f"a whole number from {low} on")

    return check


def flag(value: Any, where: str) -> None:
    """True or false."""
    _need(isinstance(value, bool), value, where, "true or false")


def one_of(*known: str) -> Shape:
    """One of these texts."""

    def check(value: Any, where: str) -> None:
        _need(isinstance(value, str) and value in known, value, where, " or ".join(map(repr, known)))

    return check


def member(known: Collection[int], what: str) -> Shape:
    """One of these whole numbers, which are those of ``what``."""

    def check(value: Any, where: str) -> None:
        _need(type(value) is int and value in known, value, where, what)

    return check


def optional(shape: Shape) -> Shape:
    """A value of that shape, or null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            shape(value, where)

    return check


def each(shape: Shape, most: int = 2**31) -> Shape:
    """A list of values of that shape, at most so many."""

    def check(value: Any, where: str) -> None:
        _need(isinstance(value, list) and len(value) <= most, value, where, "a list")
        for item in value:
            shape(item, f"an item of {where}")

    return check


def numbers(value: Any, where: str) -> None:
    """A list of finite numbers; there may be a million."""
    _need(isinstance(value, list), value, where, "a list of numbers")
    for item in value:
        if not (type(item) in (int, float) and -LARGEST <= item <= LARGEST):
            raise ShapeError(f"an item of {where} is {_shown(item)}, not a number")


def mapping(shape: Shape) -> Shape:
    """An object with any names, and values of that shape."""

    def check(value: Any, where: str) -> None:
        _need(isinstance(value, dict), value, where, "an object")
        for name, item in value.items():
            _name(name, where)
            shape(item, f"{where}.{name}")

    return check


def record(required: Mapping[str, Shape], more: Mapping[str, Shape] | None = None, others: Shape | None = None) -> Shape:
    """An object with these names; those of ``more`` may be missing. others: the shape of all others, None to refuse them."""
    known = {**required, **(more or {})}

    def check(value: Any, where: str) -> None:
        _need(isinstance(value, dict), value, where, "an object")
        for name in required:
            if name not in value:
                raise ShapeError(f"{where} has no {name!r}")
        for name, item in value.items():
            shape = known.get(name, others)
            if shape is None:
                raise ShapeError(f"{where} has {_shown(name)}, which is unknown")
            _name(name, where)
            shape(item, f"{where}.{name}")

    return check


def anything(value: Any, where: str, depth: int = DEPTH) -> None:
    """A JSON value of a limited depth, with finite numbers."""
    _need(depth > 0, value, where, f"a value of at most {DEPTH} levels")
    if isinstance(value, dict):
        for name, item in value.items():
            _name(name, where)
            anything(item, where, depth - 1)
    elif isinstance(value, list):
        for item in value:
            anything(item, where, depth - 1)
    elif isinstance(value, str):
        _text(value, where)
    elif type(value) in (int, float):
        _finite(value, where)


def of(kind: Any, others: Shape | None = None) -> Shape:
    """Return the shape of the values of a type; an annotated type names its own: ``Annotated[int, whole(1)]``.

    others: the shape of names that a TypedDict does not have, None to refuse them.
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        shape: Shape = inner[1]
        return shape
    if origin in (typing.Required, typing.NotRequired):
        return of(inner[0], others)
    if origin in (typing.Union, types.UnionType):
        (some,) = (each for each in inner if each is not type(None))
        return optional(of(some, others))
    if origin is typing.Literal:
        return one_of(*inner)
    if origin is list:
        return numbers if inner == (float,) else each(of(inner[0], others))
    if origin in (dict, Mapping):
        return mapping(of(inner[1], others))
    return late(lambda: record(*fields(kind, others), others)) if typing.is_typeddict(kind) else _PLAIN[kind]


def late(make: Callable[[], Shape]) -> Shape:
    """Return a shape that is made when it is first used: to import a type must not cost that."""
    made = functools.cache(make)
    return lambda value, where: made()(value, where)


def fields(kind: Any, others: Shape | None = None) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """Return the shapes of the fields that a TypedDict must have, and of those that it may have."""
    shapes = {name: of(its, others) for name, its in typing.get_type_hints(kind, include_extras=True).items()}
    required: Collection[str] = kind.__required_keys__
    return (
        {name: shape for name, shape in shapes.items() if name in required},
        {name: shape for name, shape in shapes.items() if name not in required},
    )


Json = typing.Annotated[Any, anything]
"""Any JSON value, where what it holds is another's affair: a user's file, a program's output, a service's own facts."""
_text, _finite = text(), number()
_PLAIN: Mapping[Any, Shape] = {str: text(), int: whole(), float: number(), bool: flag, object: anything}
NAME_CHARACTERS = 1000


def _name(name: str, where: str) -> None:
    if len(name) > NAME_CHARACTERS or not (name.isascii() or _is_unicode(name)):
        raise ShapeError(f"{where} has {_shown(name)}, not a name of at most {NAME_CHARACTERS} characters")
