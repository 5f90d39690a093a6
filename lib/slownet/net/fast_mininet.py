"""Mininet with faster construction: the same classes and calls, with netlink instead of processes."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from random import SystemRandom
from typing import Any, ClassVar
from weakref import WeakSet

from mininet.link import Intf, Link
from mininet.log import error, output
from mininet.net import Mininet
from mininet.node import (
    Controller,
    CPULimitedHost,
    DefaultController,
    Host,
    OVSBridge,
    OVSSwitch,
)
from mininet.nodelib import LinuxBridge
from mininet.util import numCores

from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import NetworkError
from slownet.net import blocked_writers, check_topology, device, loops, parameters, places, unique_names
from slownet.net.compare_qdiscs import flat
from slownet.net.conversion import fast_class, fast_factory
from slownet.net.loops import LEARNING
from slownet.net.mininet_links import QuickLink, quick_link
from slownet.net.namespace import inside
from slownet.net.netlink import Route
from slownet.net.nodes import CONTROLLER, NORMAL, QuickNode, QuickSwitch, Renamed
from slownet.net.places import Place
from slownet.net.plan import Qdisc
from slownet.net.qdisc import DEFAULT
from slownet.net.shaping import Shaping

# Conditions of links that a program has overwritten: by Open vSwitch's queues, or by its own tc commands.
#
# An interface has one queueing discipline at its root. What puts another one there, as `ovs-vsctl set port s1-eth1 qos=@q`
# does, removes the netem that delays, without a word.

LIMITING = ("htb", "hfsc", "tbf", "cake", "cbq", "drr", "taprio")
FIX = "add netem below it with tc, or state the rate of the link itself (bw=)"


def lines(links: Iterable[Any], shaping: Shaping, stated: Mapping[Any, Place]) -> Iterator[str]:
    """Yield a line for each interface that no longer has a delay, a loss or a rate that its link states.

    stated: the places of links.
    """
    for link in links:
        for interface in (link.intf1, link.intf2):
            end = shaping.end(interface)
            if end.stated is None or not end.queues.applied or end.stated.condition.cut:
                continue
            try:
                shown = [each for each in shaping.programs.run(interface, []) if each["handle"] != DEFAULT]
            except NetworkError:  # the program has deleted the interface
                continue
            if lost := dropped(end.stated, shown):
                names = ", ".join(
                    filter(None, (f"link {link.intf1.node.name}-{link.intf2.node.name}", str(stated.get(link, ""))))
                )
                yield f"{interface.name} has lost its {' and '.join(lost)} to {_by(interface, shown)}, {names}: {FIX}"


def dropped(stated: OneWay, shown: Sequence[Qdisc]) -> list[str]:
    """Return as text what a condition states and queueing disciplines, as tc shows them, do not do at all."""
    does = {name for qdisc in shown if qdisc["kind"] == "netem" for name, value in flat(qdisc["options"]) if value}
    limited = "rate.rate" in does or any(qdisc["kind"] in LIMITING for qdisc in shown)
    lost = []
    if stated.delay and "delay.delay" not in does:
        lost.append(f"delay of {1000 * stated.delay:g} ms")
    if stated.loss and not any(name.startswith("loss") for name in does):
        lost.append("loss")
    if stated.rate and not limited:
        lost.append(f"rate of {stated.rate / 1e6:g} Mbit/s")
    return lost


def _by(interface: Any, shown: Sequence[Qdisc]) -> str:
    """Return what an interface has in place of its queueing disciplines."""
    names = ", ".join(f"{qdisc['kind']} {qdisc['handle']}" for qdisc in shown)
    if isinstance(interface.node, OVSSwitch):
        words = ["ovs-vsctl", "--if-exists", "get", "port", interface.name, "qos"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=REPLY_S)
        if done.stdout.strip() not in ("", "[]"):
            return f"Open vSwitch's qos ({names})" if names else "Open vSwitch's qos"
    return f"a tc command of the program ({names or 'no queueing discipline is left'})"


# Waits for Mininet's own controllers, which make switches learn.
#
# They listen a moment after they were started, and a switch that was refused tries again after a second. On the virtual
# clock, where nothing takes time, a program's first packets would come before that.

MOST_SWITCHES = 16
"""Of ovs-testcontroller (utilities/ovs-testcontroller.c, MAX_SWITCHES); it does not answer further ones."""
LISTENS_S = 5.0
CONNECTS_S = 5.0
POLL_S = 0.005
REPLY_S = 10


def too_many_switches(controllers: Sequence[Any], switches: Sequence[Any]) -> bool:
    """Return whether there are more switches than a network's only controller, Mininet's default one, answers."""
    return len(controllers) == 1 and type(controllers[0]) in LEARNING and len(switches) > MOST_SWITCHES


def stand_in(network: Any) -> None:
    """Make the switches of a network that was not started learn by themselves, without its controllers."""
    network.controllers.clear()
    for switch in network.switches:
        if isinstance(switch, QuickSwitch) and switch.failMode == "secure":
            switch.failMode, switch.learns_by = "standalone", NORMAL


def start_controller(controller: Any, begin: Callable[[], None]) -> None:
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


def wait_for_flows(switches: Sequence[Any], controllers: Sequence[Any]) -> None:
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


# Mininet's network tests, rewritten where they would hang with current software: iperf 2.2 and cgroup v2.

REPORT_S = 30.0  # to wait for the server's report after the client has ended


class MininetTests:
    """Mixin for Mininet."""

    hosts: list[Any]
    _parseIperf: Any  # noqa: N815  # Mininet's names

    def iperf(
        self, hosts: Sequence[Any] | None = None, l4Type: str = "TCP", udpBw: str = "10M", fmt: str | None = None,  # noqa: N803
        seconds: int = 5, port: int = 5001,
    ) -> list[str]:  # fmt: skip
        """Return, like Mininet's, [server's, client's] rate as iperf prints it, preceded by `udpBw` for UDP.

        Mininet makes one connection to see whether the server listens, and then waits for a report on that connection, which
        iperf no longer prints.
        """
        client, server = hosts or (self.hosts[0], self.hosts[-1])
        if l4Type not in ("TCP", "UDP"):
            raise NetworkError(f"iperf has no protocol '{l4Type}'", fix="give TCP or UDP")
        output("*** Iperf: testing", l4Type, "bandwidth between", client, "and", server, "\n")
        words = ["iperf", "-p", str(port), *(["-u"] if l4Type == "UDP" else []), *(["-f", fmt] if fmt else [])]
        listening = server.popen([*words, "-s"], stderr=subprocess.STDOUT)
        try:
            said = _read_until(listening, "port")
            asked = [*words, "-t", str(seconds), "-c", server.IP(), *(["-b", udpBw] if l4Type == "UDP" else [])]
            got = client.popen(asked, stderr=subprocess.STDOUT).communicate()[0].decode()
            said += _read_until(listening, "/sec")
        finally:
            listening.kill()
            listening.communicate()
        result = [self._parseIperf(said), self._parseIperf(got)]
        if l4Type == "UDP":
            result.insert(0, udpBw)
        output(f"*** Results: {result}\n")
        return result

    def iperfUdp(self, **options: Any) -> list[str]:  # noqa: N802
        """Return the rates of `iperf` over UDP: ``mn --test iperfudp`` calls it, and Mininet has lost it."""
        return self.iperf(l4Type="UDP", **options)

    def runCpuLimitTest(self, cpu: float, duration: int = 5) -> list[float]:  # noqa: N802
        """Return, like Mininet's, each host's use of all processors in percent, second by second."""
        cores = numCores()
        spin = ["sh", "-c", "while true; do a=1; done"]
        spinning = [host.popen(spin) for host in self.hosts for _ in range(ceil(cores * cpu))]
        try:
            used: dict[Any, list[float]] = {host: [] for host in self.hosts}
            before = {host: (host.cpu_seconds, time.monotonic()) for host in self.hosts}
            for _ in range(duration):
                time.sleep(1)
                for host, (seconds, at) in before.items():
                    before[host] = now = host.cpu_seconds, time.monotonic()
                    used[host].append((now[0] - seconds) / (now[1] - at) / cores * 100)
        finally:
            for process in spinning:
                process.kill()
                process.communicate()
        percents = [percent for each in used.values() for percent in each]
        output(f"*** Results: {percents}\n")
        return percents


def _read_until(process: subprocess.Popen[bytes], word: str) -> str:
    """Return a program's output until it contains the word, the program ends, or `REPORT_S` have passed."""
    assert process.stdout is not None
    text, deadline = "", time.monotonic() + REPORT_S
    while word not in text:
        if not select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            error(f"iperf printed nothing more for {REPORT_S:g} s: {text}\n")
            break
        line = process.stdout.raw.read(4096) if hasattr(process.stdout, "raw") else process.stdout.read(4096)
        if not line:
            break
        text += line.decode()
    return text


