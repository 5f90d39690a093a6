"""Mininet's links and interfaces over netlink, without a process for each address, name or move between namespaces."""

from __future__ import annotations

import fcntl
import ipaddress
import json
import os
import shlex
import socket
import struct
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link, OVSIntf, OVSLink, TCIntf, TCLink
from mininet.log import warn

from slownet.lab.host import owner
from slownet.links.conditions import tclink
from slownet.model.errors import NetworkError
from slownet.model.mininets import Parameters
from slownet.net import device, ipv4_only, parameters, places, tc, unique_names
from slownet.net.conversion import fast_factory
from slownet.net.namespace import current, inside
from slownet.net.netlink import End, Route
from slownet.net.nodes import QuickSwitch
from slownet.net.places import Place
from slownet.net.shaper import TCEnd
from slownet.net.shaping import Shaping

SHAPING = ("bw", "delay", "jitter", "loss", "max_queue_size")
USUAL_OFFLOADS = ["gro", "off", "tx", "on", "rx", "on"]
ACQUAINTED_S = 24 * 3600
SIOCGIFFLAGS, IFF_UP = 0x8913, 1


class QuickInterface(Intf):  # type: ignore[misc]  # Mininet has no types
    """Mixin for an interface class of Mininet or of a user; see `quick_interface`."""

    def config(self, **params: Any) -> Any:
        """Configure it like Mininet. Raises ConditionError for a parameter that no class takes, or that has no effect."""
        return super().config(**parameters.check_interface(self, params))

    ip: str | None
    prefixLen: str | None  # noqa: N815

    def setIP(self, ipstr: str, prefixLen: int | None = None) -> str:  # noqa: N802, N803  # Mininet's names
        """Set the interface up with this address, replacing the previous one. Raises NetworkError."""
        address, _, prefix = ipstr.partition("/")
        if ipv4_only.is_ipv6(address):
            place = Place() if getattr(self.node, "configuring", False) else places.here()
            raise ipv4_only.error(f"'{ipstr}'", ipstr, self.node.name, self.name, f"interface {self.name}", place)
        if not prefix and prefixLen is None:
            raise NetworkError(f"no prefix length for {ipstr}", where=f"interface {self.name}", fix=f"{ipstr}/24")
        before = self.ip, str(self.prefixLen)
        length = prefix or str(prefixLen)
        self.ip, self.prefixLen = address, length
        if not self.node.inNamespace:
            _check_address(self, f"{address}/{length}")
        with self._located(), inside(self.node), Route() as route:
            if before[0] and before != (address, length):
                route.delete_address(self.name, before[0], before[1])
            route.up(self.name)
            route.add_address(self.name, address, length)
        return ""

    def _located(self) -> AbstractContextManager[None]:
        """Add this interface to an error, and its place: while a node is configured, the node knows that."""
        return places.located(f"interface {self.name}", Place() if getattr(self.node, "configuring", False) else places.here())

    def setMAC(self, macstr: str) -> str:  # noqa: N802
        """Set the hardware address. Raises NetworkError."""
        self.mac = macstr
        with self._located(), inside(self.node), Route() as route:
            route.set_mac(self.name, macstr)
        return ""

    def isUp(self, setUp: bool = False) -> bool:  # noqa: N802
        """Return whether it is up, or set it up first."""
        with inside(self.node):
            if setUp:
                with Route() as route:
                    route.up(self.name)
                return True
            return is_up(self.name)

    def delete(self) -> None:
        """Delete the interface, and with it the other end of its cable."""
        with suppress(NetworkError), inside(self.node), Route() as route:  # it is gone if its other end was deleted
            route.delete(self.name)
        for name in [name for name, each in self.node.nameToIntf.items() if each is self and name != self.name]:
            del self.node.nameToIntf[name]
        self.node.delIntf(self)
        self.link = None


class QuickTCInterface(QuickInterface, TCIntf):  # type: ignore[misc]
    """A TCLink interface whose class makes its own tc commands."""

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        """Run tc and ethtool without the node's shell. Raises NetworkError when Mininet would print tc's error and go on."""
        words = shlex.split(" ".join(str(each) for each in args))
        if words[:1] not in (["tc"], ["ethtool"]):
            return super().cmd(*args, **kwargs)
        with inside(self.node):
            if words == ["ethtool", "-K", self.name, *USUAL_OFFLOADS]:  # for every interface; all but gro is so by default
                device.switch_off(self.name, ["gro"])
                return ""
            try:
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=tc.DEADLINE_S)
            except subprocess.TimeoutExpired:
                raise tc.silent(shlex.join(words), f"node {self.node.name}") from None
        if done.returncode:
            raise NetworkError(f"{shlex.join(words)}: {done.stderr.strip()}", where=f"node {self.node.name}")
        return done.stdout


