"""Waits for Mininet's own controllers, which make switches learn.

They listen a moment after they were started, and a switch that was refused tries again after a second. On the virtual clock,
where nothing takes time, a program's first packets would come before that.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from slownet.net.loops import LEARNING
from slownet.net.nodes import CONTROLLER, NORMAL, QuickSwitch, inside

MOST_SWITCHES = 16
"""Of ovs-testcontroller (utilities/ovs-testcontroller.c, MAX_SWITCHES); it does not answer further ones."""
LISTENS_S = 5.0
CONNECTS_S = 5.0
POLL_S = 0.005
REPLY_S = 10


def too_many(controllers: Sequence[Any], switches: Sequence[Any]) -> bool:
    """Return whether there are more switches than a network's only controller, Mininet's default one, answers."""
    return len(controllers) == 1 and type(controllers[0]) in LEARNING and len(switches) > MOST_SWITCHES


def stand_in(network: Any) -> None:
    """Make the switches of a network that was not started learn by themselves, without its controllers."""
    network.controllers.clear()
    for switch in network.switches:
        if isinstance(switch, QuickSwitch) and switch.failMode == "secure":
            switch.failMode, switch.learns_by = "standalone", NORMAL


def start(controller: Any, begin: Callable[[], None]) -> None:
    """Start a controller, and wait until it listens."""
    begin()
    deadline = time.monotonic() + LISTENS_S
    with inside(controller):
        while not _listens(controller.port) and time.monotonic() < deadline:
            time.sleep(POLL_S)


def _listens(port: int) -> bool:
    with socket.socket() as trial:
        trial.settimeout(1.0)
        return trial.connect_ex(("127.0.0.1", port)) == 0


def wait(switches: Sequence[Any], controllers: Sequence[Any]) -> None:
    """Wait until the switches have installed their controllers' initial flows."""
    if not controllers or any(type(each) not in LEARNING for each in controllers):
        return
    waiting = [each for each in switches if isinstance(each, QuickSwitch) and each.made]
    for each in waiting:
        each.learns_by = CONTROLLER
    deadline, pause = time.monotonic() + CONNECTS_S, POLL_S
    while waiting and time.monotonic() < deadline:
        waiting = [each for each in waiting if CONTROLLER not in _flows(each)]
        if waiting:
            time.sleep(pause)
            pause *= 2


def _flows(switch: Any) -> str:
    words = ["ovs-ofctl", "dump-flows", str(switch)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=REPLY_S).stdout
