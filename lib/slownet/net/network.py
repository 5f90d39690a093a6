"""A Mininet network as a context manager: built and reachable inside, removed afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mininet.link import TCLink
from mininet.log import setLogLevel

from slownet.lab.host import native, owner
from slownet.lab.run.counters import Counters
from slownet.links import fault_file
from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.links.faults import Faults
from slownet.model import host_settings
from slownet.model.errors import ConditionError, ExperimentError, NetworkError, SlownetError, nearest
from slownet.net import (
    addresses,
    check_topology,
    counting,
    device,
    ipv6,
    loops,
    openvswitch,
    reach,
    route_options,
    unique_names,
)
from slownet.net.fast_mininet import STANDALONE, QuickNet
from slownet.net.fault_injection import PlayingFaults
from slownet.net.fingerprint import sysctl
from slownet.net.icmp_echo import Echoes
from slownet.net.interface_captures import Capture, interface_of
from slownet.net.layout import named
from slownet.net.log import Log, Setting
from slownet.net.namespace import inside
from slownet.net.network_link import Link
from slownet.net.nodes import QuickNode
from slownet.net.play import Played
from slownet.net.seeds import ASKED, ConditionLog
from slownet.net.shaping import Shaping

if TYPE_CHECKING:
    from slownet.model.mininets import Node, Topology
import resource
from collections.abc import Iterator
from contextlib import contextmanager

from mininet.net import Mininet
from mininet.util import ensureRoot

from slownet.net.namespace import write_sysctls

# The kernel's settings as a new network namespace has them on Debian 13's own kernel, whatever machine carries the hosts.
#
# Mininet raises limits of the machine before its first network (`mininet.util.fixLimits`), and a new namespace gets a copy.
# With those a SYN offers 42,340 bytes instead of 64,240, so that 100 kB cost a round trip more. A network of slownet leaves
# them alone: its hosts get Debian's values, and only what one machine needs that carries many hosts is raised. An unchanged
# Mininet program keeps what Mininet sets.

FIRST_SEND_BUFFER = 87_040
"""Bytes of the send buffer of a connection that opens at MTU 1500 on Debian, whatever tcp_wmem is: ten segments, twice, each
with as much room for headers as wireless networks need (tcp_sndbuf_expand, LL_MAX_HEADER). A kernel without them has 46,080."""
OF_A_HOST: Mapping[str, str] = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": f"4096 {FIRST_SEND_BUFFER} 4194304",
}
"""Settings that a kernel copies from the machine's into a namespace, and computes there from the size of memory."""
OF_A_HOST_IN_A_LAB: Mapping[str, str] = {
    "net.ipv4.tcp_limit_output_bytes": "1048576",
    "net.ipv4.tcp_comp_sack_slack_ns": "100000",
    "net.ipv4.tcp_max_syn_backlog": "256",
    "net.ipv4.tcp_max_tw_buckets": "16384",
    "net.ipv4.icmp_msgs_per_sec": "1000",
    "net.ipv4.icmp_msgs_burst": "50",
}
"""Settings that a small lab's kernel computes otherwise, or one that is later than Debian 13's has otherwise."""
OF_A_MACHINE: Mapping[str, str] = {
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.netfilter.nf_conntrack_max": "65536",
}
"""Settings that all hosts have in common; set in a lab only."""
FOR_MANY_HOSTS: Mapping[str, int] = {
    "net.ipv4.neigh.default.gc_thresh1": 4096,
    "net.ipv4.neigh.default.gc_thresh2": 8192,
    "net.ipv4.neigh.default.gc_thresh3": 16384,
    "net.core.netdev_max_backlog": 5000,
    "kernel.pty.max": 20000,
}
"""At least these, as in Mininet: one table of neighbours, one queue of received packets and one set of terminals serve all
hosts. No host sees the first four."""
OPEN_FILES = 16384
"""Of a process, at least, as in Mininet: this one has some open for each host."""


def of_a_host() -> dict[str, str]:
    """Return what a new host here has to be given to be a stock one."""
    return {**OF_A_HOST, **(OF_A_HOST_IN_A_LAB if native.inside_lab() else {})}


@contextmanager
def kept() -> Iterator[None]:
    """Let a Mininet object be made without `mininet.util.fixLimits`. Raises NetworkError if the kernel refuses a setting."""
    ensureRoot()
    if native.inside_lab():
        write_sysctls(OF_A_MACHINE)
    _make_room()
    before, Mininet.inited = Mininet.inited, True
    try:
        yield
    finally:
        Mininet.inited = before


