"""The network of a module's tests: built once, and between tests put back to what its topology says.

What cannot be put back is built again: hosts that do not answer, interfaces, addresses, routes, queues or sysctls that
somebody changed otherwise than by `link.set`, an Open vSwitch that ended. A process keeps one network at a time, as each
module's tests want theirs; those of other processes of one kernel are side by side with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mininet.topo import Topo

from slownet.errors import ExperimentError, NetworkError, nearest
from slownet.net import Network, fingerprint, openvswitch, reach, strays
from slownet.net.network import SYSCTLS, Remembered
from slownet.net.nodes import QuickNode
from slownet.net.seeds import Seeds
from slownet.topologies import find

ANSWER_S = 1.0


class Net(Network):
    """A network whose seed makes chance repeatable.

    seed: what a link's `set` leaves to chance and gives no seed of its own gets this one, each further link one far from it.
    """

    def __init__(self, topology: Topo | type[Topo], seed: int | None = None) -> None:
        super().__init__(topology)
        self.seeds = Seeds(own=seed)


@dataclass(frozen=True)
class Wanted:
    """A topology with its parameters, as the marker names it."""

    topology: Any
    args: tuple[Any, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, topology: Any, *args: Any, **params: Any) -> Wanted:
        """topology: a class of Mininet's Topo, one of its objects, or a name. Raises ExperimentError."""
        found = find(topology) if isinstance(topology, str) else topology
        if not isinstance(found, Topo) and not (isinstance(found, type) and issubclass(found, Topo)):
            raise ExperimentError(f"{topology!r} is no topology", fix="name a class of mininet.topo.Topo")
        return cls(found, args, tuple(sorted(params.items())))

    @property
    def name(self) -> str:
        return type(self.topology).__name__ if isinstance(self.topology, Topo) else str(self.topology.__name__)

    def build(self) -> Topo:
        """Raises ExperimentError where the topology does not take these parameters."""
        if isinstance(self.topology, Topo):
            return self.topology
        try:
            return self.topology(*self.args, **dict(self.params))
        except (TypeError, ValueError) as error:
            raise ExperimentError(f"no {self.name} with these parameters: {error}") from error


