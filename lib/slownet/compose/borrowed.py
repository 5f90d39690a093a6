"""Volumes (``volumes_from``) and the network (``network_mode``) that a service has from another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slownet.compose.document import Map, Place
from slownet.compose.fields import X_SLOWNET
from slownet.compose.model import CLIENT, Dependency, Service, Volume
from slownet.model.errors import ComposeError

NETWORK_MODE, HOST, SERVICE = "network_mode", "host", "service:"
_OWN = ("", "bridge", "default")
"""Modes where a service has a network of its own, as every service in a lab."""
_OF_AN_INTERFACE = ("networks", "mac_address", X_SLOWNET)
"""Fields of a network of its own."""


def mode(tree: Map) -> str:
    """Return the mode of a service that shares a network; empty if it does not."""
    found = str(tree.get(NETWORK_MODE) or "")
    return "" if found in _OWN else found


def host(name: str, tree: Map) -> str:
    """Return the host whose network a service has; empty for one of its own. Raises ComposeError.

    The machine of a container engine is the host that measures: its address is the gateway's.
    """
    stated = str(tree.get(NETWORK_MODE) or "")
    if stated and tree.get("networks"):
        raise ComposeError(
            f"{name} has both {NETWORK_MODE} and networks", str(tree.keys_at[NETWORK_MODE]), "leave one of them out"
        )
    if stated in _OWN:
        return ""
    if stated != HOST and not stated.startswith(SERVICE):
        what = f"{NETWORK_MODE} {stated} of {name} is not possible in a lab"
        raise ComposeError(what, str(tree.keys_at[NETWORK_MODE]), f"write {HOST}, {SERVICE}NAME, or leave it out")
    found = CLIENT if stated == HOST else stated.removeprefix(SERVICE)
    for field in _OF_AN_INTERFACE:
        if tree.get(field):
            fix = f"leave it out, or {NETWORK_MODE}"
            raise ComposeError(f"{field} of {name}, which has the network of {found}", str(tree.keys_at[field]), fix)
    return found


def dependency(name: str, tree: Map) -> Iterator[Dependency]:
    """Yield what a service waits for because it has another one's network."""
    other = mode(tree).removeprefix(SERVICE)
    if mode(tree).startswith(SERVICE) and other not in (tree.get("depends_on") or {}):
        yield Dependency(other, at=str(tree.keys_at[NETWORK_MODE]))


def resolved(services: Mapping[str, Service], trees: Mapping[str, Map], counts: Mapping[str, int]) -> dict[str, Service]:
    """Return services with the host that each runs on in the end: one may share with one that shares. Raises ComposeError.

    counts: how many replicas of each there are.
    """
    made = {}
    for name, each in services.items():
        found = each.shares
        if found and max(counts[name], counts.get(found, 1)) > 1:
            several = name if counts[name] > 1 else found
            what = f"{name} has the network of {found}, and there are {counts[several]} of {several}"
            raise ComposeError(what, str(trees[name].keys_at[NETWORK_MODE]), "have one replica")
        while found in services and services[found].shares:  # no circle: they depend on each other
            found = services[found].shares
        made[name] = replace(each, shares=found)
    return made


def warnings(services: Mapping[str, Service], trees: Mapping[str, Map]) -> Iterator[str]:
    """Yield what differs for services on the network of a container engine's machine."""
    for name, each in services.items():
        if each.shares == CLIENT:
            line = f"{name} is on the host {CLIENT}: ports of other services are on their own hosts"
            yield f"{trees[name].keys_at[NETWORK_MODE]}: {line}"


VOLUMES_FROM = "volumes_from"
_MODES = {"": None, "rw": False, "ro": True}


def dependencies(tree: Map) -> Iterator[Dependency]:
    """Yield what a service waits for because it has volumes of others. Raises ComposeError."""
    for name, _, at in _stated(tree):
        if name not in (tree.get("depends_on") or {}):
            yield Dependency(name, at=str(at))


def _stated(tree: Map) -> Iterator[tuple[str, bool | None, Place]]:
    """Yield the services, whether their volumes are only read (None: as there), and the place in the file."""
    for number, each in enumerate(tree.get(VOLUMES_FROM) or ()):
        at = tree[VOLUMES_FROM].at[number]
        name, _, mode = str(each).partition(":")
        if name == "container" or mode not in _MODES:
            raise ComposeError(f"unclear {VOLUMES_FROM} '{each}'", str(at), "write a service's name, or NAME:ro")
        yield name, _MODES[mode], at


def given(services: Sequence[Service], trees: Mapping[str, Map], counts: Mapping[str, int]) -> dict[str, Service]:
    """Return services, which come after those that they depend on, with the volumes of others. Raises ComposeError.

    A volume without a name gets one, so that both have it. counts: how many replicas of each there are.
    """
    made = {each.name: each for each in services}
    for service in services:
        for name, only_read, at in _stated(trees[service.name]):
            if name not in made:  # of a service that is refused itself
                continue
            if counts[name] > 1:
                what = f"{service.name} has the volumes of {name}, and there are {counts[name]} of it"
                raise ComposeError(what, str(at), "have one replica, or name the volumes in both services")
            own = {each.target for each in made[service.name].volumes}
            made[name] = replace(made[name], volumes=tuple(_named(each, name) for each in made[name].volumes))
            theirs = (each for each in made[name].volumes if each.kind != "tmpfs" and each.target not in own)
            more = [each if only_read is None else replace(each, read_only=only_read) for each in theirs]
            made[service.name] = replace(made[service.name], volumes=(*made[service.name].volumes, *more))
    return made


def _named(volume: Volume, owner: str) -> Volume:
    if volume.kind != "volume" or volume.source:
        return volume
    return replace(volume, source=f"{owner}{volume.target.replace('/', '-')}")
