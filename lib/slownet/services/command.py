"""Any program as a server, in one line: for programs that have no class of their own."""

from __future__ import annotations

import shlex
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from slownet.errors import ServiceError
from slownet.net.nodes import inside
from slownet.services.service import Service
from slownet.tools.process import Host

ATTEMPT_S = 1.0
"""Longest time of one attempt to connect."""
SERVER_ERROR = 500
SURVIVES_S = 0.1
"""How long a program without a condition must run: one that cannot start has ended by then."""


class Command(Service):
    """A program that a host runs as a server.

    Parameters
    ----------
    host : Host
        Where it runs.
    argv : sequence of str or str
        The program and its arguments; a string is split like a shell's command line, but no shell runs it. The program stays in
        the foreground.
    directory : path, optional
        Where its log ``<name>-<host>.log`` is written: the run directory. Without it the folder of the run being measured, and
        in a test a temporary one; the last lines of the log are part of every error.
    port : int, optional
        The TCP port it listens on; it is ready when this port accepts a connection from its own host.
    ready : str, or function of this object returning bool, optional
        Another condition: a text in its log, or a function such as ``http("/health")``. With neither this nor a port, it is
        ready when it has run for a tenth of a second.
    name : str, optional
        The first part of the log's name: the program's name, unless given.
    env : mapping of str to str, optional
        Environment variables in addition to those of this process.
    cwd : path, optional
        Its working directory: this process's, unless given.
    timeout : float
        Seconds until it must be ready.

    Examples
    --------
    ::

        with Command(net["web"], "gunicorn shop:app --bind 0.0.0.0:8000", port=8000, ready=http("/health")) as shop:
            ab(net["client"], shop.url)
    """

    def __init__(
        self, host: Host, argv: Sequence[str] | str, directory: str | Path | None = None, *, port: int | None = None,
        ready: str | Callable[[Command], bool] | None = None, name: str = "", env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None, timeout: float = 60.0,
    ) -> None:  # fmt: skip
        super().__init__(host, directory)
        self.argv = tuple(shlex.split(argv) if isinstance(argv, str) else map(str, argv))
        if not self.argv:
            raise ServiceError("no program", f"host '{host.name}'", 'name one: Command(host, ["python3", "shop.py"])')
        self.name = name or Path(self.argv[0]).name
        self.port = port
        self.ready = ready
        self.variables = dict(env or {})
        self.folder = Path(cwd) if cwd else None
        self.deadline_s = timeout
        self._logged, self._begun = 0, 0.0

    @property
    def url(self) -> str:
        """The address of its front page, with the host's number. Raises ServiceError without a port."""
        if self.port is None:
            raise ServiceError(f"{self.name} has no port", f"host '{self.host.name}'", "write Command(..., port=8000)")
        return f"http://{self.host.IP()}:{self.port}/"

    def prepare(self) -> None:
        """Note when it begins, and where its part of the log does: an earlier start may have written to it.

        Raises ServiceError if its port is taken: another program's answer would look like its own.
        """
        if self.port is not None and self._accepts(self.port):
            raise ServiceError(
                f"port {self.port} is taken", f"host '{self.host.name}'", "end what listens there, or use another"
            )
        self._logged = self.log.stat().st_size if self.log.exists() else 0
        self._begun = time.monotonic()

    def command(self) -> Sequence[str]:
        """Return the program and its arguments."""
        return self.argv

    def environment(self) -> Mapping[str, str]:
        """Return the variables that it gets in addition."""
        return self.variables

    def answers(self) -> bool:
        """Return whether it is ready, from one attempt."""
        if isinstance(self.ready, str):
            return self.ready in self.log.read_bytes()[self._logged :].decode(errors="replace")
        if self.ready is not None:
            return self.ready(self)
        if self.port is None:
            return time.monotonic() - self._begun > SURVIVES_S
        return self._accepts(self.port)

    def _accepts(self, port: int) -> bool:
        try:
            self.connect(port).close()
        except OSError:
            return False
        return True

    def connect(self, port: int) -> socket.socket:
        """Return a connection from its own host to one of its TCP ports. Raises OSError if none is accepted."""
        with inside(self.host):
            try:
                return socket.create_connection(("127.0.0.1", port), ATTEMPT_S)
            except OSError:
                return socket.create_connection((self.host.IP(), port), ATTEMPT_S)


def http(path: str = "/", port: int | None = None, status: Sequence[int] = ()) -> Callable[[Command], bool]:
    """Return a condition for `Command`: a GET request from its own host is answered.

    Parameters
    ----------
    path : str
        Of the page.
    port : int, optional
        The command's port, unless given.
    status : sequence of int
        The status codes that count: all below 500, unless given.
    """

    def answered(command: Command) -> bool:
        at = port or command.port
        if at is None:
            raise ServiceError("no port to ask", f"http({path!r})", "write Command(..., port=8000)")
        client = HTTPConnection(command.host.IP(), at)
        try:
            client.sock = command.connect(at)
            client.request("GET", path)
            found = client.getresponse().status
        except HTTPException:
            return False
        finally:
            client.close()
        return found in status if status else found < SERVER_ERROR

    return answered
