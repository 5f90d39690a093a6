"""Converts classes of Mininet's, or of a user's, to those that need no shell and no programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from mininet.node import CPULimitedHost, Node, OVSSwitch, Switch

from slownet.net.limited import QuickLimitedHost
from slownet.net.nodes import QuickNode, QuickSwitch, Renamed


def made_quick(maker: Any, convert: Callable[[type], Any]) -> Any:
    """A class of Mininet's, a `partial` of one, or a function that makes its objects: converted as far as can be seen."""
    if isinstance(maker, partial):
        return partial(made_quick(maker.func, convert), *maker.args, **maker.keywords)
    return convert(maker) if isinstance(maker, type) else maker


@cache
def quick(cls: type) -> type:
    """The same class of nodes without a shell from the start; as it is if that cannot be."""
    if issubclass(cls, QuickNode) or not issubclass(cls, Node):
        return cls
    if cls is CPULimitedHost:
        return QuickLimitedHost
    if any(getattr(cls, name) is not getattr(Node, name) for name in ("startShell", "popen", "_popen")):
        return cls  # starts its programs in a way of its own
    if issubclass(cls, OVSSwitch):
        return type(cls.__name__, (QuickSwitch, cls), {})
    return type(cls.__name__, (Renamed if issubclass(cls, Switch) else QuickNode, cls), {})
