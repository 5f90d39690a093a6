"""Volumes that a service has because another one has them: ``volumes_from``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slownet.compose.document import Map, Place
from slownet.compose.model import Dependency, Service, Volume
from slownet.model.errors import ComposeError

FIELD = "volumes_from"
_MODES = {"": None, "rw": False, "ro": True}


def dependencies(tree: Map) -> Iterator[Dependency]:
    """Yield what a service waits for because it has volumes of others. Raises ComposeError."""
    for name, _, at in _stated(tree):
        if name not in (tree.get("depends_on") or {}):
            yield Dependency(name, at=str(at))


def _stated(tree: Map) -> Iterator[tuple[str, bool | None, Place]]:
    """Yield the services, whether their volumes are only read (None: as there), and the place in the file."""
    for number, each in enumerate(tree.get(FIELD) or ()):
        at = tree[FIELD].at[number]
        name, _, mode = str(each).partition(":")
        if name == "container" or mode not in _MODES:
            raise ComposeError(f"unclear {FIELD} '{each}'", str(at), "write a service's name, or NAME:ro")
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
