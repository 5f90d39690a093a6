"""The base class of all servers: start and stop, the log, and a private directory for state."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from slownet.lab.host import owner
from slownet.lab.run import missing_programs as absent
from slownet.lab.run.charge import charged_s, charged_since, clock_words
from slownet.lab.run.excerpt import LOG_LINES, tail
from slownet.model.beside import beside
from slownet.model.errors import ServiceError
from slownet.net.namespace import inside
from slownet.net.process import POLL_S, Host, end, environment, family, no_host
from slownet.net.tool import not_found
from slownet.services import arguments, snapshot
from slownet.services.faulty_disk import Disk

LATE = 0.01
"""A server is found ready later by this part of its start at most: asked every 5 ms for a minute of the virtual clock, which
skips what programs wait, one that accepts connections and closes them would take minutes of real time."""


class Service:
    """A server on one host.

    A subclass sets `name`, returns the program's command line (`command`), writes its configuration (`prepare`), and checks
    whether it answers (`answers`). A ``with`` statement starts the server, and stops it in any case.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for the log ``<name>-<host>.log`` and the configuration. Without it the folder of the run being
        measured, and in a test a temporary one.

    Attributes
    ----------
    name : str
        The server's name in file names and messages.
    deadline_s : float
        Seconds in which the server must answer after its start.
    stop_s : float
        Seconds in which it must end after SIGTERM, before it gets SIGKILL.
    folder : Path or None
        Working directory of its program: this process's if None.
    operation : str
        What it answers with, as a noun for reports: "request", "page".
    durable : sequence of str
        Files and folders of `state` with data that outlive the program, which a snapshot keeps; see `experiment`'s
        ``prepare``.

    Examples
    --------
    A server of your own::

        class Echo(Service):
            name = "echo"

            def command(self):
                return ["socat", "TCP-LISTEN:7,fork", "EXEC:cat"]

            def answers(self):
                return "LISTEN" in run(self.host, ["ss", "-Htln", "sport = :7"]).stdout
    """

    name: str
    deadline_s: float = 60.0
    stop_s: float = 10.0
    folder: Path | None = None
    operation: str = "request"
    durable: Sequence[str] = ()
    _may_end = False
    """True if it may end with status 0 and counts as ready then."""

    def __init__(self, host: Host, directory: str | Path | None = None) -> None:
        if what := no_host(host):
            raise ServiceError(what, type(self).__name__, 'give one, such as net["server"]')
        self.host = host
        given = arguments.folder(directory, type(self).__name__, "directory")
        self.directory = given or Path(owner.this().run or owner.directory() / "logs")
        self._process: subprocess.Popen[bytes] | None = None
        self._state: Path | None = None
        self._data: snapshot.Data | None = None
        self._begins = 0
        self.disk: Disk | None = None
        """The disk of its state, if it has one of its own; see `on_disk`."""
        self.restored = False
        """True if `state` has the data of a snapshot, before `prepare`."""

    # ---- for subclasses ----

    def command(self) -> Sequence[str]:
        """Return the program and its arguments. The program must stay in the foreground."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Write what the program needs, into `state` and `directory`, which exist."""

    def answers(self) -> bool:
        """Return whether the server answers, from one attempt that does not wait. ``OSError`` counts as no."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Return environment variables for the program, in addition to the current process's."""
        return {}

    def require_port(self, port: int, udp_at: str = "") -> None:
        """Raise ServiceError if another program of the host has a TCP port: its answers would look like this server's.

        udp_at: an address of the host, whose UDP port is meant instead.
        """
        with inside(self.host):
            own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp_at else socket.SOCK_STREAM)
        with own:
            if not udp_at:
                own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that have ended do not count
            try:
                own.bind((udp_at, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise ServiceError(
                    f"port {port} is taken, so {self.name} cannot have it", f"host '{self.host.name}'",
                    "stop the program that listens there, or choose another port or host",
                ) from None  # fmt: skip

    # ---- files ----

    @property
    def label(self) -> str:
        """``<name>-<host>``, the prefix of its files' names."""
        return f"{self.name}-{self.host.name}"

    @property
    def log(self) -> Path:
        """The log file, in the run directory."""
        return self.directory / f"{self.label}.log"

    @property
    def state(self) -> Path:
        """The private directory, which exists from start to stop. Raises ServiceError at other times."""
        if self._state is None:
            raise self._not_started()
        return self._state

    @property
    def running(self) -> bool:
        """True if its main process is running."""
        return self._process is not None and self._process.poll() is None

    # ---- start and stop ----

    def start(self) -> Self:
        """Start the server and wait until it answers.

        Returns
        -------
        Service
            The server itself.

        Raises
        ------
        ServiceError
            It cannot be started, ends, or does not answer within ``deadline_s``. Nothing is left running.
        """
        self.launch()
        self.wait()
        return self

    def launch(self) -> None:
        """Start the process without waiting, so that several services can start together. Raises as `start` does."""
        if self._process is not None:
            raise ServiceError(f"{self.name} is already started", f"host '{self.host.name}'", "stop() it first")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._mark()
            # Sockets, data and pid files need a place of their own: the run directory may be a share of the host, where files
            # cannot change owner and sockets cannot be bound.
            self._state = Path(tempfile.mkdtemp(prefix=f"{self.label}-", dir=owner.directory()))
            self._state.chmod(0o755)
            if self.disk:
                self.disk.mount(self._state)
            self._data = snapshot.of(self.label)
            self.restored = self._restore(self._data) if self._data else False
            self.prepare()
            if self.disk:
                self.disk.sync()
            with self.log.open("ab") as log:
                self._process = self._popen(log)
        except OSError as error:
            self.stop()
            raise ServiceError(f"{self.name} cannot be started: {_reason(error)}", f"host '{self.host.name}'") from error
        except BaseException:
            self.stop()
            raise

    def _mark(self) -> None:
        """Note where the log of this start begins: an earlier one, also another service's, may have written to the file."""
        self._begins = self.log.stat().st_size if self.log.exists() else 0

    def _lately(self, lines: int = LOG_LINES) -> str:
        return tail(self.log, lines, self._begins)

    def _popen(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        return self.host.popen(
            list(self.command()),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(self.environment()),
            cwd=self.folder,
        )

    def wait(self) -> None:
        """Wait until the launched server answers. Raises as `start` does."""
        process = self._process
        if process is None:
            raise self._not_started()
        began, charged = time.monotonic(), charged_s()
        try:
            while not self._answers():
                status = process.poll()
                if status is not None:
                    raise self._why_it_ended(status)
                waited = time.monotonic() - began
                if waited > self.deadline_s:
                    raise self._silent(charged)
                time.sleep(self._pause_s(waited))
            status = process.poll()
            if status is not None and not (
                status == 0 and self._may_end
            ):  # what answered was another program, or its last words
                raise self._ended(status, "as soon as it answered")
        except BaseException:
            self.stop()
            raise

    def _pause_s(self, waited_s: float) -> float:
        """Return how long to wait before it is asked again, after so many seconds of its start."""
        return max(POLL_S, LATE * waited_s)

    def _silent(self, charged: float | None) -> ServiceError:
        where, fix = self._waits_for()
        waited = f"{self.deadline_s:g} s{clock_words()}{_of_cpu(charged)}"
        return self.error(f"{self.name} does not answer{where} after {waited}", fix)

    def _waits_for(self) -> tuple[str, str]:
        """Return where an answer is awaited, and what to do without one, each for the middle of an error."""
        return "", ""

    def _why_it_ended(self, status: int) -> ServiceError:
        program, log, where = self.command()[0], self._lately(), f"host '{self.host.name}'"
        if not_found(program, self._lately(1)):
            what, fix = absent.program(program)
            return ServiceError(what, where, fix)
        if lacking := absent.module(log):
            ended = f"{self.name} ended {_status(status)} before it answered"
            return ServiceError(f"{ended}: {lacking[0]}", where, lacking[1], log=log)
        return self._ended(status, "before it answered")

    def _ended(self, status: int, when: str) -> ServiceError:
        # status 0: as programs do that go on in the background
        fix = "a server's program must stay in the foreground; " if status == 0 else ""
        return self.error(f"{self.name} ended {_status(status)} {when}", fix)

    def _answers(self) -> bool:
        try:
            return self.answers()
        except OSError:
            return False

    def stop(self) -> None:
        """End the server with all its processes, and remove its state; the log stays. Fine to call twice."""
        process, self._process = self._process, None
        try:
            if process is not None:
                self._end(process)
                if self._data:
                    self._save(self._data)
        finally:
            state, self._state = self._state, None
            if state is not None:
                if self.disk:
                    self.disk.unmount()
                shutil.rmtree(state)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        end(process, ((signal.SIGTERM, self.stop_s), (signal.SIGKILL, self.stop_s)))

    def _restore(self, data: snapshot.Data) -> bool:
        return data.restore(self.state)

    def _save(self, data: snapshot.Data) -> None:
        data.save(self.state, self.durable)

    def _signal(self, process: subprocess.Popen[bytes], number: int) -> None:
        """Send a signal to all its processes."""
        for each in self._processes(process):
            with suppress(ProcessLookupError):
                os.kill(each, number)

    def processes(self) -> list[int]:
        """Return the ids of all its processes. Raises ServiceError if it does not run."""
        return self._processes(self._started())

    def _processes(self, process: subprocess.Popen[bytes]) -> list[int]:
        return family(process.pid)

    # ---- faults ----

    def on_disk(self, size: str = "256MB") -> Self:
        """Put its state on a disk of its own, before it starts.

        Such a disk can lose what was not written, be full or slow, or refuse writes: see ``net.faults``. A lab alone has them.

        Parameters
        ----------
        size : str
            How much the disk holds; of the lab's memory it takes what is written.

        Returns
        -------
        Service
            The server itself.

        Raises
        ------
        ServiceError, UnitError
            It has started, or the size is too small or none.

        Examples
        --------
        >>> with PostgreSQL(net["db"]).on_disk("512MB") as db:  # doctest: +SKIP
        ...     with net.faults({"1s": "crash db", "2s": "start db"}, db):
        ...         ...
        """
        if self._process is not None:
            raise ServiceError(f"{self.name} is already started", f"host '{self.host.name}'", "call on_disk() before")
        self.disk = Disk(size)
        return self

    def crash(self) -> None:
        """Kill all its processes, and lose what its disk had not written.

        Raises ServiceError if it does not run, or has no disk of its own.
        """
        disk = self._disk()
        self.kill()
        disk.lose_power()

    def _disk(self) -> Disk:
        if self.disk is None:
            fix = "call on_disk() before it starts"
            raise ServiceError(f"{self.name} has no disk of its own", f"host '{self.host.name}'", fix)
        return self.disk

    def kill(self) -> None:
        """Kill all its processes at once, with SIGKILL; its files and its log stay. Raises ServiceError if it does not run."""
        process = self._started()
        self._signal(process, signal.SIGSTOP)  # those that are killed last would see others die, and tell their clients
        self._signal(process, signal.SIGKILL)
        try:
            process.wait(self.stop_s)
        except subprocess.TimeoutExpired as error:
            raise self.error(f"{self.name} does not end after SIGKILL") from error

    def revive(self) -> None:
        """Start its program again after its end, with the files that it left; `wait` waits until it answers.

        Raises ServiceError if it runs, was never started, or cannot be started.
        """
        if self.running:
            raise ServiceError(f"{self.name} runs", f"host '{self.host.name}'", "kill() it first")
        if self._process is None:
            raise self._not_started()
        try:
            if self.disk:
                self.disk.again()
            self._mark()
            self.again()
            with self.log.open("ab") as log:
                self._process = self._popen(log)
        except OSError as error:
            raise ServiceError(f"{self.name} cannot be started again: {_reason(error)}", f"host '{self.host.name}'") from error

    def again(self) -> None:
        """Do what is needed before `revive` starts the program; `prepare` is not called again."""

    def pause(self) -> None:
        """Stop all its processes, with SIGSTOP, until `resume`. Raises ServiceError if it does not run."""
        self._signal(self._started(), signal.SIGSTOP)

    def resume(self) -> None:
        """Let all its processes go on, with SIGCONT. Raises ServiceError if it does not run."""
        self._signal(self._started(), signal.SIGCONT)

    def _not_started(self) -> ServiceError:
        return ServiceError(f"{self.name} is not started", f"host '{self.host.name}'", "call start() first")

    def _started(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None:
            raise self._not_started()
        if process.poll() is not None:
            raise self.error(f"{self.name} has ended {_status(process.returncode)}")
        return process

    @contextmanager
    def stalls(self, after: float, seconds: float) -> Iterator[None]:
        """Pause the server with all its processes once during a ``with`` block.

        Parameters
        ----------
        after : float
            Seconds from the start of the block until the processes get SIGSTOP.
        seconds : float
            Seconds until they get SIGCONT; they also get it at the end of the block.

        Raises
        ------
        ServiceError
            The server is not started, or one of these is not a number.
        """
        after, seconds = arguments.seconds(after, "stalls()", "after"), arguments.seconds(seconds, "stalls()", "seconds")
        process = self._started()

        def stall(ended: threading.Event) -> None:
            if not ended.wait(after):
                self._signal(process, signal.SIGSTOP)
                ended.wait(seconds)
                self._signal(process, signal.SIGCONT)

        with beside(stall):
            yield

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def error(self, what: str, fix: str = "") -> ServiceError:
        """Return a ServiceError for this service, with the last lines of its log. fix: what stands before the log's name."""
        return ServiceError(what, f"host '{self.host.name}'", f"{fix}its log is {self.log}", log=self._lately())


def _reason(error: OSError) -> str:
    named = f"{error.filename}: " if error.filename else ""
    return f"{named}{error.strerror or error}"


def _of_cpu(charged: float | None) -> str:
    """Return how much of the time since then was CPU: none tells a program that waits from one that computes."""
    spent = charged_since(charged)
    return "" if spent is None else f", {spent:.1f} s of them CPU"


def _status(status: int) -> str:
    if status >= 0:
        return f"with status {status}"
    with suppress(ValueError):
        return f"by {signal.Signals(-status).name}"
    return f"by signal {-status}"
