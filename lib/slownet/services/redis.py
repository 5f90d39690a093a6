"""Redis, used as a broker: its streams keep each entry until a consumer has acknowledged it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services import arguments
from slownet.services.in_files import Starts, first
from slownet.services.service import Service


class Redis(Service):
    """A Redis server on all addresses of a host; it keeps its data in memory only.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for the log.
    port : int
        The TCP port to listen on.
    options : sequence of str
        More options of ``redis-server``, such as ``["--maxmemory", "50mb"]``.
    """

    name = "redis"

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, port: int = 6379, options: Sequence[str] = ()
    ) -> None:
        super().__init__(host, directory)
        self.port = arguments.port(port, "Redis")
        self.options = arguments.words(options, "Redis", "options", 'options=["--maxmemory", "50mb"]')

    @property
    def socket(self) -> Path:
        """The Unix socket, which uses no link."""
        return self.state / "sock"

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return [
            "redis-server",
            *("--port", str(self.port)),
            *("--bind", "0.0.0.0"),
            *("--protected-mode", "no"),
            *("--unixsocket", str(self.socket)),
            *("--dir", str(self.state)),
            *("--save", ""),
            *("--appendonly", "no"),
            *self.options,
        ]

    def answers(self) -> bool:
        """Return whether it answers PING."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(self.socket))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"

    def ask(self, *words: str) -> list[str]:
        """Send a command through the Unix socket and return the lines of the answer. Raises ToolError or ServiceError."""
        done = run(self.host, ["redis-cli", "-s", str(self.socket), *words], timeout=self.deadline_s)
        if done.stdout.startswith(("ERR", "WRONGTYPE", "NOGROUP")):
            raise self.error(f"{self.name} answers {done.stdout.splitlines()[0]!r} to {words[0]}")
        return done.stdout.splitlines()

    def pending(self, stream: str = "rows", group: str = "writers") -> int:
        """Return how many entries of a stream were delivered and not yet acknowledged."""
        return int(self.ask("XPENDING", stream, group)[0])


IN_FILES = Starts("redis", lambda net, directory, page: Redis(net[first(net, "db")], directory))
