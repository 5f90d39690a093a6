"""Gives every field of a service one form, the long one, so that files merge and are read in one way."""

from __future__ import annotations

import ipaddress
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slownet.compose import container_fields
from slownet.compose.document import Items, Map, Place, Replacing, Reset, pairs
from slownet.compose.scalars import text
from slownet.model.errors import ComposeError
from slownet.model.units import whole_number

_PROTOCOLS = ("tcp", "udp", "sctp")
_PORT_FIX = 'write "8000", "80:8000", "127.0.0.1:80:8000/tcp" or "[::1]:80:8000"'
MOST_PORT = 65535
_VOLUME_FIX = "write SOURCE:/path/in/container or SOURCE:/path:ro"
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
    made = Items(place, isinstance(value, Replacing))
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
    """``[[ADDRESS:][PUBLISHED]:]TARGET[/PROTOCOL]``; address and published port may be empty, as in compose."""
    if isinstance(value, float):
        raise ComposeError(f"unclear port '{value}'", str(place), "put it in quotes")
    stated = text(value)
    *before, last = stated.split(":")
    published = before.pop() if before else ""
    target, _, rest = last.partition("/")
    protocol = rest.partition("/")[0].lower() or "tcp"
    if not target or protocol not in _PROTOCOLS:
        what = (
            f"unclear port '{stated[:60]}'" if not target else f"unknown protocol '{protocol[:20]}' of the port '{stated[:60]}'"
        )
        raise ComposeError(what, str(place), _PORT_FIX)
    address = _host_address(":".join(before), stated, place)
    (first, final), outside = _span(target, stated, place), _span(published, stated, place) if published else None
    if outside and final > first and outside[1] - outside[0] != final - first:
        what = f"{final - first + 1} ports of the container and {outside[1] - outside[0] + 1} of the machine in '{stated}'"
        raise ComposeError(what, str(place), "give both ranges one length")
    return _map(
        place, target=f"{first}-{final}" if final > first else str(first), published=published or None, protocol=protocol,
        host_ip=address or None,
    )  # fmt: skip


def _host_address(stated: str, port: str, place: Place) -> str:
    """Return the address of the machine that a port states, without brackets. Raises ComposeError."""
    bracketed = stated.startswith("[") and stated.endswith("]")
    address = stated[1:-1] if bracketed else stated
    if address and ((":" in address and not bracketed) or not is_address(address)):
        what = f"'{stated[:60]}' is not an address in the port '{port[:60]}'"
        raise ComposeError(
            what, str(place), "put an IPv6 address in brackets" if ":" in address and not bracketed else _PORT_FIX
        )
    return address


def is_address(given: str) -> bool:
    """Return whether a text is an address of IPv4 or IPv6, without a zone."""
    try:
        ipaddress.ip_address(given)
    except ValueError:
        return False
    return "%" not in given


def _span(ports: str, stated: str, place: Place) -> tuple[int, int]:
    """Return a range's first and last port. Raises ComposeError."""
    first, *more = ports.split("-")
    numbers = [whole_number(each) for each in (first, (more or [first])[0])]
    found = [number for number in numbers if number is not None and number <= MOST_PORT]
    if len(found) < 2 or found[0] > found[1]:
        fix = f"write 1 to {MOST_PORT}, or a range such as 8000-8003" if ports[:1].isdecimal() else _PORT_FIX
        raise ComposeError(f"unclear port '{ports[:40]}' in '{stated[:60]}'", str(place), fix)
    return found[0], found[1]


def _volume(value: Any, place: Place) -> Map:
    """``./data:/data:ro``, ``data:/data`` or ``/data``."""
    source, target, modes = _split(text(value), place)
    unknown = [each for each in modes if each not in _MODES]
    if not target.startswith("/"):
        what = f"'{target}' is not a whole path in the volume '{value}'"
        drive = re.match(r"[a-zA-Z]:", target)
        fix = "compose takes one letter for a drive: give the volume a longer name" if drive else _VOLUME_FIX
        raise ComposeError(what, str(place), fix)
    kind = "bind" if source.startswith((".", "/", "~")) else "volume"
    labels = [each for each in modes if each in ("z", "Z")]
    own = {
        "propagation": next((each for each in modes if each in _PROPAGATIONS), None),
        "selinux": labels[0] if labels else None,
    }
    bind = _map(place, **own) if kind == "bind" and any(own.values()) else None
    return _map(
        place, type=kind, source=source or None, target=_clean(target), read_only=_is_read_only(modes) or None, short=True,
        bind=bind, volume=_map(place, nocopy=True) if kind == "volume" and "nocopy" in modes else None,
        consistency=next((each for each in modes if each in _CONSISTENCIES), None), unknown=", ".join(unknown) or None,
    )  # fmt: skip


