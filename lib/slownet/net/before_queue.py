"""Capture of a host's packets as they enter the queue of its interface.

A capture on the interface sees a packet when it leaves: behind the queueing discipline, which delays, limits and drops. What
made the host send it happened before. The kernel runs the filters of clsact's egress before the queueing discipline
(net/core/dev.c, sch_handle_egress), and one of them mirrors each packet to a dummy interface, on which tcpdump listens. It then
lets the next filter have the packet: that of another capture, or of a program that has a clsact of its own. The mirrored packet
is a clone without an owner (net/sched/act_mirred.c), so the sender's limits do not count it.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

from slownet.model.errors import NetworkError
from slownet.net import netlink, tcpdump
from slownet.net.nodes import inside
from slownet.net.process import environment

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

    Parameters
    ----------
    host : Host
        The host.
    device : str
        The machine's name of the interface.
    path : Path
        The file to write.
    snaplen : int, optional
        Bytes to keep of each packet; by default all.

    Raises
    ------
    BusyError
        When it is started: the interface has an ingress queueing discipline, which shares its place with clsact, or the kernel
        cannot mirror packets.
    ToolError
        When it is started: tcpdump does not run.
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
