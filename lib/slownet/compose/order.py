"""The order in which services start: each after those that it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slownet.compose.model import Service
from slownet.errors import ComposeError


def sort(services: Mapping[str, Service]) -> list[Service]:
    """Return the services so that each comes after what it depends on, else in the order of the file.

    Raises ComposeError for a cycle.
    """
    done: dict[str, Service] = {}
    for name in services:
        _visit(name, services, done, ())
    return list(done.values())


def _visit(name: str, services: Mapping[str, Service], done: dict[str, Service], way: tuple[str, ...]) -> None:
    if name in done:
        return
    for each in services[name].depends_on:
        if each.service == name or each.service in way:
            start = (*way, name).index(each.service)
            _cycle([*(*way, name)[start:], each.service], each.at)
        _visit(each.service, services, done, (*way, name))
    done[name] = services[name]


def _cycle(names: Sequence[str], at: str) -> None:
    fix = "take out one of these depends_on"
    raise ComposeError(f"the services wait for each other: {' -> '.join(names)}", at, fix)