class ShapedInterface(QuickTCInterface):
    """A TCLink interface whose parameters are a condition, changed in place; see `slownet.links.conditions.tclink`.

    Raises UnitError, ConditionError, NetworkError when Mininet would print an error and go on.
    """

    _asked: dict[str, Any] | None = None  # during config: the parameters as TCIntf passes them on
    _alone: Shaping | None = None

    def config(self, **params: Any) -> Any:  # parameters that a user's class adds arrive in bwCmds and delayCmds
        """Apply TCLink's parameters as a condition."""
        self._asked = {}
        try:
            result = super().config(**params)
            # TCIntf ignores parameters that are all 0, or a jitter alone; here 0 resets, and jitter alone is an error.
            asked = self._asked or {name: params[name] for name in SHAPING if params.get(name) is not None}
        finally:
            self._asked = None
        if asked:
            self._shape(asked)
        return result

    def bwCmds(self, speedup: float = 0, use_hfsc: bool = False, **asked: Any) -> tuple[list[str], str]:  # noqa: N802
        if self._asked is None:
            commands: tuple[list[str], str] = super().bwCmds(speedup=speedup, use_hfsc=use_hfsc, **asked)
            return commands
        if asked.get("bw") is not None and speedup > 0 and self.node.name.startswith("s"):  # Mininet's idea of a switch
            asked["bw"] = speedup
        self._asked |= asked
        return [], " root "

    def delayCmds(self, parent: str, **asked: Any) -> tuple[list[str], str]:  # noqa: N802
        if self._asked is None:
            commands: tuple[list[str], str] = TCIntf.delayCmds(parent, **asked)
            return commands
        self._asked |= asked
        return [], parent

    def tc(self, cmd: str, tc: str = "tc") -> Any:
        return "noqueue" if self._asked is not None else super().tc(cmd, tc)

    def _shape(self, asked: Parameters) -> None:
        with places.located(f"interface {self.name}", places.here()):
            stated = TCEnd.of(asked)
        if self.shaping.end(self).stated is None and not stated.root:
            return
        self.shaping.own.pop(self.link, None)
        if isinstance(self.node, QuickSwitch) and not getattr(self.node, "made", False):
            self.shaping.end(self).stated = stated  # Open vSwitch will remove qdiscs when it starts, see set_again
        else:
            self.shaping.set(self, stated)

    def set_again(self) -> None:
        """Apply the last condition again."""
        self.shaping.set_again(self)

    @property
    def shaping(self) -> Shaping:
        """The state of its network's interfaces; its own if it is in no network."""
        if isinstance(self.link, QuickLink):
            return self.link.shaping
        if self._alone is None:
            self._alone = Shaping()
        return self._alone


