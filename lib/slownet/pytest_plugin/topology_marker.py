"""A marker whose argument may be a topology class, as in `@pytest.mark.topology(ClientWebDb)`."""

from __future__ import annotations

import sys
from typing import Any

import pytest


class TakesTopologies(pytest.MarkDecorator):
    """A marker that takes a topology class as an argument; pytest's would mark it, as in `@pytest.mark.slow class TestIt`.

    Any other call goes to pytest's marker: a project may have its own marker of this name.
    """

    def __init__(self, plain: pytest.MarkDecorator) -> None:
        self.mark = plain.mark

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_topology(args[0]):
            return self.with_args(*args)
        return super().__call__(*args, **kwargs)


def take_topologies(name: str) -> None:
    """Make `pytest.mark.<name>(...)` accept a topology class as its argument."""
    setattr(pytest.mark, name, TakesTopologies(getattr(pytest.mark, name)))


def _is_topology(value: object) -> bool:
    """Return whether the value is a subclass of Mininet's Topo; none exists before Mininet was imported."""
    mininets = sys.modules.get("mininet.topo")
    return mininets is not None and isinstance(value, type) and issubclass(value, mininets.Topo)
