"""Checks a compose file against the compose specification's JSON schema, with the place of what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from slownet.containers.compose.document import Keys, Map, identity, place_of, plain
from slownet.containers.compose.scalars import Date
from slownet.model.errors import ComposeError, nearest
from slownet.model.shapes import Json

FILE = Path(__file__).with_name("compose-spec.json")
EXTRA = ("additionalProperties", "unevaluatedProperties")
EXTENSION = "x-"
_KINDS = {
    "object": "a mapping", "array": "a list", "string": "a text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip


@cache
def schema() -> dict[str, Json]:
    """Return the specification's schema."""
    found: dict[str, Json] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def properties(name: str) -> dict[str, Json]:
    """Return the fields of one of the schema's definitions, such as "service", with those that it takes over."""
    return _properties(schema()["$defs"][name])


def check(tree: Map) -> None:
    """Raise ComposeError for the first thing in a file that the specification does not allow."""
    found = [
        (place_of(tree, keys), what, fix)
        for error in _validator().iter_errors(plain(tree))
        for keys, what, fix in _explained(error)
    ]
    if found:
        place, what, fix = min(found, key=lambda each: (each[0].line, each[0].column))
        raise ComposeError(what, where=str(place), fix=fix)


@cache
def _validator() -> Any:
    """Return a validator to which a date is a text only where numbers are texts, too."""
    from jsonschema import Draft202012Validator, ValidationError, validators  # slow to import

    def of_type(validator: Any, types: Any, instance: Any, found: Any) -> Iterator[Any]:
        if isinstance(instance, Date) and not {"string", "number", "boolean"} <= (
            {types} if isinstance(types, str) else set(types)
        ):
            instance = (instance,)  # no kind of value that a schema has
        yield from Draft202012Validator.VALIDATORS["type"](validator, types, instance, found)

    def each_once(validator: Any, wanted: bool, instance: Any, found: Any) -> Iterator[Any]:
        if wanted and isinstance(instance, list) and len({identity(each) for each in instance}) < len(instance):
            yield ValidationError("an element is there twice")  # jsonschema's own takes the square of their number

    extend: Any = validators.extend
    return extend(Draft202012Validator, {"type": of_type, "uniqueItems": each_once})(schema())


def _explained(error: Any) -> Iterator[tuple[Keys, str, str]]:
    """Yield where, what and how to fix it, for one of jsonschema's errors and for what it consists of."""
    keys = tuple(error.absolute_path)
    if error.validator in EXTRA:
        yield from _unknown(error, keys)
    elif error.validator in ("oneOf", "anyOf", "allOf") and error.context:
        if all(each.validator == "type" and not each.path for each in error.context):
            yield _of_another_kind(error, keys, [kind for each in error.context for kind in _kinds(each)])
        else:
            yield from _explained(_likeliest(error.context))
    elif error.validator == "type":
        yield _of_another_kind(error, keys, _kinds(error))
    elif error.validator == "enum":
        yield keys, f"{_named(keys)} is {_shown(error.instance)}", nearest(str(error.instance), map(str, error.validator_value))
    elif error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        yield keys, f"{_named(keys)} lacks '{missing[0]}'", f"add {missing[0]}:"
    elif error.validator == "uniqueItems":
        yield keys, f"{_named(keys)} has an element twice", "write it once"
    else:
        yield keys, f"{_named(keys)}: {error.message}", ""


def _kinds(error: Any) -> list[str]:
    """Return the kinds of values that a field may have."""
    return [error.validator_value] if isinstance(error.validator_value, str) else list(error.validator_value)


def _of_another_kind(error: Any, keys: Keys, wanted: Sequence[str]) -> tuple[Keys, str, str]:
    kinds = [_KINDS[each] for each in dict.fromkeys(wanted) if each != "null"]
    most, last = ", ".join(kinds[:-1]), kinds[-1]
    quoted = "put it in quotes" if "string" in wanted and isinstance(error.instance, int | float | Date) else ""
    return keys, f"{_named(keys)} is {_shown(error.instance)}, not {f'{most} or ' if most else ''}{last}", quoted


def _unknown(error: Any, keys: Keys) -> Iterator[tuple[Keys, str, str]]:
    """Yield the fields that are unknown.

    None if another error is the reason: fields whose values are wrong count as unevaluated, too.
    """
    known = _properties(error.schema)
    patterns = tuple(error.schema.get("patternProperties", {}))
    for name in error.instance:
        if name in known or name.startswith(EXTENSION) or (patterns and _fits(name, patterns)):
            continue
        if known:
            yield (*keys, name), f"unknown field '{name}'{_of(keys)}", nearest(name, known)
        else:
            yield (*keys, name), f"the name '{name}' is not valid{_of(keys)}", "use letters, digits and . _ -"


def _fits(name: str, patterns: Iterable[str]) -> bool:
    import re

    return any(re.search(each, name) for each in patterns)


def _likeliest(errors: Iterable[Any]) -> Any:
    """Return the error of the alternative that was meant: the one of the value's own kind, and of those the deepest."""
    return max(errors, key=lambda each: (each.validator != "type" or len(each.path) > 0, len(each.path)))


def _properties(found: Mapping[str, Json]) -> dict[str, Json]:
    if "$ref" in found:
        return _properties(schema()["$defs"][found["$ref"].rpartition("/")[2]])
    all_of = [_properties(each) for each in found.get("allOf", ())]
    return {name: each for part in [*all_of, found.get("properties", {})] for name, each in part.items()}


def _named(keys: Keys) -> str:
    return ".".join(map(str, keys)) or "the file"


def _of(keys: Keys) -> str:
    return f" in {_named(keys)}" if keys else ""


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Date):
        return f"the date {value.stated}"
    return "empty" if value is None else json.dumps(value)
