"""Any program as a server, in one line: for programs that have no class of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from slownet.model.errors import ServiceError
from slownet.net.process import Host
from slownet.services import arguments
from slownet.services.readiness import Awaited


class Command(Awaited):
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
        self.argv = arguments.command(argv, "Command")
        if not self.argv:
            raise ServiceError("no program", "Command", 'name one: Command(host, ["python3", "shop.py"])')
        super().__init__(host, directory, name=name or Path(self.argv[0]).name, port=port, ready=ready, timeout=timeout)
        self.variables = arguments.mapping(env, "Command", "env", 'env={"LOG_LEVEL": "debug"}')
        self.folder = arguments.folder(cwd, "Command", "cwd")

    def command(self) -> Sequence[str]:
        """Return the program and its arguments."""
        return self.argv

    def environment(self) -> Mapping[str, str]:
        """Return the variables that it gets in addition."""
        return self.variables
