"""Publishes verdicts to whoever records what a test or a script claimed, without its author's involvement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Listener = Callable[[Any], None]

_listeners: list[Listener] = []


@contextmanager
def observed_by(listener: Listener) -> Iterator[None]:
    """While it is entered, the listener is called with every verdict (a Judgement) that is told."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def notify(verdict: Any) -> None:
    """A claim was judged, and somebody asked how."""
    for listener in tuple(_listeners):
        listener(verdict)
