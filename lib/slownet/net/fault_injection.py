"""Faults on a running network: hosts cut from each other, and services killed, started, paused and resumed at their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from slownet.links.faults import Action, Cut, Deed, Faults, Heal
from slownet.model.errors import NetworkError
from slownet.net.addresses import ipv6
from slownet.net.play import Played, Timed
from slownet.tools import nft
from slownet.tools.process import Host

TABLE = "slownet_faults"
NAME = "faults"
"""What their steps are called in records."""


class Faulty(Protocol):
    """The part of a service that is used here; see `slownet.services.service.Service`."""

    name: str
    host: Host

    @property
    def label(self) -> str: ...

    @property
    def running(self) -> bool: ...

    def kill(self) -> None: ...

    def revive(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class PlayingFaults(Timed[tuple[Action, ...]]):
    """Faults that happen while a `with` lasts; see `Network.faults`.

    `start` is their start time on the monotonic clock.
    """

    def __init__(self, hosts: Sequence[Any], faults: Faults, services: Iterable[Any], log: list[Played]) -> None:
        super().__init__(NAME, log)
        self._hosts = {host.name: host for host in hosts}
        self._faults = faults
        self._services = {each.label: each for each in _single(services)}
        self._lost: frozenset[tuple[str, str]] = frozenset()
        self._paused: set[str] = set()
        self._names = _names(self._services.values())

    def __enter__(self) -> Self:
        if self._thread is not None:
            raise NetworkError("these faults have happened already", fix="call net.faults() again")
        for service in self._services.values():
            if not service.running:
                raise NetworkError(f"{service.label} does not run", fix="start it before the faults begin")
        self._faults.check(self._hosts, self._names)
        with ExitStack() as undone:
            undone.callback(self._mend)
            self._begin(self._faults.together())
            self._undone = undone.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        self._undone.close()
        self._raise(error)

    def _apply(self, step: tuple[Action, ...]) -> str:
        for action in step:
            self._do(action)
        return "; ".join(map(str, step))

    def _do(self, action: Action) -> None:
        if isinstance(action, Cut):
            self._lose(self._lost | action.lost)
        elif isinstance(action, Heal):
            self._lose(frozenset())
        else:
            self._serve(action)

    def _serve(self, deed: Deed) -> None:
        label = self._names[deed.service]
        service = self._services[label]
        if deed.verb == "kill":
            service.kill()
        elif deed.verb == "start":
            service.revive()
        elif deed.verb == "pause":
            service.pause()
        else:
            service.resume()
        self._paused = self._paused | {label} if deed.verb == "pause" else self._paused - {label}

    def _lose(self, lost: frozenset[tuple[str, str]]) -> None:
        """Make the receivers of these pairs, and no others, lose what the senders sent."""
        changed = {receiver for _, receiver in lost ^ self._lost}
        self._lost = lost
        for name in sorted(changed):
            senders = [self._hosts[sender] for sender, receiver in sorted(lost) if receiver == name]
            drop(self._hosts[name], [each for sender in senders for each in addresses(sender)])

    def _mend(self) -> None:
        """End all cuts and pauses; what was killed stays so."""
        self._lose(frozenset())
        for label in sorted(self._paused):
            self._services[label].resume()
        self._paused = set()


def drop(host: Any, sources: Sequence[str]) -> None:
    """Make a host lose all packets from these addresses that are for itself, and no others; read back what it does.

    Raises ToolError, NetworkError.
    """
    lines = [f"add table inet {TABLE}", f"delete table inet {TABLE}"]
    for kind, is_wide in (("ip", False), ("ip6", True)):
        if own := [each for each in sources if (":" in each) is is_wide]:
            lines += [
                f"add table inet {TABLE}",
                f"add chain inet {TABLE} from_{kind} {{ type filter hook input priority -400; }}",
                f"add rule inet {TABLE} from_{kind} {kind} saddr {{ {', '.join(own)} }} drop",
            ]
    nft.commands(host, lines)
    shown = nft.commands(host, [f"list table inet {TABLE}"]) if sources else ""
    if missing := [each for each in sources if each not in shown]:
        fix = "see that no other program changes this host's nftables meanwhile"
        raise NetworkError(f"the kernel does not lose packets from {missing[0]}", f"host '{host.name}'", fix)


def addresses(host: Any) -> list[str]:
    """Return a host's addresses on all its interfaces, IPv4 and IPv6."""
    return [*(interface.IP() for interface in host.intfList() if interface.IP()), *ipv6(host)]


def _single(services: Iterable[Any]) -> Iterator[Faulty]:
    """Yield the services one by one: some consist of several."""
    for each in services:
        yield from each.servers if hasattr(each, "servers") else [each]


def _names(services: Iterable[Faulty]) -> Mapping[str, str]:
    """Return what services may be called, and their labels: a name that two of them have is none."""
    found: dict[str, set[str]] = {}
    for each in services:
        for name in (each.label, each.name, each.host.name):
            found.setdefault(name, set()).add(each.label)
    return {name: next(iter(labels)) for name, labels in found.items() if len(labels) == 1}