def _clean(target: str) -> str:
    return posixpath.normpath(f"/{target.lstrip('/')}")


def _is_read_only(modes: Sequence[str]) -> bool:
    """Return whether the last of the modes ro and rw is ro."""
    return next((each == "ro" for each in reversed(modes) if each in ("ro", "rw")), False)


def _split(value: str, place: Place) -> tuple[str, str, list[str]]:
    """Return source, target and modes. Raises ComposeError."""
    parts = _sections(value) if len(value) > 2 else [value]
    if len(parts) > 3 or not all(parts):
        what = "too many colons" if len(parts) > 3 else "an empty part between colons"
        raise ComposeError(f"{what} in the volume '{value}'", str(place), _VOLUME_FIX)
    if len(parts) == 1:
        return "", parts[0], []
    return parts[0], parts[1], [mode for part in parts[2:] for mode in part.split(",")]


def _sections(value: str) -> list[str]:
    """Return what is between colons; one after a single letter is a drive's, as in compose."""
    found = [""]
    for each in value:
        if each == ":" and not (len(found[-1]) == 1 and found[-1].isalpha()):
            found.append("")
        else:
            found[-1] += each
    return found


def _env_file(value: Any, place: Place) -> Map:
    return _map(place, path=value)


def _content(value: Any, place: Place) -> Map:
    return _map(place, source=value)


def _build(value: Any, place: Place) -> Map:
    return _formed(value, _BUILD) if isinstance(value, Map) else _map(place, context=value)


def _hooks(value: Any, place: Place) -> Items:
    made = Items(value.place, value.replaces)
    for each, at in zip(value, value.at, strict=True):
        made.add(_formed(each, {"environment": pairs}), at)
    return made


def _extra_hosts(value: Any, place: Place) -> Map:
    """``name:address``, ``name=address`` or a mapping: names with lists of addresses."""
    made = Map(value.place, value.replaces)
    comma = not isinstance(value, Map)
    pairs = (
        ((name, each, value.keys_at[name]) for name, each in value.items())
        if isinstance(value, Map)
        else (_host(text(each), at) for each, at in zip(value, value.at, strict=True))
    )
    for name, addresses, at in pairs:
        found = made.get(name) or Items(at)
        if not name or ":" in name or "=" in name:
            raise ComposeError(f"'{name}' is not a host's name", str(at), "write NAME=ADDRESS, such as mail=10.0.0.99")
        for each in addresses if isinstance(addresses, list) else addresses.split(",") if comma else [addresses or ""]:
            found.add(each[1:-1] if each.startswith("[") and each.endswith("]") and len(each) > 2 else each, at)
        made.put(name, found, at)
    return made


def _host(value: str, at: Place) -> tuple[str, str, Place]:
    name, sign, address = value.partition("=" if "=" in value else ":")
    if not sign:
        raise ComposeError(f"unclear host '{value}'", str(at), "write NAME=ADDRESS, such as mail=10.0.0.99")
    return name, address, at


def _extends(value: Any, place: Place) -> Map:
    return value if isinstance(value, Map) else _map(place, service=value)


def _valued(*bare: str) -> Callable[[Any, Place], Map]:
    """``NAME=VALUE`` or a mapping; in a list only some names may lack a value."""

    def form(value: Any, place: Place) -> Map:
        made = pairs(value, place)
        for name, each in made.items() if isinstance(value, Items) else ():
            if each is None and name not in bare:
                raise ComposeError(f"'{name}' lacks a value", str(made.keys_at[name]), "write NAME=VALUE")
        return made

    return form


_BUILD: Mapping[str, Callable[[Any, Place], Any]] = {
    "args": pairs, "labels": pairs, "additional_contexts": _valued(), "secrets": _each(_content), "extra_hosts": _extra_hosts,
    "ssh": _valued("default"),
}  # fmt: skip
_FORMS: Mapping[str, Callable[[Any, Place], Any]] = {
    "annotations": pairs, "build": _build, "configs": _each(_content), "depends_on": _named(_dependency), "dns": _list,
    "dns_search": _list, "env_file": _each(_env_file), "environment": pairs, "extends": _extends, "extra_hosts": _extra_hosts,
    "label_file": _list, "labels": pairs, "networks": _named(lambda at: None), "ports": _each(_port), "post_start": _hooks,
    "pre_stop": _hooks,
    "secrets": _each(_content), "tmpfs": _list, "volumes": _each(_volume),
    **{name: row.form for name, row in container_fields.ROWS.items() if row.form},
}  # fmt: skip
