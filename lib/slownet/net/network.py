"""A Mininet network as a context manager: up and reachable inside it, gone after it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.node import OVSSwitch

from slownet.conditions.link import Condition
from slownet.conditions.oneway import OneWay
from slownet.counters import Counters
from slownet.errors import ConditionError, ExperimentError, NetworkError, SlownetError, nearest
from slownet.lab import native
from slownet.net import counting, device, names, openvswitch, reach, shape
from slownet.net.cable import Link
from slownet.net.capture import Capture, interface_of
from slownet.net.condition_log import ConditionLog
from slownet.net.log import Log, Setting
from slownet.net.play import Played
from slownet.net.quick import QuickNet
from slownet.net.seeds import ASKED
from slownet.net.shaping import Shaping
from slownet.tools.ping import Ping

if TYPE_CHECKING:
    from slownet.mininets import Node, Topology

DEADLINE_S = 30.0
Remembered = Mapping[Any, tuple[OneWay, OneWay]]
"""Mininet's links and what their ends were told."""

# What moves a measurement and differs between distributions and their releases; each goes into the record.
SYSCTLS = {
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_slow_start_after_idle": "1",
    "net.ipv6.conf.all.disable_ipv6": "1",
}


class Network:
    """Builds a Mininet topology and waits until its hosts reach each other; always takes it down.

    ``with Network(ClientWebDb) as net:`` makes it; ``net["web"]`` is the Mininet host, ``net.link("client", "switch")`` a
    cable, and ``net.mininet`` Mininet's own object.

    Parameters
    ----------
    topology
        A Mininet ``Topo``, or what makes one without arguments: its class, say.

    Raises
    ------
    NetworkError
        When it is entered: the topology cannot be built, or its hosts do not reach each other within 30 s.
    """

    def __init__(self, topology: Topology | Callable[[], Topology]) -> None:
        self._topology = topology() if callable(topology) else topology
        self.mininet: Any = None
        self.shaping = Shaping()  # what its interfaces and cables have been told, and what tells them
        self.seeds = ASKED  # what becomes of the seeds of conditions that are set from now on
        self._log = Log()

    def __enter__(self) -> Self:
        setLogLevel("error")
        shape.check(self._topology)
        if self._topology.switches():
            openvswitch.ensure(may_start=native.inside_lab())
        try:
            with names.choosing():
                self.mininet = QuickNet(
                    topo=self._topology, switch=OVSSwitch, controller=None, link=TCLink, autoSetMacs=True, build=False,
                    sysctls=SYSCTLS, offloads_off=list(device.OFFLOADS), shaping=self.shaping,
                )  # fmt: skip
                self.mininet.build()
                self.mininet.start()
            first, *others = self.mininet.hosts
            reach.wait(first, others, DEADLINE_S, type(self._topology).__name__)
            for switch in self.mininet.switches[:1]:
                self.shaping.programs.warm(switch)
            for cable in filter(self.shaping.was_told, self.mininet.links):  # a TCLink of the topology's
                with suppress(ConditionError):
                    self.told[cable] = self.shaping.of(cable)
        except BaseException as error:
            self._stop()
            if isinstance(error, Exception) and not isinstance(error, SlownetError):  # Mininet raises plain Exception
                raise NetworkError(f"Mininet cannot build {type(self._topology).__name__}: {error}") from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def __getitem__(self, name: str) -> Node:
        """The Mininet node of that name. Raises ExperimentError with the nearest name."""
        if name not in self.mininet.nameToNode:
            raise ExperimentError(
                f"no host '{name}' in {type(self._topology).__name__}", fix=nearest(name, self.mininet.nameToNode)
            )
        node: Node = self.mininet.nameToNode[name]
        return node

    @property
    def hosts(self) -> list[Node]:
        """Mininet's hosts, in the topology's order."""
        return list(self.mininet.hosts)

    @property
    def switches(self) -> list[Node]:
        """Mininet's switches, in the topology's order."""
        return list(self.mininet.switches)

    @property
    def told(self) -> ConditionLog:
        """What its cables were told."""
        return self.shaping.conditions

    @property
    def verified(self) -> list[Ping]:
        """The ping after each change of a link that had one, the newest last. Clear it to begin anew."""
        return self._log.verified

    @property
    def settings(self) -> list[Setting]:
        """The links that were set and how that was verified, the newest last. Clear it to begin anew."""
        return self._log.settings

    @property
    def played(self) -> list[Played]:
        """What schedules did to links, and when. Clear it to begin anew."""
        return self._log.played

    @property
    def links(self) -> list[Link]:
        """All its cables, each seen from the end that Mininet has first."""
        return [self._link((cable.intf1, cable.intf2)) for cable in self.mininet.links]

    @property
    def conditions(self) -> dict[str, Condition]:
        """What each link does that was told anything, by its name as in `counters`, with the seed that was asked for.

        Raises ConditionError, see `Link.condition`.
        """
        return {
            name: self.seeds.asked(self.shaping.of(cable), number)
            for number, (name, cable) in enumerate(self._named_cables())
            if self.shaping.was_told(cable)
        }

    def link(self, first: str, second: str) -> Link:
        """The cable between two nodes. Raises ExperimentError if there is none."""
        between = self[first].connectionsTo(self[second])
        if not between:
            cables = sorted(f"{link.intf1.node.name} and {link.intf2.node.name}" for link in self.mininet.links)
            raise ExperimentError(
                f"no link between '{first}' and '{second}'", fix=f"there are links between {', '.join(cables)}"
            )
        return self._link(between[0])

    def _link(self, ends: tuple[Any, Any]) -> Link:
        return Link(ends, self.shaping, self._log, self.seeds, self.mininet.links.index(ends[0].link))

    def counters(self) -> dict[str, Counters]:
        """What every link has carried and dropped since it was made, by its name: "client-switch".

        A second link between the two has a number after its name.
        """
        counted = counting.counters(self.mininet.links, self.shaping.gone)
        return {name: counted[cable] for name, cable in self._named_cables()}

    def _named_cables(self) -> list[tuple[str, Any]]:
        """Mininet's links in order; a second one between the same nodes has a number after its name."""
        found: dict[str, Any] = {}
        for cable in self.mininet.links:
            name = f"{cable.intf1.node.name}-{cable.intf2.node.name}"
            found[name if name not in found else f"{name}~{len(found)}"] = cable
        return list(found.items())

    def capture(
        self, node: str, interface: str | None = None, path: Path | str = "", *,
        filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> Capture:  # fmt: skip
        """What crosses an interface of a node, to a pcap file: `with net.capture("client", "client-eth0", path):`.

        interface: the node's first one unless named; "any" for all of a host's. path: `INTERFACE.pcap` here unless given.
        filter, snaplen: as in `Capture`. Raises ExperimentError, ToolError.
        """
        name = interface_of(self[node], interface)
        return Capture(self[node], name, Path(path or f"{name}.pcap"), filter=filter, snaplen=snaplen)

    def remember(self) -> Remembered:
        """What each link was told, for `restore`."""
        return {cable: (self.shaping.last(cable.intf1), self.shaping.last(cable.intf2)) for cable in self.mininet.links}

    def restore(self, before: Remembered) -> None:
        """Gives each link that was told anything what it was told at `remember`. Raises NetworkError."""
        for cable in filter(self.shaping.was_told, self.mininet.links):
            link = self._link((cable.intf1, cable.intf2))
            if cable not in before:
                raise NetworkError(f"the link {link.name} was made since")
            link.tell(before[cable])

    @property
    def shaped(self) -> frozenset[str]:
        """The interfaces of the links that were told anything, by name."""
        cables = filter(self.shaping.was_told, self.mininet.links)
        return frozenset(end.name for cable in cables for end in (cable.intf1, cable.intf2))

    def end_programs(self) -> None:
        """Ends the tc and ip that it keeps running on its nodes; the next change of a link starts them again."""
        self.shaping.programs.close()

    @property
    def programs(self) -> frozenset[int]:
        """The processes of these."""
        return frozenset(self.shaping.programs.pids)

    def _stop(self) -> None:
        if self.mininet is not None:
            self.mininet.stop()
            self.mininet = None


def ovs_version() -> str:
    """Open vSwitch's version, such as "3.5.0"."""
    text = subprocess.run(["ovs-vsctl", "--version"], capture_output=True, text=True, check=True).stdout
    return text.split()[3] if text else ""
