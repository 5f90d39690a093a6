"""The backlog of each bottleneck while a program runs, read from the kernel's queueing disciplines.

Only where the CPU is free: elsewhere the clock would charge for the reading.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from slownet.lab.host import native
from slownet.model.beside import beside
from slownet.model.errors import NetworkError
from slownet.net import kernel_counters
from slownet.net.layout import interface_name
from slownet.net.namespace import inside
from slownet.net.netlink import Route
from slownet.net.plan import ROOT
from slownet.net.shaper import TCEnd
from slownet.net.shaping import Shaping

FIRST_S = 0.01
"""Seconds between the first readings."""
MOST = 120
"""Readings that are kept: of more, every other one, and from then on the time between two is twice as long."""


@dataclass
class Backlog:
    """The backlog while a program ran.

    seconds: when it was read, since the program's start.
    queued_bytes: by interface: what waited there each time, Ethernet headers included.
    in_flight: the interfaces of links without a rate, whose queue also holds the packets in flight.
    every_s: the time between two readings now.
    """

    seconds: list[float] = field(default_factory=list)
    queued_bytes: dict[str, list[int]] = field(default_factory=dict)
    in_flight: list[str] = field(default_factory=list)
    every_s: float = FIRST_S

    def add(self, at: float, waiting: dict[str, int]) -> None:
        """Add a reading; forget every other one when there are too many."""
        self.seconds.append(round(at, 6))
        for name, size in waiting.items():
            self.queued_bytes.setdefault(name, []).append(size)
        if len(self.seconds) >= MOST:
            del self.seconds[::2]
            for sizes in self.queued_bytes.values():
                del sizes[::2]
            self.every_s *= 2

    def to_json(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "source": "backlog of the bottleneck's qdisc", "seconds": self.seconds, "queued_bytes": self.queued_bytes,
            "in_flight": self.in_flight,
        }  # fmt: skip


def of_the_longest(found: Iterable[Backlog]) -> Backlog | None:
    """Return what waited while the program ran that took longest; None if nothing was read twice."""
    return max((each for each in found if len(each.seconds) > 1), key=lambda each: each.seconds[-1], default=None)


@dataclass(frozen=True)
class Queue:
    """An interface with a queue to watch. limited: whether a bottleneck holds what waits, apart from packets in flight."""

    name: str
    """One that no other interface of the network has."""
    device: str
    """The kernel's name of it on its node."""
    node: Any
    limited: bool


def queues(cables: Iterable[Any], shaping: Shaping) -> list[Queue]:
    """Return the queues of Mininet's links that have a rate or a stated queue, in each direction that has one."""
    found = []
    for cable in cables:
        for end in (cable.intf1, cable.intf2):
            stated = shaping.end(end).stated
            if stated and (stated.limited or stated.condition.queue):
                found.append(Queue(interface_name(end), end.name, end.node, stated.limited and not isinstance(stated, TCEnd)))
    return found


@contextmanager
def watched(cables: Iterable[Any], shaping: Shaping, log: list[Backlog]) -> Iterator[None]:
    """Watch the queues that links have now, and add what was read to the log."""
    found = queues(cables, shaping) if native.cpu_is_free() else []
    if not found:
        yield
        return
    read = Backlog(in_flight=[each.name for each in found if not each.limited])
    try:
        with beside(partial(_watch, found, read)):
            yield
    finally:
        log.append(read)


def _watch(queues: Sequence[Queue], read: Backlog, ended: threading.Event) -> None:
    began, number = time.monotonic(), 0
    with ExitStack() as stack, suppress(NetworkError, OSError):  # the network is gone: what was read until then counts
        spaces = _spaces(queues, stack)
        while not ended.wait(max(0.0, began + number * FIRST_S - time.monotonic())):
            read.add(time.monotonic() - began, _waiting(spaces))
            number += round(read.every_s / FIRST_S)


def _spaces(queues: Iterable[Queue], stack: ExitStack) -> list[tuple[Route, dict[int, Queue]]]:
    """Open a socket in each namespace, and number its interfaces as the kernel does."""
    nodes: dict[Any, list[Queue]] = {}
    for each in queues:
        nodes.setdefault(each.node if each.node.inNamespace else None, []).append(each)
    found = []
    for here in nodes.values():
        with inside(here[0].node):
            found.append((stack.enter_context(Route()), {socket.if_nametoindex(each.device): each for each in here}))
    return found


def _waiting(spaces: Iterable[tuple[Route, dict[int, Queue]]]) -> dict[str, int]:
    """Return how many bytes wait on each interface."""
    found = {queue.name: 0 for _, numbered in spaces for queue in numbered.values()}
    for route, numbered in spaces:
        for qdisc in kernel_counters.qdiscs(route):
            queue = numbered.get(qdisc.interface)
            # A bottleneck's own child holds what it holds, and a netem at the root also what is in flight.
            if queue and (qdisc.parent == ROOT if queue.limited else qdisc.root):
                found[queue.name] = qdisc.queued_bytes
    return found
