"""The network of a module's tests: built once, and restored to its topology's state between tests.

A network that cannot be restored is rebuilt: hosts do not answer, Open vSwitch ended, or something other than `link.set`
changed interfaces, addresses, routes, queues or sysctls. A process keeps one network at a time; those of other processes on the
same kernel exist alongside it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mininet.topo import Topo

from slownet.model.errors import ExperimentError, NetworkError, nearest
from slownet.net import fingerprint, openvswitch, reach
from slownet.net.network import SYSCTLS, Network, Remembered
from slownet.net.nodes import QuickNode
from slownet.net.seeds import Seeds
from slownet.topologies import find

ANSWER_S = 1.0


class Net(Network):
    """A network with a seed that makes random conditions repeatable.

    seed: for links whose `set` has a random condition without a seed; each further link gets one far from it.
    """

    def __init__(self, topology: Topo | type[Topo], seed: int | None = None) -> None:
        super().__init__(topology)
        self.seeds = Seeds(own=seed)


@dataclass(frozen=True)
class Wanted:
    """A topology with its parameters, as given to the marker."""

    topology: Any
    args: tuple[Any, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, topology: Any, *args: Any, **params: Any) -> Wanted:
        """Return what a marker wants. topology: a subclass or object of Mininet's Topo, or a name. Raises ExperimentError."""
        found = find(topology) if isinstance(topology, str) else topology
        if not isinstance(found, Topo) and not (isinstance(found, type) and issubclass(found, Topo)):
            raise ExperimentError(f"{topology!r} is not a topology", fix="name a subclass of mininet.topo.Topo")
        return cls(found, args, tuple(sorted(params.items())))

    @property
    def name(self) -> str:
        return type(self.topology).__name__ if isinstance(self.topology, Topo) else str(self.topology.__name__)

    def build(self) -> Topo:
        """Create the topology. Raises ExperimentError if it does not accept these parameters."""
        if isinstance(self.topology, Topo):
            return self.topology
        try:
            return self.topology(*self.args, **dict(self.params))
        except (TypeError, ValueError) as error:
            raise ExperimentError(f"{self.name} does not accept these parameters: {error}") from error


