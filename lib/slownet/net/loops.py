"""Loops of switches: without STP a broadcast circles in them for ever; with STP or RSTP the network waits for a spanning tree.

A host, such as a router, does not forward frames and closes no loop. A spanning tree (STP, RSTP) opens a loop if all its
switches take part: Open vSwitch without it does not pass on the others' messages.
"""

from __future__ import annotations

import json
import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mininet.node import Controller, OVSBridge, OVSController, OVSSwitch
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo

from slownet.model.errors import NetworkError, first_of
from slownet.model.options import STP
from slownet.net import places
from slownet.net.nodes import ovs_vsctl
from slownet.net.parameters import class_of, preset, special

SETTLES_S = 60.0
"""Listening and learning, 15 s each, the 20 s for which an old message counts (IEEE 802.1D-1998, 8.10.2), and some more."""
POLL_S = 1.0
_BRIDGE_STATES = {"0": "disabled", "1": "listening", "2": "learning", "3": "forwarding", "4": "blocking"}


def wait(switches: Iterable[Any], where: str) -> None:
    """Wait until each port of the switches that run STP forwards or is blocked for good. Raises NetworkError.

    The deadline is on this machine's clock, which is the lab's in a lab.
    """
    running = [switch for switch in switches if runs_stp(switch)]
    if not running:
        return
    deadline = time.monotonic() + SETTLES_S
    while unsettled := [f"{port} is {state}" for port, state in states(running) if state not in ("forwarding", "blocking")]:
        if time.monotonic() > deadline:
            what = f"the spanning tree has not settled after {SETTLES_S:g} s: {unsettled[0]}"
            raise NetworkError(
                what, where, "does the topology set larger delays for the protocol, or is its chain of switches too long?"
            )
        time.sleep(POLL_S)


def blocked(switches: Iterable[Any]) -> frozenset[str]:
    """Return the names of the ports that the spanning tree blocks. Raises NetworkError."""
    running = [switch for switch in switches if runs_stp(switch)]
    return frozenset(port for port, state in states(running) if state == "blocking") if running else frozenset()


