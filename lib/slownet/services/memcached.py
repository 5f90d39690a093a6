"""The in-memory key-value store memcached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services import arguments
from slownet.services.service import Service

PORT = 11211

ASK = 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "%s\\r\\nquit\\r\\n" "$2" >&3 && cat <&3'
"""memcached has no Unix socket in addition to TCP, so bash sends commands on the host itself, which uses no link."""


class Memcached(Service):
    """The key-value store memcached, on all addresses of a host, with its defaults (64 MB).

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for the log.
    port : int
        The TCP port to listen on.
    """

    name = "memcached"

    def __init__(self, host: Host, directory: str | Path | None = None, *, port: int = PORT) -> None:
        super().__init__(host, directory)
        self.port = arguments.port(port, "Memcached")

    @property
    def address(self) -> str:
        """IP address and port for other hosts: ``"10.0.0.3:11211"``."""
        return f"{self.host.IP()}:{self.port}"

    def prepare(self) -> None:
        """Raise ServiceError if the port is taken."""
        self.require_port(self.port)

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return ["memcached", "-u", "memcache", "-l", "0.0.0.0", "-p", str(self.port)]

    def answers(self) -> bool:
        """Return whether it answers with its version."""
        return self.ask("version", check=False)[:1] == ["VERSION"]

    def ask(self, command: str, check: bool = True) -> list[str]:
        """Send a command of the text protocol, such as ``stats``, and return the words of the answer.

        Raises ToolError if ``check`` is true and the command cannot be sent.
        """
        done = run(self.host, ["bash", "-c", ASK, "bash", str(self.port), command], timeout=self.deadline_s, check=check)
        return done.stdout.split()

    def count(self, name: str) -> int:
        """Return a statistic, such as ``get_hits`` or ``curr_items``. Raises ServiceError if none exists of that name."""
        words = self.ask("stats")
        if name not in words:
            raise self.error(f"{self.name} has no statistic '{name}'")
        return int(words[words.index(name) + 1])
