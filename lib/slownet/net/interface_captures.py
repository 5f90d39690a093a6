"""Packet captures on interfaces of a network, each to its own file; see `slownet.net.tcpdump`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

from slownet.model import sample
from slownet.model.errors import ExperimentError, NetworkError, nearest
from slownet.model.options import Option
from slownet.net import kernel_record, netlink, tcpdump
from slownet.net.layout import interface_name
from slownet.net.namespace import inside
from slownet.net.process import environment

# Capture of a host's packets as they enter the queue of its interface.
#
# A capture on the interface sees a packet when it leaves: behind the queueing discipline, which delays, limits and drops.
# What made the host send it happened before. The kernel runs the filters of clsact's egress before the queueing discipline
# (net/core/dev.c, sch_handle_egress), and one of them mirrors each packet to a dummy interface, on which tcpdump listens. It
# then lets the next filter have the packet: that of another capture, or of a program that has a clsact of its own. The
# mirrored packet is a clone without an owner (net/sched/act_mirred.c), so the sender's limits do not count it.

LOOPBACK = 1
"""The index of the interface lo in each namespace."""
_NUMBERS = count(1)


def is_possible(node: Any, interface: str) -> bool:
    """Return whether an interface is a host's own, which sends through a queue."""
    return bool(node.inNamespace) and interface not in ("any", "lo") and not hasattr(node, "dpctl")


def addresses(node: Any) -> list[str]:
    """Return all addresses of a host, but loopback's. Raises NetworkError."""
    with inside(node), netlink.Route() as route:
        return [address for index, address in route.addresses() if index != LOOPBACK]


class BusyError(Exception):
    """The packets that enter a queue cannot be captured, because of another program or the kernel; the text is the reason."""


class BeforeQueue(tcpdump.Capture):
    """A capture of what a host sends through an interface, before the interface's queueing discipline gets it.

    host: the host.
    device: the machine's name of the interface.
    path: the file to write.
    snaplen: bytes to keep of each packet; by default all.
    Raises BusyError: when it is started: the interface has an ingress queueing discipline, which shares its place with clsact,
    or the kernel cannot mirror packets. Raises ToolError: when it is started: tcpdump does not run.
    """

    _host: Any

    def __init__(self, host: Any, device: str, path: Path, snaplen: int | None = None) -> None:
        super().__init__(host, device, path, snaplen=snaplen)
        self._number = next(_NUMBERS)
        self._mirror = f"before{self._number}"
        self._has_clsact = self._has_filter = False

    @property
    def device(self) -> str:
        """The dummy interface."""
        return self._mirror

    def start(self) -> Self:
        """Mirror what is sent and capture it. Raises BusyError and ToolError."""
        try:
            self._mirror_what_is_sent()
            return super().start()
        except BaseException:
            self._remove()
            raise

    def _mirror_what_is_sent(self) -> None:
        try:
            with inside(self._host), netlink.Route() as route:
                route.dummy(self._mirror)
                with suppress(OSError):  # otherwise it sends packets of its own
                    Path(f"/proc/sys/net/ipv6/conf/{self._mirror}/disable_ipv6").write_text("1")
                route.up(self._mirror)
                self._has_clsact = self._add_clsact(route)
                route.mirror(self.interface, self._mirror, self._number)
                self._has_filter = True
        except (NetworkError, OSError) as error:
            raise BusyError(error.what if isinstance(error, NetworkError) else str(error.strerror or error)) from error

    def stop(self) -> None:
        """End the capture and the mirroring. Raises ToolError."""
        try:
            super().stop()
        finally:
            self._remove()

    def _remove(self) -> None:
        with inside(self._host), netlink.Route() as route:
            if self._has_filter:  # a program's own may have the same place
                with suppress(NetworkError, OSError):
                    route.stop_mirror(self.interface, self._number)
            if self._has_clsact:
                with suppress(NetworkError, OSError):
                    route.delete_clsact(self.interface)
            with suppress(NetworkError):
                route.delete(self._mirror)

    def _add_clsact(self, route: netlink.Route) -> bool:
        """Give the interface a clsact, and return whether it had none. Raises BusyError and NetworkError."""
        if route.add_clsact(self.interface):
            return True
        words = ["tc", "qdisc", "show", "dev", self.interface]
        shown = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False).stdout
        if "qdisc clsact " not in shown:  # ingress takes filters of egress, as those of ingress
            raise BusyError("it has an ingress queueing discipline")
        return False