def states(switches: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the ports of switches with their states: forwarding, blocking, or another one on the way to these.

    Raises NetworkError.
    """
    switches = list(switches)
    if any(isinstance(switch, OVSSwitch) for switch in switches):
        shown = json.loads(ovs_vsctl(["--format=json", "--columns=name,status,rstp_status", "list", "port"]))
        found = {name: _state(dict(status[1]), dict(rapid[1])) for name, status, rapid in shown["data"]}
    for switch in switches:
        for interface in switch.intfList():
            if interface.link is None:
                continue
            if isinstance(switch, OVSSwitch):
                yield interface.name, found.get(interface.name, "unknown")
            else:
                state = Path("/sys/class/net", interface.name, "brport/state")
                yield interface.name, _BRIDGE_STATES.get(state.read_text().strip(), "unknown") if state.exists() else "unknown"


def _state(status: dict[str, str], rapid: dict[str, str]) -> str:
    """Return a port's state. A port that is to be blocked has the role of one: at first all discard."""
    if rapid.get("rstp_port_state"):
        state, role = rapid["rstp_port_state"].lower(), rapid.get("rstp_port_role", "").lower()
        return "blocking" if state == "discarding" and role in ("alternate", "backup") else state
    return status.get("stp_state", "unknown")


MOST_NAMED = 12
ANSWERS_S = 1.0


class Reference(Controller):  # type: ignore[misc]  # Mininet has no types
    """Mininet's `Controller`, with Open vSwitch's test controller where its own program is missing: Debian does not have it."""

    def __init__(self, name: str, inNamespace: bool = False, command: str = "controller", **params: Any) -> None:  # noqa: N803
        if command == "controller" and not Controller.isAvailable():
            command = OVSController.isAvailable() or command
        super().__init__(name, inNamespace=inNamespace, command=command, **params)

    @classmethod
    def isAvailable(cls) -> Any:  # noqa: N802
        """Return the program, if there is one."""
        return Controller.isAvailable() or OVSController.isAvailable()


class StandIn(Reference):
    """Stands for a controller where switches learn by themselves: it may be started and stopped, and does nothing."""

    stands_in = True

    def checkListening(self) -> None:  # noqa: N802  # Mininet's names
        """Do nothing: no program of its own listens."""

    def start(self) -> None:
        """Do nothing."""

    def stop(self, *args: Any, **params: Any) -> None:
        """End its shell."""
        self.terminate()


LEARNING = (Controller, OVSController, Reference)
"""Controllers that make their switches learn, each by itself."""


def shortest(cables: Sequence[tuple[str, str]], switches: Mapping[str, bool]) -> list[str]:
    """Return the switches of a loop, in order, or none.

    cables: the two ends of each. switches: those that forward, and whether each runs STP. Where all do, there is no loop.
    """
    between = [(first, second) for first, second in cables if first in switches and second in switches]
    at: dict[str, list[tuple[int, str]]] = {name: [] for name in switches}
    for number, (first, second) in enumerate(between):
        at[first].append((number, second))
        at[second].append((number, first))
    for name, stp in switches.items():
        if stp:
            continue
        found = [loop for number, neighbour in at[name] if (loop := _back(neighbour, name, number, at))]
        if found:
            return min(found, key=len)
    return []


def _back(start: str, end: str, without: int, at: Mapping[str, Sequence[tuple[int, str]]]) -> list[str]:
    """Return the shortest way from a neighbour back to a switch, without the cable between them: the end first."""
    if start == end:
        return [end]
    before = {start: end}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for number, neighbour in at[name]:
            if number == without:
                continue
            if neighbour == end:
                way = [name]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return [end, *reversed(way)]
            if neighbour not in before:
                before[neighbour] = name
                queue.append(neighbour)
    return []


def check_topology(topology: Topo, switch: Any, where: str, *, standalone: bool, stp: bool = False) -> None:
    """Check a topology before it is built. Raises NetworkError naming the switches of a loop.

    switch: the network's maker of switches. standalone: whether they learn by default. stp: whether all run STP.
    """
    switches = {}
    for name in topology.switches():
        info = topology.nodeInfo(name)
        maker = info.get("cls") or switch
        cls, params = class_of(maker), {**special(maker), **preset(maker), **info}
        if cls is not None and _learns(cls, params.get("failMode", "standalone" if standalone else "secure")):
            switches[name] = stp or bool(params.get("stp") or params.get("rstp"))
    cables = topology.links(sort=True, withInfo=True)
    loop = shortest([(first, second) for first, second, _ in cables], switches)
    if loop:
        place = next(
            (str(places.of_link(topology, info)) for first, second, info in reversed(cables) if {first, second} <= set(loop)),
            "",
        )
        _refuse(loop, ", ".join(filter(None, (where, place))))


def _learns(cls: type, fail_mode: str) -> bool:
    if issubclass(cls, LinuxBridge | OVSBridge):
        return True
    return issubclass(cls, OVSSwitch) and fail_mode == "standalone"


def check_network(switches: Iterable[Any], cables: Iterable[Any], controllers: Iterable[Any], where: str) -> None:
    """Check a network that was built and does not run yet. Raises NetworkError naming the switches of a loop.

    Controllers that answer, other than those that make switches learn, are trusted with loops.
    """
    controllers = [each for each in controllers if not isinstance(each, StandIn)]
    steering = any(type(each) not in LEARNING and _answers(each) for each in controllers)
    learning = any(type(each) in LEARNING for each in controllers)
    forwarding = {}
    for each in switches:
        alone = isinstance(each, LinuxBridge) or _learns(type(each), getattr(each, "failMode", ""))
        if isinstance(each, LinuxBridge | OVSBridge) or (
            not steering and (alone or (learning and isinstance(each, OVSSwitch)))
        ):
            forwarding[each.name] = runs_stp(each)
    ends = [(cable.intf1.node.name, cable.intf2.node.name) for cable in cables]
    loop = shortest(ends, forwarding)
    if loop:
        _refuse(loop, where)


def runs_stp(switch: Any) -> bool:
    """Return whether a switch takes part in a spanning tree."""
    return bool(getattr(switch, "stp", False) or getattr(switch, "rstp", False))


def _answers(controller: Any) -> bool:
    ports = [controller.port] if getattr(controller, "port", None) else [6653, 6633]
    for port in ports:
        with suppress(OSError), socket.create_connection((controller.IP(), port), ANSWERS_S):
            return True
    return False


def _refuse(loop: Sequence[str], where: str) -> None:
    if len(loop) == 1:
        what = f"the switch {loop[0]} is linked to itself: its broadcasts would circle for ever"
    else:
        what = f"the switches {first_of(loop, MOST_NAMED)} form a loop, where broadcasts circle for ever"
    fix = f"give the switches stp=True, or {STP.typed} to slownet shell, shell mininet or live, or leave out a link"
    raise NetworkError(what, where, fix)
