"""Messages from a server that is reached over two paths, one of which is cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets import connection_attempts
from slownet.model.errors import ToolError
from slownet.net.process import Host, Hosts
from slownet.net.tcpdump import Capture
from slownet.net.tool import run, running
from slownet.reproductions.program import python
from slownet.services.composite import OnDemand
from slownet.tools.numbers import Metric, single
from slownet.tools.program import read_json

PORT = 5000
OPENING = f"tcp port {PORT} and tcp[tcpflags] & tcp-syn != 0"
LISTENS_S = 5.0
POLL_S = 0.1
NAMES = ("gap_ms", "gap_at_ms", "bytes", "bytes_after_gap")


@dataclass(frozen=True)
class Multipath(Metrics):
    """The messages of one connection.

    command: the command.
    raw: its output.
    gap_ms: the longest time between two arrivals, or between the last one and the end.
    received, after_gap: bytes that arrived, and how many of them after that time.
    paths: on how many paths the connection was opened, by the captures; 0 without MPTCP.
    files: the capture of each interface: the packets that open connections.
    """

    command: tuple[str, ...]
    raw: str
    gap_ms: float
    received: int
    after_gap: int
    paths: int
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    def metrics(self) -> dict[str, Metric]:
        """Return ``stall_ms``, ``received_bytes`` and ``bytes_after_stall``."""
        return {
            "stall_ms": single(self.gap_ms, 1),
            "received_bytes": single(self.received, 1),
            "bytes_after_stall": single(self.after_gap, 1),
        }

    def facts(self) -> dict[str, object]:
        """Return on how many paths the captures show MPTCP."""
        return {"mptcp_paths": self.paths}


def multipath(
    client: Host, server: Host, protocol: str, cut: Callable[[], AbstractContextManager[Any]], *, interfaces: Sequence[str],
    after: float = 3.0, seconds: float = 8.0,
) -> Multipath:  # fmt: skip
    """Receive messages, a hundred of 1000 bytes in a second, and cut a path meanwhile.

    client, server: who receives and who sends.
    protocol: ``MPTCP`` or ``TCP``.
    cut: cuts the path for a ``with`` block.
    interfaces: the client's interfaces, which are captured.
    after, seconds: seconds until the path is cut, and in all.
    returns: what arrived.
    Raises ToolError: a program fails, or the captures show another protocol.
    """
    with owner.temporary("multipath") as directory, ExitStack() as stack:
        captures = [Capture(client, each, Path(directory, each), filter=OPENING) for each in interfaces]
        for each in captures:
            stack.enter_context(each)
        stack.enter_context(running(server, python("path_messages", protocol, "serve", PORT)))
        _await(server)
        with running(client, python("path_messages", protocol, "fetch", server.IP(), PORT, seconds)) as wait:
            time.sleep(after)
            with cut():
                done = wait(seconds + 60, True)
        stack.close()
        files = {f"{each.interface}.pcap": each.path.read_bytes() for each in captures}
    found = read_json(done.stdout, done.argv, *NAMES)
    paths = sum(map(connection_attempts.opens, files.values()))
    if bool(paths) != (protocol == "MPTCP"):
        raise ToolError(f"the captures show MPTCP on {paths} paths instead of {protocol}", f"host '{client.name}'")
    return Multipath(done.argv, done.stdout, found["gap_ms"], found["bytes"], found["bytes_after_gap"], paths, {**files})


def _await(server: Host) -> None:
    """Wait until the server listens. Raises ToolError."""
    deadline = time.monotonic() + LISTENS_S
    while not run(server, ["ss", "-Htln", f"sport = :{PORT}"]).stdout.strip():
        if time.monotonic() > deadline:
            raise ToolError(f"the server does not listen after {LISTENS_S:g} s", f"host '{server.name}'")
        time.sleep(POLL_S)


SECOND, DEVICE = "10.0.1.2", "server-eth1"
"""The server's address and interface on the second path of `TwoPaths`."""
INTERFACES = ("client-eth0", "client-eth1")


class Messages(OnDemand):
    """A server of `TwoPaths` that announces its second address to clients that speak MPTCP.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "connection"

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        super().__init__(net, directory, server)
        self.client: Host = net["client"]
        run(self.host, ["ip", "mptcp", "endpoint", "flush"])
        run(self.host, ["ip", "mptcp", "endpoint", "add", SECOND, "dev", DEVICE, "signal"])
        for host in (self.host, self.client):
            run(host, ["ip", "mptcp", "limits", "set", "subflow", "1", "add_addr_accepted", "1"])

    def receive(self, protocol: str, cut: Callable[[], AbstractContextManager[Any]]) -> Multipath:
        """Receive messages over MPTCP or TCP while a path is cut; cut: as for `multipath`. Raises ToolError."""
        return multipath(self.client, self.host, protocol, cut, interfaces=INTERFACES)
