"""Unique names on this machine, for several networks at the same time and for interfaces of others.

A host's interfaces are in its own namespace. A switch and its ports are in the machine's, so a switch whose name is taken
gets another one there, such as `switch~2` with `switch~2-eth1`; in Mininet's API it remains `switch`.
"""

from __future__ import annotations

import fcntl
import itertools
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from slownet.lab.host.owner import RUN
from slownet.model.errors import NetworkError

NAME_LENGTH = 15  # of an interface, IFNAMSIZ less one
ROOM = NAME_LENGTH - len("-eth999")


def machine_name(name: str, taken: Iterable[str]) -> str:
    """Return the machine's name for a switch when these names are taken."""
    taken = set(taken)
    return next(each for each in _candidates(name) if not any(_is_of(other, each) for other in taken))


def free(name: str) -> str:
    """Return the name, or a similar one that no interface of this thread's network namespace has."""
    found = taken()
    return next(each for each in _candidates(name, NAME_LENGTH) if each not in found)


def _candidates(name: str, room: int = ROOM) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        tag = f"~{number}"
        yield name[: room - len(tag)] + tag


def _is_of(interface: str, switch: str) -> bool:
    """Return whether an interface is the switch's own or one of its ports."""
    return interface == switch or interface.startswith(f"{switch}-eth")


def taken() -> set[str]:
    """Return the names of the interfaces of this thread's network namespace, switches included."""
    return {name for _, name in socket.if_nameindex()}


@contextmanager
def choosing() -> Iterator[None]:
    """Lock the choice of names against other networks of this machine. Raises NetworkError."""
    try:
        RUN.mkdir(parents=True, exist_ok=True)
        lock = open(RUN / "lock", "w")
    except OSError as error:
        raise NetworkError(f"cannot write {RUN}: {error.strerror}", fix="build networks as root") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
