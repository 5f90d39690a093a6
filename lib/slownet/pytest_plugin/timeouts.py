"""pytest-timeout in a lab: the host's real seconds count, as the author of a test means them.

pytest-timeout sets a timer in the process of the tests. On a lab's virtual clock that rings after seconds that took no time,
and where computing is free, never for a test that computes without an end: the clock stands. So the lab asks the host for an
alarm (`slownet.pytest_plugin.relayed_reports`), which comes as a signal, and then does what pytest-timeout does.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.pytest_plugin.relayed_reports import Alarms

if TYPE_CHECKING:
    from slownet.lab.run.place import Place

RINGS = signal.SIGURG
"""The host's signal reaches all processes of the group, and this one is ignored by those that do not wait for it."""
PLUGIN = "pytest_timeout"
METHOD_THREAD = "thread"
HEARD_S = 0.001
"""Of the lab's clock, in which what was sent gets out of the lab: a test that computes might not let it."""
EARLY = 0.9
"""A signal that comes after less than this share of the time was meant for the test before."""


def has_plugin(config: pytest.Config, module: str) -> bool:
    """Return whether a plugin is registered, by its module, whatever name pytest has it under."""
    found = sys.modules.get(module)
    return found is not None and config.pluginmanager.is_registered(found)


def register(config: pytest.Config) -> None:
    """Take over the timers of pytest-timeout, if the session has it and the lab's clock is not the real one."""
    if native.clock_is_virtual() and inside.EVENTS in os.environ and has_plugin(config, PLUGIN):
        config.pluginmanager.register(Timeouts(native.RealTime(Path(inside.OUT))), "slownet timeouts")


def alarms(place: Place) -> Alarms:
    """Return what rings in a place, on the host."""
    return Alarms(lambda: place.notify(RINGS), lambda: place.signal(signal.SIGKILL))


class Timeouts:
    """Sets and cancels alarms of the host's in place of pytest-timeout's timers."""

    def __init__(self, real: Callable[[], float] = time.time) -> None:
        self._real = real
        self._ring: Callable[[], None] | None = None

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> bool:
        timers: Any = importlib.import_module(PLUGIN)
        began, due = self._real(), EARLY * settings.timeout
        how = timers.timeout_timer if settings.method == METHOD_THREAD else timers.timeout_sigalrm

        def ring() -> None:
            __tracebackhide__ = True
            if self._real() - began >= due:
                how(item, settings)

        self._ring = ring
        undo = _by_thread(ring) if settings.method == METHOD_THREAD else _by_signal(ring)

        def cancel() -> None:
            if self._ring is ring:
                self._ring = None
                undo()
                inside.send({"event": "calm"})

        item.cancel_timeout = cancel  # type: ignore[attr-defined]  # what pytest-timeout's own hook calls
        inside.send({"event": "alarm", "test": item.nodeid, "after": settings.timeout})
        time.sleep(HEARD_S)
        return True


def _by_signal(ring: Callable[[], None]) -> Callable[[], None]:
    """Call it in the main thread when the alarm rings, in whatever that does; return what undoes that."""

    def handler(number: int, frame: object) -> None:
        __tracebackhide__ = True
        ring()

    before = signal.signal(RINGS, handler)
    return lambda: (signal.signal(RINGS, before), None)[1]


def _by_thread(ring: Callable[[], None]) -> Callable[[], None]:
    """Call it in a thread, also while the main one is in a function of C that no signal's handler interrupts."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.signal(RINGS, lambda number, frame: None)
    fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def wait() -> None:
        while data := reader.recv(1):
            if data[0] == RINGS:
                ring()
        reader.close()

    thread = threading.Thread(target=wait, name="slownet timeout", daemon=True)
    thread.start()

    def undo() -> None:
        signal.set_wakeup_fd(fd)
        signal.signal(RINGS, before)
        writer.close()
        thread.join()

    return undo
