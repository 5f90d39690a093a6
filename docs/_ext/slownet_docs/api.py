"""The public interface, `slownet.__all__`, by what it is for; the texts are the docstrings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import slownet

GROUPS: Mapping[str, tuple[str, ...]] = {
    "claims": ("slownet.claim",),
    "tools": ("slownet.tools", "slownet.browser"),
    "services": ("slownet.services", "slownet.container", "slownet.compose"),
    "networks": ("slownet.net", "slownet.conditions", "slownet.mininets"),
    "errors": ("slownet.errors",),
    "topologies": ("slownet.topologies",),
}
"""Group -> the rooms of its names; all others are of the group "experiments"."""
OTHERS = "experiments"
ROOMS = {name: module for module, names in slownet._HOMES.items() for name in names.split()}
MODULES = (
    "slownet.fallback",
    "slownet.handshakes",
    "slownet.head_of_line",
    "slownet.lookups",
    "slownet.multipath",
    "slownet.page_loads",
    "slownet.path_mtu",
    "slownet.published",
    "slownet.slow_start",
    "slownet.stats",
    "slownet.throughput",
    "slownet.units",
)
"""Public modules, as far as their own documentation describes them."""


def group_of(name: str) -> str:
    """Return the group of a public name."""
    home = ROOMS[name]
    return next((group for group, rooms in GROUPS.items() if home.startswith(rooms)), OTHERS)


def pages() -> Mapping[str, Callable[[], str]]:
    """Return the function that makes each group's page, and that of the modules'."""
    made = {f"api-{group}": _page_of(group) for group in (*GROUPS, OTHERS) if group != "topologies"}
    return made | {"api-modules": lambda: "\n".join(line for each in MODULES for line in _module(each))}


def _page_of(group: str) -> Callable[[], str]:
    return lambda: "\n".join(line for name in slownet.__all__ if group_of(name) == group for line in _entry(name))


def _entry(name: str) -> Iterator[str]:
    found = getattr(slownet, name)
    kind = "autoclass" if isinstance(found, type) else "autofunction" if callable(found) else "autodata"
    yield from (f"## {name}", "", "```{eval-rst}", f".. {kind}:: slownet.{name}")
    yield from (["   :members:"] if kind == "autoclass" else [])
    yield from ("```", "")


def _module(name: str) -> Iterator[str]:
    yield from (f"## {name}", "", "```{eval-rst}", f".. automodule:: {name}", "   :members:", "```", "")
