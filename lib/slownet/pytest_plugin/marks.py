"""A marker whose argument may be a topology's class, as in `@pytest.mark.topology(ClientWebDb)`."""

from __future__ import annotations

import sys
from typing import Any

import pytest


class TakesTopologies(pytest.MarkDecorator):
    """pytest's own would take the class for what is to be marked, as in `@pytest.mark.slow class TestIt`.

    Everything else goes to pytest's: a project may have a marker of this name that is none of slownet's.
    """

    def __init__(self, plain: pytest.MarkDecorator) -> None:
        self.mark = plain.mark

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_topology(args[0]):
            return self.with_args(*args)
        return super().__call__(*args, **kwargs)


def take_topologies(name: str) -> None:
    """Makes `pytest.mark.<name>(...)` take a topology's class as its argument."""
    setattr(pytest.mark, name, TakesTopologies(getattr(pytest.mark, name)))


def _is_topology(value: object) -> bool:
    """Whether it is a class of Mininet's Topo: there is none before that was imported."""
    mininets = sys.modules.get("mininet.topo")
    return mininets is not None and isinstance(value, type) and issubclass(value, mininets.Topo)