@dataclass
class Kept:
    """A network that is up, what its topology made of it, and the servers on it."""

    wanted: Wanted
    net: Net
    own: Remembered  # what the topology told its links
    state: fingerprint.Fingerprint
    spaces: frozenset[int]  # of the hosts
    processes: frozenset[int]  # that were there from the start
    servers: dict[Any, Any] = field(default_factory=dict)
    ports: dict[Any, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    in_use: set[Any] = field(default_factory=set)  # by the test that runs now
    sessions: set[int] = field(default_factory=set)
    after: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)  # when all is over

    @classmethod
    def of(cls, wanted: Wanted, net: Net) -> Kept:
        own = net.remember()
        net.end_programs()
        spaces = strays.spaces(net.hosts)
        return cls(wanted, net, own, fingerprint.take(_nodes(net), SYSCTLS), spaces, frozenset(strays.living_in(spaces)))

    def server(self, key: Any, ports: Collection[tuple[str, int]], make: Callable[[], Any]) -> Any:
        """The server of that key; started when it is first asked for, or was ended since.

        ports: (host, port) of each that it listens on; one of an earlier test that is in the way is ended. Raises
        NetworkError when one of this test is.
        """
        for other in [each for each in self.servers if each != key and set(self.ports[each]) & set(ports)]:
            if other in self.in_use:
                raise NetworkError(f"{key[0]} and {other[0]} listen on the same port", fix="give them hosts of their own")
            self.servers.pop(other).stop()
        if key in self.servers and not self.servers[key].running:
            self.servers.pop(key).stop()
        if key not in self.servers:
            before = set(strays.living_in(self.spaces).values())
            self.servers[key] = make().start()
            self.ports[key] = tuple(ports)
            self.sessions |= set(strays.living_in(self.spaces).values()) - before
        self.in_use.add(key)
        return self.servers[key]

    def restore(self, failed: bool) -> None:
        """Ends what a test left running and puts every link back. Raises NetworkError when that cannot be done.

        failed: it may have died between a question to a node's tc and its answer.
        """
        for node in _nodes(self.net):
            if isinstance(node, QuickNode):
                if node.terminated:
                    raise NetworkError(f"{node.name} was terminated")
                node.close_shell()  # with its working directory, its variables and what hangs in it
        if failed:
            self.net.end_programs()
        strays.end(self.spaces, self.sessions, self.processes | self.net.programs)
        self.net.restore(self.own)
        if self.net.switches and not openvswitch.running():
            raise NetworkError("Open vSwitch ended")
        shaped = self.net.shaped
        found = fingerprint.take(_nodes(self.net), SYSCTLS)
        if fingerprint.without_queues(found, shaped) != fingerprint.without_queues(self.state, shaped):
            raise NetworkError("interfaces, addresses, routes or queues are not what they were")
        first, *others = self.net.hosts
        reach.wait(first, others, ANSWER_S, self.wanted.name)
        self.net.verified.clear()
        self.net.settings.clear()
        self.net.played.clear()
        self.in_use.clear()

    def close(self) -> None:
        """Ends the servers, then whatever else runs on the hosts, then the network."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.after.close)
            stack.callback(self.net.__exit__, None, None, None)
            stack.callback(strays.end, self.spaces)
            for server in self.servers.values():
                stack.callback(server.stop)


class Networks:
    """The network of the tests that run now. `close` it at the end."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._kept: Kept | None = None
        self._pinned = False
        self.built = 0

    def take(self, wanted: Wanted, *, pin: bool = False) -> Kept:
        """The network of that topology in the topology's own conditions: the last one put back, else a new one.

        pin: something that outlives the test rests on it. Raises NetworkError, ExperimentError.
        """
        kept = self._kept
        if kept and kept.wanted == wanted and self._sound(kept):
            self._pinned |= pin
            return kept
        if kept and self._pinned:
            why = f"not of {wanted.name}" if kept.wanted != wanted else "which this test's predecessors broke"
            raise NetworkError(
                f"fixtures of this module rest on a network of {kept.wanted.name}, {why}",
                fix="use `net` instead of `network`, or move the test to a module of its own",
            )
        self.close()
        self._kept = self._build(wanted)
        self._pinned = pin
        return self._kept

    @property
    def kept(self) -> Kept:
        """The network that was taken last. Raises NetworkError if there is none."""
        if self._kept is None:
            raise NetworkError("there is no network now", fix="take the fixture `net`")
        return self._kept

    def leave(self, failed: bool = False) -> None:
        """A test is over: its conditions and its processes are, too. What cannot be put back is taken down."""
        if self._kept and not self._sound(self._kept, failed) and not self._pinned:
            self.close()

    def close(self) -> None:
        kept, self._kept = self._kept, None
        if kept:
            kept.close()

    def _sound(self, kept: Kept, failed: bool = False) -> bool:
        try:
            kept.restore(failed)
        except Exception:  # whatever a test did to it: the answer is a new one
            return False
        return True

    def _build(self, wanted: Wanted) -> Kept:
        net = Net(wanted.build(), self._seed)
        net.__enter__()
        self.built += 1
        try:
            return Kept.of(wanted, net)
        except BaseException:
            net.__exit__(None, None, None)
            raise


def host_for(net: Network, role: str, names: Sequence[str], chosen: Mapping[str, str]) -> str:
    """Which host plays a role: the chosen one, else the first of these names that the network has. Raises ExperimentError."""
    known = [host.name for host in net.hosts]
    if role in chosen:
        if chosen[role] not in known:
            raise ExperimentError(f"no host '{chosen[role]}' for {role}", fix=nearest(chosen[role], known))
        return chosen[role]
    for name in names:
        if name in known:
            return name
    raise ExperimentError(f"which of {', '.join(known)} is {role}?", fix=f"say it with @pytest.mark.hosts({role}=...)")


def _nodes(net: Net) -> list[Any]:
    return [*net.hosts, *net.switches]
