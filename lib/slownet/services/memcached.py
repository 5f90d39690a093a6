"""memcached on a host: values by their keys, in memory, for whoever asks over TCP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.services.service import Service
from slownet.tools.process import Host
from slownet.tools.tool import run

PORT = 11211

ASK = 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "%s\\r\\nquit\\r\\n" "$2" >&3 && cat <&3'
"""It has no Unix socket beside TCP, so bash asks on the host itself: no link is crossed."""


class Memcached(Service):
    """memcached on all of the host's addresses, with its default of 64 MB; everything else is the default too.

    Parameters
    ----------
    host, directory
        Where it runs, and the run directory for its log and configuration.
    port
        Where it listens.
    """

    name = "memcached"

    def __init__(self, host: Host, directory: str | Path, *, port: int = PORT) -> None:
        super().__init__(host, directory)
        self.port = port

    @property
    def address(self) -> str:
        """Where it is reached from other hosts."""
        return f"{self.host.IP()}:{self.port}"

    def command(self) -> Sequence[str]:
        return ["memcached", "-u", "memcache", "-l", "0.0.0.0", "-p", str(self.port)]

    def answers(self) -> bool:
        return self.ask("version", check=False)[:1] == ["VERSION"]

    def ask(self, command: str, check: bool = True) -> list[str]:
        """One command of its text protocol, such as ``stats``: the words of its answer. Raises ToolError if checked."""
        done = run(self.host, ["bash", "-c", ASK, "bash", str(self.port), command], timeout=self.deadline_s, check=check)
        return done.stdout.split()

    def count(self, name: str) -> int:
        """One of its statistics, such as ``get_hits`` or ``curr_items``. Raises ServiceError."""
        words = self.ask("stats")
        if name not in words:
            raise self.error(f"{self.name} has no statistic '{name}'")
        return int(words[words.index(name) + 1])
