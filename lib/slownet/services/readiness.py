"""Any program as a server, the conditions of its readiness, and the ports that the kernel lists for its host."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.model.errors import ServiceError
from slownet.net.namespace import inside
from slownet.net.process import Host
from slownet.services import arguments
from slownet.services.service import Service

LISTEN = "0A"
"""The state of a listening socket (net/tcp_states.h), as /proc/net/tcp writes it."""
FILES = ("tcp", "tcp6")


def ports(host: Any) -> tuple[int, ...]:
    """Return the ports of a host that listen now, over IPv4 or IPv6, in order."""
    lines: list[str] = []
    with inside(host):
        for name in FILES:
            with suppress(OSError):  # a kernel without IPv6
                lines += Path("/proc/thread-self/net", name).read_text(encoding="ascii").splitlines()
    return listed(lines)


def listed(lines: Iterable[str]) -> tuple[int, ...]:
    """Return the listening ports in lines of /proc/net/tcp, whose addresses are hexadecimal: ``0100007F:1F90``."""
    words = (line.split() for line in lines)
    return tuple(sorted({int(each[1].rpartition(":")[2], 16) for each in words if len(each) > 3 and each[3] == LISTEN}))


ATTEMPT_S = 1.0
"""Longest time of one attempt to connect."""
SERVER_ERROR = 500
CHUNK = 1 << 16
SURVIVES_S = 0.1
"""The time that a program without a condition must run: one that cannot start has ended by then."""


class Awaited(Service):
    """The base class of `Command` and `Container`, which describe the parameters."""

    def __init__(
        self, host: Host, directory: str | Path | None, *, name: str, port: int | None,
        ready: str | Callable[[Any], bool] | None, timeout: float,
    ) -> None:  # fmt: skip
        super().__init__(host, directory)
        where = type(self).__name__
        if not isinstance(name, str) or "/" in name or "\0" in name:
            raise ServiceError(f"{name!r} cannot begin the name of a log", where, 'give it another name: name="shop"')
        given: object = ready
        if given is http or not (given is None or isinstance(given, str) or callable(given)):
            what = "the function http itself" if given is http else repr(given)
            fix = 'give http("/health"), a text in its log, or a function of it that returns whether it is ready'
            raise ServiceError(f"ready is {what}", where, fix)
        self.name = name
        self.port = None if port is None else arguments.port(port, where)
        self.ready = ready
        self.deadline_s = arguments.seconds(timeout, where, "timeout")
        self._logged, self._begun = 0, 0.0

    @property
    def url(self) -> str:
        """The address of its front page, with the host's number. Raises ServiceError without a port."""
        if self.port is None:
            raise ServiceError(
                f"{self.name} has no port", f"host '{self.host.name}'", f"write {type(self).__name__}(..., port=8000)"
            )
        return f"http://{self.host.IP()}:{self.port}/"

    def prepare(self) -> None:
        """Note when it begins, and where its part of the log does: an earlier start may have written to it.

        Raises ServiceError if another program has its port, whose answers would count as its own.
        """
        if self.port is not None and self._connects(self.port):
            raise ServiceError(
                f"port {self.port} is taken, so {self.name} cannot have it", f"host '{self.host.name}'",
                "stop the program that listens there, or choose another port",
            )  # fmt: skip
        self._note()

    def again(self) -> None:
        """Note when it begins again, and where that part of the log does."""
        self._note()

    def _note(self) -> None:
        self._logged = self.log.stat().st_size if self.log.exists() else 0
        self._begun = time.monotonic()

    def answers(self) -> bool:
        """Return whether it is ready, from one attempt."""
        if isinstance(self.ready, str):
            return self._has_logged(self.ready.encode())
        if self.ready is not None:
            return self.ready(self)
        if self.port is None:
            return time.monotonic() - self._begun > SURVIVES_S
        self.connect(self.port).close()
        return True

    def _waits_for(self) -> tuple[str, str]:
        """Name the port that it waits for, and the ports that listen on the host instead."""
        asked = self.ready if isinstance(self.ready, _Get) else None
        port = (asked and asked.port) or self.port
        if port is None or isinstance(self.ready, str):
            return "", ""
        found = ports(self.host)
        heard = f"TCP port{'s' * (len(found) != 1)} {', '.join(map(str, found))}" if found else "no TCP port"
        where = "" if self.ready and not asked else f" on port {port}"
        return (
            f" GET {asked.path}{where}" if asked else where,
            f"{heard} {'listen' if len(found) > 1 else 'listens'} on {self.host.name}; ",
        )

    def _has_logged(self, text: bytes) -> bool:
        """Return whether the log has a text; what was read once and cannot be a part of it is not read again."""
        with self.log.open("rb") as log:
            log.seek(self._logged)
            before = b""
            while data := log.read(CHUNK):
                if text in before + data:
                    return True
                before = (before + data)[max(0, len(before) + len(data) - len(text) + 1) :]
                self._logged = log.tell() - len(before)
        return not text

    def connect(self, port: int) -> socket.socket:
        """Return a connection from its own host to one of its TCP ports. Raises OSError if none is accepted."""
        with inside(self.host):
            try:
                return socket.create_connection(("127.0.0.1", port), ATTEMPT_S)
            except OSError:
                return socket.create_connection((self.host.IP(), port), ATTEMPT_S)

    def _connects(self, port: int) -> bool:
        try:
            self.connect(port).close()
        except OSError:
            return False
        return True


def http(path: str = "/", port: int | None = None, status: int | Sequence[int] = ()) -> Callable[[Awaited], bool]:
    """Return a condition for `Command` and `Container`: a GET request from its own host is answered.

    Parameters
    ----------
    path : str
        Of the page.
    port : int, optional
        The service's port, unless given.
    status : int or sequence of int
        The status codes that count: all below 500, unless given.
    """
    if not isinstance(path, str) or not path.startswith("/") or path.split() != [path]:
        fix = 'write it as in a URL, from its slash on: http("/health")'
        raise ServiceError(f"{path!r} is not a path of a page", "http()", fix)
    given = (status,) if isinstance(status, int) else tuple(status)
    codes = tuple(each for each in given if not isinstance(each, str))
    if len(codes) < len(given):  # "404" is a sequence of its digits, and would match none
        raise ServiceError(f"status is {status!r}", "http()", "give numbers: status=404, or status=[200, 404]")
    return _Get(path, None if port is None else arguments.port(port, "http()"), codes)


@dataclass(frozen=True)
class _Get:
    path: str
    port: int | None
    codes: tuple[int, ...]

    def __call__(self, service: Awaited) -> bool:
        from http.client import HTTPConnection, HTTPException  # here: it imports ssl and email, and most conditions need none

        at = self.port or service.port
        if at is None:
            raise ServiceError("no port to ask", f"http({self.path!r})", f"write {type(service).__name__}(..., port=8000)")
        client = HTTPConnection(service.host.IP(), at)
        try:
            client.sock = service.connect(at)
            client.request("GET", self.path)
            found = client.getresponse().status
        except HTTPException:
            return False
        finally:
            client.close()
        return found in self.codes if self.codes else found < SERVER_ERROR


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