@dataclass
class LiveNetwork:
    """A running network, its initial state, and the servers on it."""

    wanted: Wanted
    net: Net
    own: Remembered  # the conditions that the topology gave its links
    state: fingerprint.Fingerprint
    spaces: frozenset[int]  # namespaces of the hosts
    processes: frozenset[int]  # those that ran from the start
    servers: dict[Any, Any] = field(default_factory=dict)
    ports: dict[Any, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    in_use: set[Any] = field(default_factory=set)  # servers that the current test uses
    sessions: set[int] = field(default_factory=set)
    after: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)  # clean-up after the network is closed

    @classmethod
    def of(cls, wanted: Wanted, net: Net) -> LiveNetwork:
        own = net.remember()
        net.end_programs()
        spaces = fingerprint.spaces(net.hosts)
        return cls(wanted, net, own, fingerprint.take(_nodes(net), SYSCTLS), spaces, frozenset(fingerprint.living_in(spaces)))

    def server(self, key: Any, ports: Collection[tuple[str, int]], make: Callable[[], Any]) -> Any:
        """Return the server of that key; start it at the first request, or if it has ended since.

        ports: each (host, port) that it listens on; an earlier test's server on the same port is stopped. Raises NetworkError
        if another server of this test uses the port.
        """
        for other in [each for each in self.servers if each != key and set(self.ports[each]) & set(ports)]:
            if other in self.in_use:
                raise NetworkError(f"{key[0]} and {other[0]} listen on the same port", fix="put them on different hosts")
            self.servers.pop(other).stop()
        if key in self.servers and not self.servers[key].running:
            self.servers.pop(key).stop()
        if key not in self.servers:
            before = set(fingerprint.living_in(self.spaces).values())
            self.servers[key] = make().start()
            self.ports[key] = tuple(ports)
            self.sessions |= set(fingerprint.living_in(self.spaces).values()) - before
        self.in_use.add(key)
        return self.servers[key]

    def adopt(self) -> None:
        """Keep what runs now: fixtures of the module started it, because what a test left running was ended after the test."""
        self.sessions |= set(fingerprint.living_in(self.spaces).values()) - {os.getsid(0)}

    def restore(self, failed: bool) -> None:
        """End the processes that a test left running and restore every link. Raises NetworkError if that is not possible.

        failed: the test may have died between a request to a node's tc and its answer, so the tc processes are restarted.
        """
        for node in _nodes(self.net):
            if isinstance(node, QuickNode):
                if node.terminated:
                    raise NetworkError(f"{node.name} was terminated")
                node.close_shell()  # also discards its working directory, variables and hanging commands
        if failed:
            self.net.end_programs()
        fingerprint.end(self.spaces, self.sessions, self.processes | self.net.programs)
        self.net.restore(self.own)
        if self.net.switches and not openvswitch.running():
            raise NetworkError("Open vSwitch ended")
        shaped = self.net.shaped
        found = fingerprint.take(_nodes(self.net), SYSCTLS)
        if fingerprint.without_queues(found, shaped) != fingerprint.without_queues(self.state, shaped):
            raise NetworkError("interfaces, addresses, routes or queues have changed")
        for first, *others in self.net.parts:
            reach.wait(first, others, ANSWER_S, self.wanted.name)
        self.net.verified.clear()
        self.net.settings.clear()
        self.net.played.clear()
        self.in_use.clear()

    def close(self) -> None:
        """Stop the servers, then everything else that runs on the hosts, then the network."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.after.close)
            stack.callback(self.net.__exit__, None, None, None)
            stack.callback(fingerprint.end, self.spaces)
            for server in self.servers.values():
                stack.callback(server.stop)


class Networks:
    """The network of the current tests. `close` it at the end."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._kept: LiveNetwork | None = None
        self._pinned = False
        self.built = 0

    def take(self, wanted: Wanted, *, pin: bool = False) -> LiveNetwork:
        """Return a network of that topology in its initial conditions: the last one restored, or a new one.

        pin: something that outlives the test uses the network. Raises NetworkError, ExperimentError.
        """
        kept = self._kept
        if kept and self._pinned:
            kept.adopt()
        if kept and kept.wanted == wanted and self._sound(kept):
            self._pinned |= pin
            return kept
        if kept and self._pinned:
            why = f"not {wanted.name}" if kept.wanted != wanted else "which an earlier test broke"
            raise NetworkError(
                f"fixtures of this module use a network of {kept.wanted.name}, {why}",
                fix="use `net` instead of `network`, or move the test to a module of its own",
            )
        self.close()
        self._kept = self._build(wanted)
        self._pinned = pin
        return self._kept

    @property
    def kept(self) -> LiveNetwork:
        """The network that was taken last. Raises NetworkError if none exists."""
        if self._kept is None:
            raise NetworkError("there is no network now", fix="request the fixture `net`")
        return self._kept

    def leave(self, failed: bool = False) -> None:
        """End a test: restore the network, or close it if it cannot be restored."""
        if self._kept and not self._sound(self._kept, failed) and not self._pinned:
            self.close()

    def close(self) -> None:
        kept, self._kept = self._kept, None
        if kept:
            kept.close()

    def _sound(self, kept: LiveNetwork, failed: bool = False) -> bool:
        try:
            kept.restore(failed)
        except Exception:  # a test may break it in any way: a new network replaces it
            return False
        return True

    def _build(self, wanted: Wanted) -> LiveNetwork:
        net = Net(wanted.build(), self._seed)
        net.__enter__()
        self.built += 1
        try:
            return LiveNetwork.of(wanted, net)
        except BaseException:
            net.__exit__(None, None, None)
            raise


def host_for(net: Network, role: str, names: Sequence[str], chosen: Mapping[str, str]) -> str:
    """Return the host of a role: the chosen one, else the first of these names in the network. Raises ExperimentError."""
    known = [host.name for host in net.hosts]
    if role in chosen:
        if chosen[role] not in known:
            raise ExperimentError(f"no host '{chosen[role]}' for {role}", fix=nearest(chosen[role], known))
        return chosen[role]
    for name in names:
        if name in known:
            return name
    what = f"{role} could be any of {', '.join(known)}"
    raise ExperimentError(what, fix=f"choose one with @pytest.mark.hosts({role}=...)")


def _nodes(net: Net) -> list[Any]:
    return [*net.hosts, *net.switches]
