"""Names on this machine: two networks, or a network and what others made, never take each other's.

A host's interfaces live in a namespace of their own. A switch and its ports live where the whole machine sees them, so a
switch whose name is taken gets another one there, such as `switch~2` with `switch~2-eth1`; to Mininet and whoever uses its
API it is `switch` all the same.
"""

from __future__ import annotations

import fcntl
import itertools
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from slownet.errors import NetworkError
from slownet.owner import RUN

NAME_LENGTH = 15  # of an interface, IFNAMSIZ less one
ROOM = NAME_LENGTH - len("-eth999")


def machine_name(name: str, taken: Iterable[str]) -> str:
    """What a switch of that name is called on the machine, where these names are taken."""
    taken = set(taken)
    return next(each for each in _candidates(name) if not any(_is_of(other, each) for other in taken))


def free(name: str) -> str:
    """An interface's name, or one like it that no interface of this thread's network namespace has."""
    found = taken()
    return next(each for each in _candidates(name, NAME_LENGTH) if each not in found)


def _candidates(name: str, room: int = ROOM) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        tag = f"~{number}"
        yield name[: room - len(tag)] + tag


def _is_of(interface: str, switch: str) -> bool:
    """Whether an interface is the switch's own or one of its ports."""
    return interface == switch or interface.startswith(f"{switch}-eth")


def taken() -> set[str]:
    """The names of the interfaces of this thread's network namespace; a switch is one of them."""
    return {name for _, name in socket.if_nameindex()}


@contextmanager
def choosing() -> Iterator[None]:
    """While it is entered, no other network of this machine chooses its names. Raises NetworkError."""
    try:
        RUN.mkdir(parents=True, exist_ok=True)
        lock = open(RUN / "lock", "w")
    except OSError as error:
        raise NetworkError(f"cannot write {RUN}: {error.strerror}", fix="a network is built as root") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