def is_up(name: str) -> bool:
    """Return whether an interface of this thread's namespace is up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", name.encode(), 0))
    return bool(struct.unpack("16sH14x", answer)[1] & IFF_UP)


class QuickLink(Link):  # type: ignore[misc]
    """Mixin for a link class of Mininet or of a user; see `quick_link`."""

    def __init__(
        self, node1: Any, node2: Any, *args: Any, group: int = 0, offloads_off: Sequence[str] = (),
        shaping: Shaping | None = None, **params: Any,
    ) -> None:  # fmt: skip
        """Make the link. shaping: its network's; by default its own."""
        self._group = group
        self._offloads_off = offloads_off
        self.shaping = shaping or Shaping()
        if isinstance(self, TCLink):
            for key in ("cls1", "cls2"):  # stock Mininet ignores the intf of a TCLink
                params.setdefault(key, parameters.usual_end(type(self), params.get("intf")))
        params["intf"] = fast_factory(params.get("intf") or Intf, quick_interface)
        self._shape_plain_ends(params)
        for key in ("cls1", "cls2"):
            if params.get(key):
                params[key] = fast_factory(params[key], quick_interface)
        for key, node in (("intfName1", node1), ("intfName2", node2)):
            if params.get(key) and not node.inNamespace:
                params[key] = unique_names.free(params[key])
        super().__init__(node1, node2, *args, **params)
        for end in (self.intf1, self.intf2):  # findable by Mininet's name, too, if the machine has another one
            end.node.nameToIntf.setdefault(f"{end.node.name}-eth{end.node.ports[end]}", end)

    def _shape_plain_ends(self, params: dict[str, Any]) -> None:
        """Make the ends of a plain link with a TCLink's parameters those of a TCLink."""
        before = [params.get(key) for key in ("cls1", "cls2")]
        for key, end in zip(("cls1", "cls2"), parameters.ends(type(self), params, (None, None)), strict=True):
            if end is TCIntf:
                params.setdefault(key, TCIntf)
        if before != [params.get(key) for key in ("cls1", "cls2")]:
            stated = {**params, **(params.get("params1") or {}), **(params.get("params2") or {})}
            words = ", ".join(name for name in tclink.SHAPING if stated.get(name) is not None)
            warn(f"*** a plain Link with {words}: made a TCLink (stock Mininet ignores them)\n")

    def intfName(self, node: Any, n: int) -> str:  # noqa: N802
        return f"{node}-eth{n}"

    def makeIntfPair(  # noqa: N802
        self, intfname1: str, intfname2: str, addr1: str | None = None, addr2: str | None = None,
        node1: Any = None, node2: Any = None, deleteIntfs: bool = False,  # noqa: N803
    ) -> None:  # fmt: skip
        """Make a veth pair with each end in its node's namespace from the start."""
        nodes = (node1, node2)
        descriptors: list[int] = []
        try:
            for node in nodes:
                with inside(node):
                    descriptors.append(current())
            segments = device.ONE_SEGMENT if self._offloads_off else None
            parts = zip((intfname1, intfname2), descriptors, (addr1, addr2), strict=True)
            ends = tuple(End(*each, segments) for each in parts)
            with places.located(f"link {node1.name}-{node2.name}", places.here()), Route() as route:
                route.veth(ends, self._group)  # type: ignore[arg-type]
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        for node, name in zip(nodes, (intfname1, intfname2), strict=True):
            with inside(node):
                device.switch_off(name, self._offloads_off)
                if node.inNamespace:
                    keep_neighbours(name)
                else:
                    _without_ipv6(name)
                    with Route() as route:
                        route.set_alias(name, f"slownet {owner.this().mark}")

    def settle(self) -> None:
        """Wait until both ends can send, if they are up."""
        for end in (self.intf1, self.intf2):
            with inside(end.node):
                device.carrier(end.name)

    def stop(self) -> None:
        """Do nothing: the whole group is deleted at once after the switches."""


def _check_address(interface: Any, address: str) -> None:
    """Raise NetworkError if the address would hide addresses of this machine's other interfaces."""
    wanted = ipaddress.ip_interface(address).network
    group = str(getattr(interface.link, "_group", ""))
    shown = subprocess.run(["ip", "-json", "-4", "address"], capture_output=True, text=True, check=True).stdout
    for other in json.loads(shown):
        for each in other["addr_info"]:
            theirs = f"{each['local']}/{each['prefixlen']}"
            if other["group"] != group and ipaddress.ip_interface(theirs).network.overlaps(wanted):
                raise NetworkError(
                    f"{interface.node.name} is in the machine's namespace: {address} overlaps {theirs} of {other['ifname']}",
                    where=f"interface {interface.name}",
                    fix="give it another subnet, or leave out inNamespace=False",
                )


def keep_neighbours(name: str, family: str = "ipv4") -> None:
    """Keep neighbours' addresses valid for hours (ip-sysctl.rst: base_reachable_time, delay_first_probe_time).

    Otherwise the kernel sends ARP requests again: after random times, and five seconds after it first answered a host whose
    address it learned from that host's request. One frame more or less shifts every later draw of a link's loss, and is
    counted with a tool's packets: no two runs would be the same.
    """
    folder = Path("/proc/sys/net", family, "neigh", name)
    (folder / "base_reachable_time_ms").write_text(str(1000 * ACQUAINTED_S))
    (folder / "delay_first_probe_time").write_text(str(ACQUAINTED_S))


def _without_ipv6(name: str) -> None:
    """Switch IPv6 off on a switch's port, so that this machine does not announce itself there."""
    with suppress(FileNotFoundError):  # a kernel without IPv6
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")


@cache
def quick_interface(cls: type) -> type:
    """Return the same class of interfaces over netlink."""
    if issubclass(cls, (QuickInterface, OVSIntf)) or not issubclass(cls, Intf):
        return cls
    if not issubclass(cls, TCIntf):
        return type(cls.__name__, (QuickInterface, cls), {})
    of_its_own = any(getattr(cls, name) is not getattr(TCIntf, name) for name in ("bwCmds", "delayCmds", "tc"))
    return type(cls.__name__, (QuickTCInterface if of_its_own else ShapedInterface, cls), {})


@cache
def quick_link(cls: type) -> type:
    """Return the same class of links over netlink; unchanged if it does not use Mininet's veth pair."""
    pair = getattr(cls, "makeIntfPair", None)
    if issubclass(cls, (QuickLink, OVSLink)) or getattr(pair, "__func__", None) is not Link.makeIntfPair.__func__:
        return cls
    return type(cls.__name__, (QuickLink, cls), {})