STANDALONE = partial(OVSSwitch, failMode="standalone")
"""A switch that learns by itself: the network has no controller."""


CONNECTED_S = 60.0
"""The longest that switches wait for their controllers, unless a program sets it."""
ALONE = "start one before, or let the switches learn by themselves: failMode='standalone', in mn --switch ovsbr"


def _stands_in(controller: Any) -> bool:
    """Return whether a network's switches learn by themselves in place of the controllers that a program wants for all of them.

    That is Mininet's default, and its controller of no particular kind: the network behaves alike, and takes a fraction of the
    time. Mininet's own command does so where it finds none.
    """
    makers = controller if isinstance(controller, list) else [controller]
    return bool(makers) and all(each in (DefaultController, Controller, loops.Reference) for each in makers)


class QuickNet(MininetTests, Mininet):  # type: ignore[misc]  # Mininet has no types
    """Mininet, with its parameters; a topology's own classes of nodes and links keep their behaviour.

    sysctls: for every host, set before it has an interface. offloads_off: those of "tso", "gso", "gro" to switch off on every
    interface, by default all. shaping: the state of its interfaces. stp: whether all its switches run STP.
    """

    stp = False  # for networks that a program makes, see `slownet.net.standin`
    forgives = False
    """True if two hosts may share an address, as under Mininet: a line reports it."""
    unstopped: ClassVar[set[Any]] = set()
    """Those of a program's networks that it has not stopped: the end of the program reports of them."""
    running: ClassVar[WeakSet[QuickNet]] = WeakSet()
    """The networks of this process that were built and not stopped."""

    def __init__(
        self, *args: Any, sysctls: Mapping[str, str] | None = None, offloads_off: Sequence[str] = tuple(device.OFFLOADS),
        shaping: Shaping | None = None, stp: bool | None = None, **params: Any,
    ) -> None:  # fmt: skip
        self._stp = self.stp if stp is None else stp
        self._group = SystemRandom().getrandbits(31) | 1 << 16  # tells its cables from others of this machine
        self._sysctls = dict(sysctls or {})
        self._offloads_off = tuple(offloads_off)
        self.shaping = shaping or Shaping()
        self._taken = unique_names.taken()
        self._nodes_at: dict[str, Place] = {}
        self._links_at: dict[Any, Place] = {}
        given = dict(zip(("topo", "switch", "host", "controller"), args, strict=False)) | params
        parameters.check_base(given.get("ipBase", parameters.BASE))
        controller = given.get("controller", DefaultController)
        self._on_their_own = _stands_in(controller)
        if self._on_their_own:
            given["controller"] = fast_class(loops.StandIn)
        defaults = {"switch": QuickSwitch, "host": Host, "link": Link, "intf": Intf}
        super().__init__(*args[4:], **defaults | given)

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802  # Mininet's names
        """Add a host like Mininet. Raises NetworkError if no address is left."""
        most = (0xFFFFFFFF >> self.prefixLen) - 1
        if "ip" not in params and self.nextIP > most:
            raise NetworkError(
                f"no address is left for '{name}': {self.ipBase} has {most}",
                fix="give the network a larger ipBase, or give hosts an ip",
            )
        maker = cls or self.host
        self._once(name)
        parameters.check_node(name, maker, params, places.here())
        if parameters.becomes_limited(maker, params):
            maker = CPULimitedHost
        cls = fast_factory(maker, lambda each: self._with_sysctls(fast_class(each)))
        host = self._renamed(super().addHost(name, cls, **params))
        host.stated_at = places.of_node(self.topo, name) if self.topo and not self.built else places.here()
        host.unconfigured = not self.built
        return host

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Any:  # noqa: N802
        """Add a switch like Mininet; it learns by itself if no controller is installed."""
        self._once(name)
        check_topology.check_length(name, "switch", "", places.here())
        parameters.check_node(name, cls or self.switch, params, places.here())
        in_place = cls is None and self.switch is STANDALONE and "failMode" not in params
        cls = fast_factory(cls or self.switch, fast_class)
        kind = cls.func if isinstance(cls, partial) else cls
        if self._on_their_own and isinstance(kind, type) and issubclass(kind, OVSSwitch) and not issubclass(kind, OVSBridge):
            in_place = "failMode" not in params
            params.setdefault("failMode", "standalone")
        if self._stp and isinstance(kind, type) and issubclass(kind, OVSSwitch | LinuxBridge) and not params.get("rstp"):
            params["stp"] = True
            if not issubclass(kind, OVSBridge | LinuxBridge):
                params["failMode"] = "standalone"
        switch = self._renamed(super().addSwitch(name, cls, **params))
        if in_place:
            switch.learns_by = NORMAL
        return switch

    def _once(self, name: str) -> None:
        """Remember where the program states a node. Raises NetworkError if it has stated one of that name."""
        place = places.here()
        if name in self.nameToNode:
            first = self._nodes_at.get(name, Place())
            raise NetworkError(f"'{name}' is given twice", f"{first} and {place}", check_topology.OTHER_NAME)
        self._nodes_at[name] = places.of_node(self.topo, name) if self.topo and not self.built else place

    def _renamed(self, node: Any) -> Any:
        """Give a node of the machine's own namespace a name that is unique there."""
        if isinstance(node, Renamed) and not node.inNamespace:
            node.machine_name = unique_names.machine_name(node.name, self._taken)
            self._taken.add(node.machine_name)
        return node

    def addLink(  # noqa: N802
        self, node1: Any, node2: Any, port1: int | None = None, port2: int | None = None, cls: Any = None, **params: Any
    ) -> Any:
        """Add a link like Mininet. Raises ConditionError, UnitError for a parameter that would have no effect, and
        NetworkError for a node that is not there, or a port or an interface that another link has."""
        nodes = [self._known(node) if isinstance(node, str) else node for node in (node1, node2)]
        sides = [(node.name, type(node)) for node in nodes]
        stated = {name: port for name, port in (("port1", port1), ("port2", port2)) if port is not None}
        ports = {f"port{number}": node.newPort() for number, node in enumerate(nodes, start=1)} | stated
        place = places.here()
        parameters.check_link(cls or self.link, {"intf": self.intf, **ports, **params}, sides, place)
        ends = [(node, ports[f"port{end}"], params.get(f"intfName{end}")) for end, node in enumerate(nodes, start=1)]
        check_topology.check_link(ends, self.nameToNode.values(), self._links_at, place)
        cls = fast_factory(cls or self.link, quick_link)
        kind = cls.func if isinstance(cls, partial) else cls
        if isinstance(kind, type) and issubclass(kind, QuickLink):
            params |= {"group": self._group, "offloads_off": self._offloads_off, "shaping": self.shaping}
        link = super().addLink(*nodes, port1, port2, cls, **params)
        self._links_at[link] = place
        return link

    def _known(self, name: str) -> Any:
        """Return a node by its name. Raises NetworkError with the nearest name."""
        if name not in self:
            raise places.no_node(name, str(places.here()), self)
        return self[name]

    def addController(self, name: Any = "c0", controller: Any = None, **params: Any) -> Any:  # noqa: N802
        """Add a controller like Mininet. Raises ConditionError for a parameter that it does not take."""
        if isinstance(name, str):
            parameters.check_node(name, controller or self.controller, params, places.here())
        added = super().addController(name, controller, **params)
        if type(added) in loops.LEARNING:
            added.start = partial(start_controller, added, added.start)
        return added

    def buildFromTopo(self, topo: Any = None) -> None:  # noqa: N802
        """Build a topology like Mininet, once its parameters are checked.

        Raises ConditionError, UnitError, and NetworkError for what it states twice.
        """
        check_topology.check_topology(topo, type(topo).__name__)
        parameters.check_topology(topo, self.link, {"host": self.host, "switch": self.switch}, self.intf)
        makers = self.controller if isinstance(self.controller, list) else [self.controller]
        if self._on_their_own or self._stp or makers == [None]:  # otherwise `start` asks the controllers
            loops.check_topology(topo, self.switch, type(topo).__name__, standalone=self._on_their_own, stp=self._stp)
        super().buildFromTopo(topo)

    def build(self) -> None:
        """Build it like Mininet. Raises NetworkError for a loop of switches without a spanning tree."""
        self.running.add(self)
        if self.forgives:
            self.unstopped.add(self)
        super().build()
        loops.check_network(self.switches, self.links, self.controllers, "in this network")
        for line in check_topology.shared_addresses(self.hosts, self.switches, self.links):
            if not self.forgives:
                raise NetworkError(line, fix="give each one of its own")
            print(f"slownet: {line}: Mininet goes on, and one of them answers", file=sys.stderr)

    def _with_sysctls(self, cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, QuickNode)):
            return cls
        return lambda name, **params: cls(name, sysctls=self._sysctls, **params)

    def start(self) -> None:
        """Start the switches and wait until all links can send. Raises NetworkError for a loop without a spanning tree."""
        self.running.add(self)
        if self.built:  # otherwise Mininet builds it now
            if too_many_switches(self.controllers, self.switches):
                stand_in(self)
            loops.check_network(self.switches, self.links, self.controllers, "in this network")
        super().start()
        wait_for_flows(self.switches, self.controllers)
        for link in self.links:
            if isinstance(link, QuickLink):
                link.settle()
        if self._stp:
            loops.wait(self.switches, "in this network")

    def report(self) -> None:
        """Print what the program has taken from its links, and which of its programs stand still, while it runs."""
        if self.forgives and self in self.running:
            blocked_writers.report(self.values())
            for line in lines(self.links, self.shaping, self._links_at):
                print(f"slownet: {line}", file=sys.stderr)

    def waitConnected(self, timeout: float | bool | None = None, delay: float = 0.5) -> bool:  # noqa: N802
        """Wait like Mininet until switches have their controllers. Raises NetworkError where Mininet would wait for ever."""
        if timeout not in (None, True):
            return bool(super().waitConnected(timeout, delay))
        waiting = [each.name for each in self.switches if isinstance(each, OVSSwitch) and each.failMode != "standalone"]
        if waiting and not self.controllers:
            raise NetworkError(f"{', '.join(waiting)}: no controller", "which Open vSwitch waits for", ALONE)
        if super().waitConnected(CONNECTED_S, delay):
            return True
        waiting = [each.name for each in self.switches if not each.connected()]
        raise NetworkError(
            f"{', '.join(waiting)}: no controller within {CONNECTED_S:g} s", "which Open vSwitch waits for", ALONE
        )

    def stop(self) -> None:
        """Remove everything; a failure does not prevent the removal of the rest."""
        self.report()
        self.running.discard(self)
        self.unstopped.discard(self)
        self.shaping.programs.close()
        try:
            super().stop()
        finally:
            for node in (*self.hosts, *self.switches):
                if isinstance(node, QuickNode) and node.namespace:
                    node.namespace.close()
            with Route() as route:
                route.delete_group(self._group)
