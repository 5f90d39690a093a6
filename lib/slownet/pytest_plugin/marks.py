"""A marker whose argument may be a class, as in `@pytest.mark.topology(ClientWebDb)`."""

from __future__ import annotations

from typing import Any

import pytest


class TakesClasses(pytest.MarkDecorator):
    """pytest's own would take the class for what is to be marked, as in `@pytest.mark.slow class TestIt`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.with_args(*args, **kwargs)


def take_classes(name: str) -> None:
    """Makes `pytest.mark.<name>(...)` take a class as its argument; the marker is not used without arguments."""
    mark = TakesClasses(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)
    setattr(pytest.mark, name, mark)