def _make_room() -> None:
    for name, least in FOR_MANY_HOSTS.items():
        path = Path("/proc/sys", name.replace(".", "/"))
        with suppress(OSError, ValueError):  # a kernel has another set of them, and a small network does without
            if int(path.read_text()) < least:
                path.write_text(str(least))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, max(hard, OPEN_FILES) if hard >= 0 else hard))


# Statements of a topology beyond nodes and links: files of its hosts, and conditions that links have from the start.
#
# Both are optional attributes of a Mininet topology: `prepare(hosts, folder)` and `conditions`, by the links' ends.


def prepare(topology: Any, hosts: Sequence[Any], folder: Path) -> None:
    """Give the hosts a folder that lasts as long as the network, and what the topology puts there for their programs."""
    for host in hosts:
        if isinstance(host, QuickNode) and host.namespace:
            host.namespace.folder = folder
    if hasattr(topology, "prepare"):
        topology.prepare(hosts, folder)


def set_conditions(network: Any) -> None:
    """Set the conditions that the links of a running network have from the start."""
    for ends, condition in getattr(network.topology, "conditions", {}).items():
        link = network.link(*ends)
        link.set(condition)
        link.own(condition)
    network.verified.clear()
    network.settings.clear()


DEADLINE_S = 30.0
Remembered = Mapping[Any, tuple[OneWay, OneWay]]
"""Mininet's links and the conditions of their ends."""

# Settings that affect measurements and differ between distributions, their releases and machines; they are recorded.
SYSCTLS = {
    **OF_A_HOST,
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_slow_start_after_idle": "1",
    "net.ipv6.conf.all.disable_ipv6": "1",
}
BUFFERS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_moderate_rcvbuf", "net.core.rmem_max", "net.core.wmem_max")
"""Settings that limit a connection's windows, as its first host has them; they are recorded."""


