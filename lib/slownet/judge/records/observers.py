"""Publication of verdicts to recorders, without the involvement of the test's or script's author."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Listener = Callable[[Any], None]

_listeners: list[Listener] = []


@contextmanager
def observed_by(listener: Listener) -> Iterator[None]:
    """Call the listener with every verdict (a Judgement) that is published inside this context."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def notify(verdict: Any) -> None:
    """Pass a verdict to all listeners."""
    for listener in tuple(_listeners):
        listener(verdict)
