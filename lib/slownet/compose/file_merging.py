"""Merges a compose file over another by compose's rules; both have their services in the long form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from slownet.compose.document import Items, Keys, Map, Place, Reset, copy, identity
from slownet.model.errors import ComposeError

_REPLACED = (("command",), ("entrypoint",), ("healthcheck", "test"))
"""Fields of a service that are not merged: the later one counts."""
_OF_TWO_KINDS = (("ulimits",),)
"""Fields where a single value and a mapping mean the same, so that one replaces the other."""
_ANY = "*"


def _target(each: Any) -> Hashable:
    return each.get("target") if isinstance(each, dict) else each


def _mounted(each: Any) -> Hashable:
    return (each.get("target") or each.get("source")) if isinstance(each, dict) else each


def _path(each: Any) -> Hashable:
    return each.get("path") if isinstance(each, dict) else each


_ONCE = (
    "cap_add", "cap_drop", "configs", "devices", "dns", "dns_opt", "dns_search", "env_file", "expose", "links", "ports",
    "profiles", "secrets", "tmpfs", "volumes",
)  # fmt: skip
_UNIQUE: Mapping[tuple[str, ...], Callable[[Any], Hashable]] = {
    ("volumes",): _target, ("devices",): _target, ("configs",): _mounted, ("secrets",): _mounted, ("env_file",): _path,
}  # fmt: skip
"""Lists of a service where the later element of the same name takes the place of the earlier one."""


def files(base: Map, over: Map) -> Map:
    """Return one file merged over another. Raises ComposeError."""
    made: Map = copy(base)
    _into(made, over, ())
    return made


def service(base: Map, over: Map) -> Map:
    """Return a service merged over the one that it extends. Raises ComposeError."""
    made: Map = copy(base)
    _into(made, over, ("services", _ANY))
    return made


def _into(made: Map, over: Map, keys: Keys) -> None:
    for name, value in over.items():
        at = over.values_at[name]
        if isinstance(value, Reset):
            made.pop(name, None)
        elif name in made:
            made.put(name, _merged(made[name], value, (*keys, name), at), over.keys_at[name], at)
        else:
            made.put(name, copy(value), over.keys_at[name], at)


def _merged(base: Any, over: Any, keys: Keys, at: Place) -> Any:
    inside = tuple(str(each) for each in keys[2:]) if keys[0] == "services" else None
    replaces = getattr(over, "replaces", False)
    if inside in _REPLACED or replaces or base is None:
        return copy(over)
    if over is None:
        return base
    if isinstance(base, Map) and isinstance(over, Map):
        _into(base, over, keys)
        return base
    if isinstance(base, Items) and isinstance(over, Items):
        return _joined(base, over, _UNIQUE.get(inside or ()))
    if _kind(base) != _kind(over) and (inside or ())[:1] not in _OF_TWO_KINDS:
        raise ComposeError(
            f"{'.'.join(map(str, keys))} is {_kind(base)} in the file below", str(at), "write it in the same form"
        )
    return copy(over)


def _kind(value: Any) -> str:
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


def _key(value: Any, name: Callable[[Any], Hashable] | None) -> Hashable:
    """Return what an element is known by; one of a kind that `kinds.check` refuses, such as a list, by itself."""
    found = (name or identity)(value)
    try:
        hash(found)
    except TypeError:
        return id(value)
    return found


def _joined(base: Items, over: Items, name: Callable[[Any], Hashable] | None) -> Items:
    """Return both lists' elements, each once."""
    made = Items(base.place)
    known: dict[Hashable, int] = {}
    for value, at in [*zip(base, base.at, strict=True), *zip(over, over.at, strict=True)]:
        index = known.setdefault(_key(value, name), len(made))
        if index < len(made):
            made[index], made.at[index] = copy(value), at
        else:
            made.add(copy(value), at)
    return made


def once(service: Map) -> None:
    """Leave one of elements that occur twice, as compose does before it checks a service: the later one, in its place."""
    for name in _ONCE:
        found = service.get(name)
        if isinstance(found, Items):
            joined = _joined(Items(found.place), found, _UNIQUE.get((name,)))
            joined.replaces = found.replaces
            service[name] = joined
