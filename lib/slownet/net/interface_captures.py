"""Packet captures on interfaces of a network, each to its own file; see `slownet.net.tcpdump`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from slownet.model import sample
from slownet.model.errors import ExperimentError, nearest
from slownet.model.options import Option
from slownet.net import before_queue, tcpdump
from slownet.net.before_queue import BeforeQueue, BusyError, addresses
from slownet.net.layout import interface_name


class Capture(tcpdump.Capture):
    """A capture on an interface of a node of a network; see `tcpdump.Capture`."""

    _host: Any
    before: BeforeQueue | None = None
    """The capture of what is sent, as it enters the interface's queue; None for interfaces of switches, and where it failed."""
    obstacle = ""
    """Why a host's interface has no such capture."""

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
        if before_queue.is_possible(self._host, self.interface):
            found["host"] = str(self._host.name)
            found["addresses"] = addresses(self._host)
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
    interfaces: Sequence[tuple[Any, str]], folder: Path, prefix: str, started: list[Capture], snaplen: int | None = None
) -> Iterator[None]:
    """Capture on several interfaces, each to its own file `PREFIX-INTERFACE.pcap`; add them to `started` once all run.

    snaplen: bytes to keep of each packet; by default all. Raises ToolError.
    """
    captures = [Capture(node, name, _fresh(folder, f"{prefix}-{name}"), snaplen=snaplen) for node, name in interfaces]
    with ExitStack() as stack:
        for each in captures:
            if before_queue.is_possible(each.node, each.interface):
                before = BeforeQueue(each.node, each.device, each.path.with_suffix(".before.pcap"), snaplen)
                try:
                    each.before = stack.enter_context(before)
                except BusyError as error:
                    each.obstacle = str(error)
            stack.enter_context(each)
        started += captures
        yield


def _fresh(folder: Path, stem: str) -> Path:
    """Return a new file name, so that an earlier capture stays when a sample is repeated."""
    path, number = folder / f"{stem}.pcap", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.pcap"
    return path
