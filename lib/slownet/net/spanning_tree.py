"""Waits for a spanning tree: with STP a port forwards after twice the forward delay of 15 s, with RSTP after some seconds."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mininet.node import OVSSwitch

from slownet.model.errors import NetworkError
from slownet.net.loops import runs_stp
from slownet.net.nodes import ovs_vsctl

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
