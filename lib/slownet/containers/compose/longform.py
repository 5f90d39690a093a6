"""Gives every field of a service one form, the long one, so that files merge and are read in one way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from slownet.containers.compose import scalars
from slownet.containers.compose.document import Items, Map, Place, Reset
from slownet.model.errors import ComposeError
from slownet.model.units import whole_number

_PORT = re.compile(
    r"(?:(?P<ip>\[[0-9a-fA-F:]+\]|\d+(?:\.\d+){3}):)?(?:(?P<published>\d*(?:-\d+)?):)?(?P<target>\d+(?:-\d+)?)(?:/(?P<protocol>tcp|udp|sctp))?"
)
MOST_PORT = 65535
_CONSISTENCIES = ("cached", "consistent", "delegated")
_PROPAGATIONS = ("private", "rprivate", "shared", "rshared", "slave", "rslave")
_MODES = frozenset(("ro", "rw", "z", "Z", "nocopy", *_CONSISTENCIES, *_PROPAGATIONS))


def service(found: Map) -> Map:
    """Return a service with its fields in the long form. Raises ComposeError."""
    return _formed(found, _FORMS)


def _formed(found: Map, forms: Mapping[str, Callable[[Any, Place], Any]]) -> Map:
    made = Map(found.place, found.replaces)
    for name, value in found.items():
        made.take(name, found)
        if name in forms and value is not None and not isinstance(value, Reset):
            made[name] = forms[name](value, found.values_at[name])
    return made


def text(value: Any) -> str:
    """Return a scalar as compose writes it into an environment."""
    return scalars.shown(value)


def _pairs(value: Any, place: Place) -> Map:
    """``[A=1, B]`` or a mapping: names with texts; a name without a value has None."""
    made = Map(value.place, value.replaces)
    if isinstance(value, Map):
        for name, each in value.items():
            given = each if each is None or isinstance(each, Reset) else text(each)
            made.put(name, given, value.keys_at[name], value.values_at[name])
    else:
        for each, at in zip(value, value.at, strict=True):
            name, equals, given = text(each).partition("=")
            made.put(name, given if equals else None, at)
    return made


def _named(default: Callable[[Place], Any]) -> Callable[[Any, Place], Map]:
    """A list of names or a mapping: a mapping."""

    def form(value: Any, place: Place) -> Map:
        if isinstance(value, Map):
            return value
        made = Map(value.place, value.replaces)
        for name, at in zip(value, value.at, strict=True):
            made.put(str(name), default(at), at)
        return made

    return form


def _dependency(at: Place) -> Map:
    made = Map(at)
    made.put("condition", "service_started", at)
    return made


def _list(value: Any, place: Place) -> Items:
    """One text or a list of them: a list."""
    if isinstance(value, Items):
        return value
    made = Items(place)
    made.add(value, place)
    return made


def _each(form: Callable[[Any, Place], Map]) -> Callable[[Any, Place], Items]:
    """A list whose elements have a short form."""

    def forms(value: Any, place: Place) -> Items:
        items = _list(value, place)
        made = Items(items.place, items.replaces)
        for each, at in zip(items, items.at, strict=True):
            made.add(each if isinstance(each, Map) else form(each, at), at)
        return made

    return forms


def _map(place: Place, **fields: Any) -> Map:
    made = Map(place)
    for name, value in fields.items():
        if value is not None:
            made.put(name, value, place)
    return made


def _port(value: Any, place: Place) -> Map:
    found = _PORT.fullmatch(text(value))
    if not found:
        raise ComposeError(f"unclear port '{value}'", str(place), 'write "8000", "80:8000" or "127.0.0.1:80:8000/tcp"')
    inside, outside = _span(found["target"], place), _span(found["published"], place)
    if inside > 1 and outside not in (0, inside):
        what = f"{inside} ports of the container and {outside} of the machine in '{value}'"
        raise ComposeError(what, str(place), "give both ranges one length")
    return _map(
        place, target=found["target"], published=found["published"] or None, protocol=found["protocol"] or "tcp",
        host_ip=found["ip"],
    )  # fmt: skip


def _span(ports: str | None, place: Place) -> int:
    """Return how many ports a range has; 0 if none is stated. Raises ComposeError."""
    if not ports or ports.startswith("-"):
        return 0
    first, _, last = ports.partition("-")
    numbers = [number for number in (whole_number(first), whole_number(last or first)) if number is not None]
    if len(numbers) < 2 or not 0 <= numbers[0] <= numbers[1] <= MOST_PORT:
        raise ComposeError(f"unclear port '{ports}'", str(place), f"write 1 to {MOST_PORT}, or a range such as 8000-8003")
    return numbers[1] - numbers[0] + 1


def _volume(value: Any, place: Place) -> Map:
    """``./data:/data:ro``, ``data:/data`` or ``/data``."""
    source, target, modes = _split(text(value))
    unknown = [each for each in modes if each not in _MODES]
    if not target.startswith("/") or unknown:
        what = f"unknown mode '{unknown[0]}'" if unknown else f"'{target}' is not a whole path"
        raise ComposeError(f"{what} in the volume '{value}'", str(place), "write SOURCE:/path/in/container or SOURCE:/path:ro")
    kind = "bind" if source.startswith((".", "/", "~")) else "volume"
    labels = [each for each in modes if each in ("z", "Z")]
    own = {
        "propagation": next((each for each in modes if each in _PROPAGATIONS), None),
        "selinux": labels[0] if labels else None,
    }
    bind = _map(place, **own) if kind == "bind" and any(own.values()) else None
    return _map(
        place, type=kind, source=source or None, target=str(PurePosixPath(target)), read_only="ro" in modes or None, short=True,
        bind=bind, volume=_map(place, nocopy=True) if kind == "volume" and "nocopy" in modes else None,
        consistency=next((each for each in modes if each in _CONSISTENCIES), None),
    )  # fmt: skip


def _split(value: str) -> tuple[str, str, list[str]]:
    parts = value.split(":")
    if len(parts) == 1:
        return "", parts[0], []
    return parts[0], parts[1], [mode for part in parts[2:] for mode in part.split(",")]


def _env_file(value: Any, place: Place) -> Map:
    return _map(place, path=value)


def _content(value: Any, place: Place) -> Map:
    return _map(place, source=value)


def _build(value: Any, place: Place) -> Map:
    return _formed(value, _BUILD) if isinstance(value, Map) else _map(place, context=value)


def _hooks(value: Any, place: Place) -> Items:
    made = Items(value.place, value.replaces)
    for each, at in zip(value, value.at, strict=True):
        made.add(_formed(each, {"environment": _pairs}), at)
    return made


def _extra_hosts(value: Any, place: Place) -> Map:
    """``name:address``, ``name=address`` or a mapping: names with lists of addresses."""
    made = Map(value.place, value.replaces)
    pairs = (
        ((name, each, value.keys_at[name]) for name, each in value.items())
        if isinstance(value, Map)
        else (_host(text(each), at) for each, at in zip(value, value.at, strict=True))
    )
    for name, addresses, at in pairs:
        found = made.get(name) or Items(at)
        for each in addresses if isinstance(addresses, list) else [addresses]:
            found.add(each.strip("[]"), at)
        made.put(name, found, at)
    return made


def _host(value: str, at: Place) -> tuple[str, str, Place]:
    name, sign, address = value.partition("=" if "=" in value else ":")
    if not sign:
        raise ComposeError(f"unclear host '{value}'", str(at), "write NAME=ADDRESS, such as mail=10.0.0.99")
    return name, address, at


def _extends(value: Any, place: Place) -> Map:
    return value if isinstance(value, Map) else _map(place, service=value)


_BUILD: Mapping[str, Callable[[Any, Place], Any]] = {
    "args": _pairs, "labels": _pairs, "additional_contexts": _pairs, "secrets": _each(_content), "extra_hosts": _extra_hosts,
    "ssh": _pairs,
}  # fmt: skip
_FORMS: Mapping[str, Callable[[Any, Place], Any]] = {
    "annotations": _pairs, "build": _build, "configs": _each(_content), "depends_on": _named(_dependency), "dns": _list,
    "dns_search": _list, "env_file": _each(_env_file), "environment": _pairs, "extends": _extends, "extra_hosts": _extra_hosts,
    "label_file": _list, "labels": _pairs, "networks": _named(lambda at: None), "ports": _each(_port), "post_start": _hooks,
    "pre_stop": _hooks,
    "secrets": _each(_content), "sysctls": _pairs, "tmpfs": _list, "volumes": _each(_volume),
}  # fmt: skip
