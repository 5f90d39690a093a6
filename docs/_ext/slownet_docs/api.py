"""The public interface, `slownet.__all__`, by what it is for; the texts are the docstrings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import slownet
from slownet.model.face import homes

GROUPS: Mapping[str, tuple[str, ...]] = {
    "claims": ("slownet.judge.claim",),
    "tools": ("slownet.tools", "slownet.tools.browser"),
    "services": ("slownet.services", "slownet.containers", "slownet.compose"),
    "networks": ("slownet.net", "slownet.links.conditions", "slownet.links.fault", "slownet.model.mininets"),
    "errors": ("slownet.model.errors",),
    "topologies": ("slownet.topologies",),
}
"""Group -> the rooms of its names; all others are of the group "experiments"."""
OTHERS = "experiments"
ROOMS = homes()
MODULES = (
    "slownet.tools.browser.page",
    "slownet.tools.browser.locator",
    "slownet.tools.browser.expecting",
    "slownet.theory.fallback",
    "slownet.theory.handshakes",
    "slownet.theory.head_of_line",
    "slownet.theory.lookups",
    "slownet.theory.multipath",
    "slownet.theory.page_loads",
    "slownet.theory.path_mtu",
    "slownet.theory.published",
    "slownet.theory.slow_start",
    "slownet.theory.stats",
    "slownet.theory.throughput",
    "slownet.model.units",
    "slownet.waits.account",
    "slownet.waits.live",
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
