"""Further interfaces of a host on its one cable, with addresses of their own: a container has one in each of its networks.

They are macvlan interfaces, so that the condition of the host's link holds for all that it sends and receives.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slownet.model.errors import NetworkError
from slownet.net import device
from slownet.net.mininet_links import keep_neighbours
from slownet.net.namespace import inside
from slownet.net.netlink import Route

CONF = Path("/proc/sys/net/ipv4/conf/all")
UNKNOWN = "Unknown device type"
"""The kernel's answer if it lacks a kind of interface."""
APART = {"arp_ignore": "1", "arp_announce": "2"}
"""A host answers for an address where it has it alone (ip-sysctl.rst): all interfaces are in one Ethernet."""


def make(host: Any, cable: str, found: Mapping[str, str]) -> bool:
    """Make interfaces with these hardware addresses on a host's cable, and return whether the kernel can.

    cable: its interface's name. Without macvlan a line reports that the host has one interface.
    """
    if not found:
        return True
    with inside(host), Route() as route:
        for number, (name, mac) in enumerate(found.items()):
            try:
                route.macvlan(name, cable, mac)
            except NetworkError as error:
                if number or UNKNOWN not in error.what:
                    raise
                what = f"this kernel has no macvlan: {host.name} has one interface, {cable}, for all its networks"
                print(f"slownet: {what}", file=sys.stderr)  # Mininet's log is silent but for errors
                return False
            device.switch_off(name, list(device.OFFLOADS))
            keep_neighbours(name)
        for name, text in APART.items():
            (CONF / name).write_text(text)
    return True


def name_as_a_container(host: Any) -> None:
    """Make the interfaces of a host, ``web-eth0``, known as ``eth0`` and so on, too, for a container that it runs."""
    with inside(host), Route() as route:
        for interface in host.intfList():
            number = re.fullmatch(rf"{re.escape(host.name)}-(eth\d+)", interface.name)
            if number:
                route.set_other_name(interface.name, number[1])
