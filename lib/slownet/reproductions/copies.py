"""A host with files that are copied over SSH, by the programs that people copy with."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.lab.host import owner
from slownet.net.process import Host, Hosts
from slownet.services.sshd import Sshd
from slownet.tools.timed import Timed, timed

USER = "root"
OLD_WINDOW = 64 << 10
"""Bytes that OpenSSH let be on their way until 4.6: a channel's window."""
REQUEST = 32 << 10
"""Bytes that sftp asks for at a time, by default until OpenSSH 8.9."""
Line = Callable[[Sequence[str], str, str], Sequence[str]]
"""Makes a command line from ssh's options, the file as ``user@host:path``, and where to write it."""


def _cat(options: Sequence[str], source: str, target: str) -> Sequence[str]:
    login, _, path = source.partition(":")
    return ["sh", "-c", f"{shlex.join(['ssh', *options, login, 'cat', path])} > {shlex.quote(target)}"]


PROGRAMS: Mapping[str, Line] = {
    "ssh": _cat,
    "scp": lambda options, source, target: ["scp", "-q", *options, source, target],
    "sftp": lambda options, source, target: ["sftp", "-q", *options, source, target],
    # As if the window were the old one: so many requests are on their way.
    "sftp, 64 kB": lambda options, source, target: [
        "sftp", "-q", *options, "-B", str(REQUEST), "-R", str(OLD_WINDOW // REQUEST), source, target,
    ],
}  # fmt: skip
"""The ways to copy a file, by name."""


class Copies:
    """A host with OpenSSH's server.

    net: the network.
    directory: the run directory, for the log.
    server: the host's name.
    """

    operation = "copy"

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        self.sshd = Sshd(net[server], directory)

    def __enter__(self) -> Self:
        self.sshd.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.sshd.stop()

    def copy(self, client: Host, program: str, size: int) -> Timed:
        """Copy a file from the host to a client.

        client: the host that asks for it.
        program: a name in `PROGRAMS`.
        size: the file's bytes.
        returns: the time in ms, with that of the connection.
        Raises ToolError: a program is missing or fails.
        """
        path = self.sshd.state / "file"
        with open(path, "wb") as file:
            file.truncate(size)
        source = f"{USER}@{self.sshd.host.IP()}:{path}"
        with owner.temporary("copy") as folder:
            return timed(client, PROGRAMS[program](self.sshd.options, source, f"{folder}/file"))