class Capture(tcpdump.Capture):
    """A capture on an interface of a node of a network; see `tcpdump.Capture`."""

    _host: Any
    before: BeforeQueue | None = None
    """The capture of what is sent, as it enters the interface's queue; None for interfaces of switches, and where it failed."""
    obstacle = ""
    """Why a host's interface has no such capture."""
    kernel: Path | None = None
    """The file of what its host's kernel counts, see `slownet.net.kernel_record`; one for all interfaces of a host."""

    @property
    def node(self) -> Any:
        """The node that has the interface."""
        return self._host

    @property
    def device(self) -> str:
        """The machine's name of the interface."""
        return str(self._host.nameToIntf[self.interface].name) if self.interface != "any" else "any"

    def to_json(self, root: Path) -> sample.Capture:
        """Return the entry for a sample; the file's path is relative to the run directory `root`."""
        file = str(self.path.relative_to(root))
        found: sample.Capture = {"file": file, "interface": self.interface, "packets": self.packets, "dropped": self.dropped}
        if self.before is not None:
            found["before"] = str(self.before.path.relative_to(root))
        if self.obstacle:
            found["obstacle"] = self.obstacle
        if is_possible(self._host, self.interface):
            found["host"] = str(self._host.name)
            found["addresses"] = addresses(self._host)
        if self.kernel is not None:
            found["kernel"] = str(self.kernel.relative_to(root))
        return found


def interface_of(node: Any, name: str | None) -> str:
    """Return the name of a node's interface, by default its first. Raises ExperimentError with the nearest name."""
    known = [str(each) for each in node.nameToIntf if each != "lo"]
    if name is None and known:
        return interface_name(node.nameToIntf[known[0]])
    if name == "lo" or name in known or (name == "any" and node.inNamespace):
        return str(name)
    raise ExperimentError(f"{node.name} has no interface '{name}'", fix=nearest(str(name), known))


def find(net: Any, names: Sequence[str]) -> list[tuple[Any, str]]:
    """Return these interfaces with their nodes; "hosts" stands for those of all hosts. Raises ExperimentError."""
    nodes: dict[str, list[Any]] = {}
    for node in (*net.switches, *net.hosts):
        for name in filter(lambda each: each != "lo", node.nameToIntf):
            nodes.setdefault(name, []).append(node)
    found: dict[str, object] = {}
    for name in names:
        if name == "hosts":
            found |= {interface_name(each): each.node for host in net.hosts for each in host.intfList() if each.name != "lo"}
        elif name in nodes:
            first, *others = nodes[name]
            if others:
                fix = f"write {interface_name(first.nameToIntf[name])}"
                raise ExperimentError(f"{first.name} and {others[0].name} have an interface '{name}'", Option("capture"), fix)
            found[interface_name(first.nameToIntf[name])] = first
        else:
            raise ExperimentError(f"no interface '{name}'", where=Option("capture"), fix=nearest(name, nodes))
    return [(node, name) for name, node in found.items()]


@contextmanager
def capturing(
    interfaces: Sequence[tuple[Any, str]], folder: Path, prefix: str, started: list[Capture], snaplen: int | None = None,
    *, before: bool = True,
) -> Iterator[None]:  # fmt: skip
    """Capture on several interfaces, each to its own file `PREFIX-INTERFACE.pcap`; add them to `started` once all run.

    snaplen: bytes to keep of each packet; by default all. before: whether what hosts send is captured as it enters their
    queues, too. Raises ToolError.
    """
    captures = [Capture(node, name, _fresh(folder, f"{prefix}-{name}"), snaplen=snaplen) for node, name in interfaces]
    with ExitStack() as stack:
        if before:
            stack.enter_context(kernel_record.recording(_kernels(captures, folder, prefix)))
        for each in captures:
            if before and is_possible(each.node, each.interface):
                entering = BeforeQueue(each.node, each.device, each.path.with_suffix(".before.pcap"), snaplen)
                try:
                    each.before = stack.enter_context(entering)
                except BusyError as error:
                    each.obstacle = str(error)
            stack.enter_context(each)
        started += captures
        yield


def _kernels(captures: Sequence[Capture], folder: Path, prefix: str) -> list[tuple[Any, Path]]:
    """Return the hosts of captures, each with the file for what its kernel counts, and give the captures that file."""
    found: dict[str, tuple[Any, Path]] = {}
    for each in captures:
        if is_possible(each.node, each.interface):
            name = str(each.node.name)
            if name not in found:
                found[name] = each.node, _fresh(folder, f"{prefix}-{name}", ".kernel.json")
            each.kernel = found[name][1]
    return list(found.values())


def _fresh(folder: Path, stem: str, suffix: str = ".pcap") -> Path:
    """Return a new file name, so that an earlier capture stays when a sample is repeated."""
    path, number = folder / f"{stem}{suffix}", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{suffix}"
    return path
