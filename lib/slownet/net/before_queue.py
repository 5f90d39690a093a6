"""What a host sends, captured as it enters the queue of its interface.

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

from slownet.net import tcpdump
from slownet.net.nodes import inside
from slownet.net.process import environment

THERE = "Exclusivity flag on"
"""The kernel's word for a queueing discipline that already exists."""
_NUMBERS = count(1)


def is_possible(node: Any, interface: str) -> bool:
    """Return whether an interface is a host's own, which sends through a queue."""
    return bool(node.inNamespace) and interface not in ("any", "lo") and not hasattr(node, "dpctl")


def addresses(node: Any) -> list[str]:
    """Return all addresses of a host, but loopback's."""
    found = []
    with inside(node):
        shown = subprocess.run(["ip", "-o", "addr"], capture_output=True, text=True, env=environment(), check=False).stdout
    for line in shown.splitlines():
        words = line.split()
        if words[1] != "lo":
            found.append(words[3].partition("/")[0])
    return found


class BusyError(Exception):
    """What enters a queue cannot be captured, because of another program or of the kernel; its text is the reason."""


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
            self._run("ip", "link", "add", self._mirror, "type", "dummy")
            with suppress(OSError), inside(self._host):  # otherwise it sends packets of its own
                Path(f"/proc/sys/net/ipv6/conf/{self._mirror}/disable_ipv6").write_text("1")
            self._run("ip", "link", "set", self._mirror, "up")
            self._has_clsact = self._add_clsact()
            words = ("matchall", "action", "mirred", "egress", "mirror", "dev", self._mirror, "continue")
            self._run("tc", "filter", "add", *self._filter, *words)
            self._has_filter = True
            return super().start()
        except BaseException:
            self._remove()
            raise

    def stop(self) -> None:
        """End the capture and the mirroring. Raises ToolError."""
        try:
            super().stop()
        finally:
            self._remove()

    def _remove(self) -> None:
        if self._has_filter:  # a program's own may have the same place
            with suppress(BusyError):
                self._run("tc", "filter", "del", *self._filter)
        if self._has_clsact:
            with suppress(BusyError):
                self._run("tc", "qdisc", "del", "dev", self.interface, "clsact")
        with suppress(BusyError):
            self._run("ip", "link", "del", self._mirror)

    @property
    def _filter(self) -> tuple[str, ...]:
        """The place of the filter, which no other one has."""
        return "dev", self.interface, "egress", "pref", str(self._number)

    def _add_clsact(self) -> bool:
        """Give the interface a clsact, and return whether it had none. Raises BusyError."""
        try:
            self._run("tc", "qdisc", "add", "dev", self.interface, "clsact")
        except BusyError as error:
            if THERE not in str(error):
                raise
            if "qdisc clsact " not in self._run("tc", "qdisc", "show", "dev", self.interface):
                raise BusyError(
                    "it has an ingress queueing discipline"
                ) from error  # that one takes filters of egress, as ingress
            return False
        return True

    def _run(self, *words: str) -> str:
        with inside(self._host):
            done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)
        if done.returncode:
            text = done.stderr.strip().removeprefix("Error: ") or f"{words[0]} ended with status {done.returncode}"
            raise BusyError(text.splitlines()[0].rstrip("."))
        return done.stdout
