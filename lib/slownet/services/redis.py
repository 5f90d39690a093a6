"""Redis on a host: here a broker, whose streams keep what was sent until a consumer has acknowledged it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from slownet.services.service import Service
from slownet.tools.process import Host
from slownet.tools.tool import run


class Redis(Service):
    """A Redis server on all of the host's addresses; it keeps everything in memory and writes nothing.

    Parameters
    ----------
    host, directory
        Where it runs, and the run directory for its log and configuration.
    port
        Where it listens.
    options
        Further options of ``redis-server``, for example ``["--maxmemory", "50mb"]``.
    """

    name = "redis"

    def __init__(self, host: Host, directory: str | Path, *, port: int = 6379, options: Sequence[str] = ()) -> None:
        super().__init__(host, directory)
        self.port = port
        self.options = tuple(options)

    @property
    def socket(self) -> Path:
        """The Unix socket: reaches it without crossing a link."""
        return self.state / "sock"

    def command(self) -> Sequence[str]:
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
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(self.socket))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"

    def ask(self, *words: str) -> list[str]:
        """One command through the Unix socket: the lines of its answer. Raises ToolError."""
        done = run(self.host, ["redis-cli", "-s", str(self.socket), *words], timeout=self.deadline_s)
        if done.stdout.startswith(("ERR", "WRONGTYPE", "NOGROUP")):
            raise self.error(f"{self.name} answers {done.stdout.splitlines()[0]!r} to {words[0]}")
        return done.stdout.splitlines()

    def pending(self, stream: str = "rows", group: str = "writers") -> int:
        """How many entries of a stream were handed out and are not acknowledged."""
        return int(self.ask("XPENDING", stream, group)[0])