class Network:
    """A running Mininet network.

    Entering it builds the topology and waits until its hosts reach each other; leaving it removes the network.

    Parameters
    ----------
    topology : Topo or callable
        A Mininet topology, or a callable that returns one, such as its class.
    stp : bool
        Whether all its switches run the Spanning Tree Protocol, as ``stp=True`` states for one in a topology.

    Attributes
    ----------
    mininet : mininet.net.Mininet
        Mininet's own object; None before the network is entered.
    parts : list of list of node
        Its hosts in groups that reach each other: one, unless some are apart by their topology or their VLANs.
    seeds : Seeds
        How to shift the seeds of conditions that are set from now on.

    Raises
    ------
    NetworkError
        When it is entered: the topology cannot be built, its switches form a loop, or its hosts do not reach each other.
    ConditionError, UnitError
        When it is entered: a parameter of a node or link has no effect or is wrong.

    Examples
    --------
    ::

        with Network(ClientWebDb) as net:
            net.link("client", "switch").set(rtt="40ms")
            net["client"].cmd("ping -c 3 10.0.0.2")
    """

    def __init__(self, topology: Topology | Callable[[], Topology], stp: bool = False) -> None:
        self._topology = topology() if callable(topology) else topology
        self._stp = stp
        self.mininet: Any = None
        self.shaping = Shaping()  # the state of its interfaces and cables
        self.seeds = ASKED
        self.parts: list[list[Any]] = []  # its hosts that reach each other
        self._log = Log()
        self._files: Path | None = None  # of its hosts, which may outlive this object

    def __enter__(self) -> Self:
        setLogLevel("error")
        check_topology.check(self._topology, self._stp)
        if self._topology.switches():
            openvswitch.ensure(may_start=native.inside_lab())
        try:
            with unique_names.choosing(), kept():
                self.mininet = QuickNet(
                    topo=self._topology, switch=STANDALONE, controller=None, link=TCLink, autoSetMacs=True, build=False,
                    sysctls=of_a_host() | SYSCTLS, offloads_off=list(device.OFFLOADS), shaping=self.shaping,
                    stp=self._stp,
                )  # fmt: skip
                self.mininet.build()
                self._files = Path(mkdtemp(prefix="names-", dir=owner.directory()))
                addresses.publish(self.mininet.hosts, self._files)
                prepare(self._topology, self.mininet.hosts, self._files)
                self.mininet.start()
            loops.wait(self.mininet.switches, type(self._topology).__name__)
            self.parts = reach.parts(self.mininet.hosts, DEADLINE_S, type(self._topology).__name__)
            route_options.apply(self.mininet.hosts)
            self.shaping.parts = [frozenset(part) for part in self.parts] if len(self.parts) > 1 else []
            for switch in self.mininet.switches[:1]:
                self.shaping.programs.warm(switch)
            for cable in filter(self.shaping.is_set, self.mininet.links):  # a TCLink of the topology
                with suppress(ConditionError):
                    self.condition_log[cable] = self.shaping.of(cable)
            set_conditions(self)
        except BaseException as error:
            self._stop()
            if isinstance(error, Exception) and not isinstance(error, SlownetError):  # Mininet raises plain Exception
                raise NetworkError(f"Mininet cannot build {type(self._topology).__name__}: {error}") from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def __getitem__(self, name: str) -> Node:
        """Return the Mininet node of a name.

        Parameters
        ----------
        name : str
            Of a host or a switch.

        Returns
        -------
        Node

        Raises
        ------
        ExperimentError
            No such node; it suggests the nearest name.
        """
        if not isinstance(name, str):
            what = f"net[...] takes the name of a host, and got a {type(name).__name__}"
            raise ExperimentError(what, fix="use the host as it is" if hasattr(name, "IP") else 'write net["web"]')
        if self.mininet is None:
            raise NetworkError("the network is not up", fix="take its hosts within its with block")
        if name not in self.mininet.nameToNode:
            raise ExperimentError(
                f"no host '{name}' in {type(self._topology).__name__}", fix=nearest(name, self.mininet.nameToNode)
            )
        node: Node = self.mininet.nameToNode[name]
        return node

    @property
    def topology(self) -> Topology:
        """The topology that it was made from."""
        return self._topology

    def kernel_settings(self) -> dict[str, str]:
        """Return the kernel's settings that measurements depend on: those that are set, and `BUFFERS` of the first host."""
        found = {**SYSCTLS, "offloads": "off", **host_settings.read()}
        first = next((each for each in self.mininet.hosts if each.inNamespace), None)
        if first is not None:
            with inside(first):
                for name in BUFFERS:
                    with suppress(OSError):  # a kernel has some of them for the whole machine only
                        found[name] = " ".join(sysctl(name).split())
        return found

    @property
    def hosts(self) -> list[Node]:
        """Mininet's hosts, in the topology's order."""
        return list(self.mininet.hosts)

    @property
    def switches(self) -> list[Node]:
        """Mininet's switches, in the topology's order."""
        return list(self.mininet.switches)

    @property
    def condition_log(self) -> ConditionLog:
        """The conditions that its links were given."""
        return self.shaping.conditions

    @property
    def verified(self) -> list[Echoes]:
        """The pings that verified changes of links, the newest last; clear the list to start over."""
        return self._log.verified

    @property
    def settings(self) -> list[Setting]:
        """The changes of links by `Link.set`, the newest last; clear the list to start over."""
        return self._log.settings

    @property
    def played(self) -> list[Played]:
        """The schedules that were played, with the times of their steps; clear the list to start over."""
        return self._log.played

    @property
    def links(self) -> list[Link]:
        """All its links, each from the end that Mininet has first."""
        return [self._link((cable.intf1, cable.intf2)) for cable in self.mininet.links]

    @property
    def conditions(self) -> dict[str, Condition]:
        """Conditions by link name, as in `counters`, for links that have one; seeds are those the user stated.

        Raises
        ------
        ConditionError
            See `Link.condition`.
        """
        return {
            name: self.seeds.asked(self.shaping.of(cable), number)
            for number, (name, cable) in enumerate(named(self.mininet.links))
            if self.shaping.is_set(cable)
        }

    def link(self, first: str, second: str) -> Link:
        """Return the link between two nodes.

        Parameters
        ----------
        first, second : str
            Names of nodes; the link's `up` is the direction from the first to the second.

        Returns
        -------
        Link
            The first one, if there are several.

        Raises
        ------
        ExperimentError
            No such node, or no link between the two.
        """
        between = self[first].connectionsTo(self[second])
        if not between:
            cables = sorted(f"{link.intf1.node.name} and {link.intf2.node.name}" for link in self.mininet.links)
            raise ExperimentError(
                f"no link between '{first}' and '{second}'", fix=f"there are links between {', '.join(cables)}"
            )
        return self._link(between[0])

    def link_of(self, cable: Any) -> Link:
        """Return the link of one of Mininet's, whose first end is its first one."""
        return self._link((cable.intf1, cable.intf2))

    def _link(self, ends: tuple[Any, Any]) -> Link:
        return Link(ends, self.shaping, self._log, self.seeds, self.mininet.links.index(ends[0].link))

    def faults(self, steps: Faults | Mapping[str, str | Sequence[str]] | str | Path, *services: Any) -> PlayingFaults:
        """Break and repair what is between hosts and on them while a ``with`` block lasts.

        Steps at 0 s are done before the block begins. At its end all cuts and pauses end; a service that was killed stays so.

        Parameters
        ----------
        steps : Faults, mapping, str or Path
            Faults, or steps for `Faults.parse`, such as ``{"5s": "cut db from web", "9s": "heal", "10s": "kill db"}``, or the
            path of a file with them.
        *services : Service
            The services that steps name; all of them run.

        Returns
        -------
        PlayingFaults
            A context manager; its `steps` are what was done, with their times.

        Raises
        ------
        UnitError, ConditionError
            The steps are wrong, at once or when it is entered.
        NetworkError
            When it is entered: a service does not run.
        ToolError, ServiceError
            When it is left: a step failed.
        """
        chosen = fault_file.read(steps).faults if isinstance(steps, Path) else steps
        chosen = chosen if isinstance(chosen, Faults) else Faults.parse(chosen)
        return PlayingFaults(self.mininet.hosts, chosen, services, self._log.played, self._links_of)

    def _links_of(self, host: str) -> list[Link]:
        """Return the links of a host, each with the host's end first."""
        cables = [interface.link for interface in self.mininet[host].intfList() if interface.link]
        ends = [(each.intf1, each.intf2) if each.intf1.node.name == host else (each.intf2, each.intf1) for each in cables]
        return [self._link(pair) for pair in ends]

    def counters(self) -> dict[str, Counters]:
        """Count what every link has carried and dropped since it was made.

        Returns
        -------
        dict of str to Counters
            By the link's name, "client-switch"; further links between the same nodes have a number after it.

        Raises
        ------
        NetworkError
            The kernel's counters cannot be read.
        """
        counted = counting.counters(self.mininet.links, self.shaping.gone)
        return {name: counted[cable] for name, cable in named(self.mininet.links)}

    def capture(
        self, node: str, interface: str | None = None, path: Path | str = "", *,
        filter: str = "", snaplen: int | None = None,  # noqa: A002  # tcpdump's word
    ) -> Capture:  # fmt: skip
        """Capture packets on an interface of a node to a pcap file: `with net.capture("client", "client-eth0", path):`.

        Parameters
        ----------
        node : str
            Its name.
        interface : str
            Its name, or "any" for all interfaces of a host; by default the node's first one.
        path : Path or str
            The file; "INTERFACE.pcap" in the working directory if not given.
        filter : str
            In tcpdump's language, such as "tcp port 80".
        snaplen : int
            Bytes to keep of each packet; without it all of them.

        Returns
        -------
        Capture
            A context manager that captures while it is entered.

        Raises
        ------
        ExperimentError
            No such node or interface, or `snaplen` is below 1.
        ToolError
            When it is entered: tcpdump cannot capture.
        """
        name = interface_of(self[node], interface)
        return Capture(self[node], name, Path(path or f"{name}.pcap"), filter=filter, snaplen=snaplen)

    def add_ipv6(self) -> None:
        """Give hosts IPv6 beside IPv4: 2001:db8::a00:1 for 10.0.0.1. Raises NetworkError if they do not reach each other."""
        if self._files:
            ipv6.add(self.mininet.hosts, self._files, type(self._topology).__name__, self.parts)

    def name_hosts(self) -> None:
        """Make the names of hosts known to all hosts once more, after some were added or removed."""
        if self._files:
            addresses.publish([each for each in self.mininet.hosts if each.intfList()], self._files)

    def remember(self) -> Remembered:
        """Return the conditions of all links.

        Returns
        -------
        mapping
            For `restore`.
        """
        return {cable: (self.shaping.last(cable.intf1), self.shaping.last(cable.intf2)) for cable in self.mininet.links}

    def restore(self, before: Remembered) -> None:
        """Restore the conditions of all links that have been changed.

        Parameters
        ----------
        before : mapping
            What `remember` returned.

        Raises
        ------
        NetworkError
            A link was made since then, or the kernel refuses a condition.
        """
        for cable in filter(self.shaping.is_set, self.mininet.links):
            link = self._link((cable.intf1, cable.intf2))
            if cable not in before:
                raise NetworkError(f"the link {link.name} did not exist when the conditions were saved")
            link.apply_directions(before[cable])

    @property
    def shaped(self) -> frozenset[tuple[str, str]]:
        """The interfaces of all links that were given a condition: the names of their nodes, and their own."""
        cables = filter(self.shaping.is_set, self.mininet.links)
        return frozenset((end.node.name, end.name) for cable in cables for end in (cable.intf1, cable.intf2))

    def end_programs(self) -> None:
        """End the tc and ip processes that run on its nodes; the next change of a link starts new ones."""
        self.shaping.programs.close()

    @property
    def programs(self) -> frozenset[int]:
        """The process numbers of its tc and ip."""
        return frozenset(self.shaping.programs.pids)

    def _stop(self) -> None:
        if self.mininet is not None:
            self.mininet.stop()
            self.mininet = None
        if self._files is not None:
            shutil.rmtree(self._files, ignore_errors=True)
            self._files = None
