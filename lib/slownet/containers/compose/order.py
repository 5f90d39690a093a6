"""The order in which services start: each after those that it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.containers.compose.model import Service
from slownet.model.errors import ComposeError


def sort(services: Mapping[str, Service]) -> list[Service]:
    """Return the services so that each comes after what it depends on, and those that wait for nothing come first.

    Services that can start together stay in the order of the file. Raises ComposeError for a cycle.
    """
    depths: dict[str, int] = {}
    for name in services:
        _visit(name, services, depths, ())
    return sorted(services.values(), key=lambda each: depths[each.name])


def _visit(name: str, services: Mapping[str, Service], depths: dict[str, int], way: tuple[str, ...]) -> int:
    """Note and return how many services must start before this one, one after the other."""
    if name not in depths:
        depth = 0
        for each in services[name].depends_on:
            if each.service == name or each.service in way:
                start = (*way, name).index(each.service)
                _cycle([*(*way, name)[start:], each.service], each.at)
            depth = max(depth, 1 + _visit(each.service, services, depths, (*way, name)))
        depths[name] = depth
    return depths[name]


def _cycle(names: Sequence[str], at: str) -> None:
    fix = "take out one of these depends_on"
    raise ComposeError(f"the services wait for each other: {' -> '.join(names)}", at, fix)
