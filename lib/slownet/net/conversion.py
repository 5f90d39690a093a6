"""Converts node and link classes of Mininet or of a user to faster ones without shells and helper programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from mininet.node import CPULimitedHost, Node, OVSSwitch, Switch

from slownet.net.limited import QuickLimitedHost
from slownet.net.nodes import QuickNode, QuickSwitch, Renamed


def fast_factory(maker: Any, convert: Callable[[type], Any]) -> Any:
    """Convert a class, or the class in a `partial`; return any other function unchanged."""
    if isinstance(maker, partial):
        return partial(fast_factory(maker.func, convert), *maker.args, **maker.keywords)
    return convert(maker) if isinstance(maker, type) else maker


@cache
def fast_class(cls: type) -> type:
    """Return a node class that starts its shell only when needed; the class itself if that is impossible."""
    if issubclass(cls, QuickNode) or not issubclass(cls, Node):
        return cls
    if cls is CPULimitedHost:
        return QuickLimitedHost
    if any(getattr(cls, name) is not getattr(Node, name) for name in ("startShell", "popen", "_popen")):
        return cls  # it starts programs in its own way
    if issubclass(cls, OVSSwitch):
        return type(cls.__name__, (QuickSwitch, cls), {})
    return type(cls.__name__, (Renamed if issubclass(cls, Switch) else QuickNode, cls), {})
