"""What every server has in common: one life from start to stop, a log, a private place for its state."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, ClassVar, Self

from slownet import owner
from slownet.errors import ServiceError
from slownet.tools.process import POLL_S, Host, end, environment

LOG_LINES = 12


class Service:
    """A server on one host.

    A subclass names its program (:meth:`command`), writes what that program needs (:meth:`prepare`), and says
    whether it answers now (:meth:`answers`, one quick attempt). ``with`` starts it and always stops it.

    Parameters
    ----------
    host
        Where it runs.
    directory
        The run directory: ``<name>-<host>.log`` and the configuration are written there.
    """

    name: ClassVar[str]
    deadline_s: ClassVar[float] = 60.0
    stop_s: ClassVar[float] = 10.0

    def __init__(self, host: Host, directory: str | Path) -> None:
        self.host = host
        self.directory = Path(directory)
        self._process: subprocess.Popen[bytes] | None = None
        self._state: Path | None = None

    # ---- what a subclass says ----

    def command(self) -> Sequence[str]:
        """The program and its arguments; it must stay in the foreground."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Writes what the program needs; :attr:`state` and :attr:`directory` exist."""

    def answers(self) -> bool:
        """Whether the server answers, from one attempt that does not wait. ``OSError`` counts as no."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Variables that the program gets besides those of this process."""
        return {}

    # ---- its places ----

    @property
    def label(self) -> str:
        """``<name>-<host>``: what its files are called after."""
        return f"{self.name}-{self.host.name}"

    @property
    def log(self) -> Path:
        """The log file, in the run directory."""
        return self.directory / f"{self.label}.log"

    @property
    def state(self) -> Path:
        """The private directory; there from start to stop."""
        if self._state is None:
            raise ServiceError(f"{self.name} is not started", f"host '{self.host.name}'", "call start() first")
        return self._state

    @property
    def running(self) -> bool:
        """Whether its first process lives."""
        return self._process is not None and self._process.poll() is None

    # ---- its life ----

    def start(self) -> Self:
        """Starts the server and waits until it answers.

        Raises
        ------
        ServiceError
            It cannot be started, it ended, or it does not answer within ``deadline_s``; nothing is left of it.
        """
        self.launch()
        self.wait()
        return self

    def launch(self) -> None:
        """Starts the process and returns at once: several services can come up together."""
        if self._process is not None:
            raise ServiceError(f"{self.name} is already started", f"host '{self.host.name}'", "stop() it first")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            # Sockets, data and pid files: the run directory may be a share of the host, where files cannot change owner
            # and sockets cannot be bound.
            self._state = Path(tempfile.mkdtemp(prefix=f"{self.label}-", dir=owner.directory()))
            self._state.chmod(0o755)
            self.prepare()
            with self.log.open("ab") as log:
                self._process = self._popen(log)
        except OSError as error:
            self.stop()
            raise ServiceError(f"{self.name} cannot be started: {error}", f"host '{self.host.name}'") from error
        except BaseException:
            self.stop()
            raise

    def _popen(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        return self.host.popen(
            list(self.command()),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(self.environment()),
        )

    def wait(self) -> None:
        """Waits until the launched server answers; raises as :meth:`start` does."""
        process = self._process
        if process is None:
            raise ServiceError(f"{self.name} is not started", f"host '{self.host.name}'", "call start() first")
        deadline = time.monotonic() + self.deadline_s
        try:
            while not self._answers():
                status = process.poll()
                if status is not None:
                    raise self.error(f"{self.name} ended {_status(status)} before it answered")
                if time.monotonic() > deadline:
                    raise self.error(f"{self.name} does not answer after {self.deadline_s:g} s")
                time.sleep(POLL_S)
        except BaseException:
            self.stop()
            raise

    def _answers(self) -> bool:
        try:
            return self.answers()
        except OSError:
            return False

    def stop(self) -> None:
        """Ends the server with all its processes and removes its state; the log stays. Fine to call twice."""
        process, self._process = self._process, None
        state, self._state = self._state, None
        try:
            if process is not None:
                end(process, ((signal.SIGTERM, self.stop_s), (signal.SIGKILL, self.stop_s)))
        finally:
            if state is not None:
                shutil.rmtree(state)

    @contextmanager
    def stalls(self, after: float, seconds: float) -> Iterator[None]:
        """While it is entered, the server with all its processes is stopped (SIGSTOP) once, ``after`` so many seconds from
        now, and continued (SIGCONT) after ``seconds`` more, or when the context ends."""
        process, ended = self._process, threading.Event()
        if process is None:
            raise ServiceError(f"{self.name} is not started", f"host '{self.host.name}'", "call start() first")

        def stall() -> None:
            if not ended.wait(after):
                _tell(process, signal.SIGSTOP)
                ended.wait(seconds)
                _tell(process, signal.SIGCONT)

        thread = threading.Thread(target=stall, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def error(self, what: str) -> ServiceError:
        """A failure of this service, with the last lines of its log."""
        return ServiceError(what, f"host '{self.host.name}'", f"its log is {self.log}", log=tail(self.log))


def _tell(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def tail(path: Path, lines: int = LOG_LINES) -> str:
    """The last lines of a log that are not blank; empty when there is none."""
    try:
        text = path.read_bytes()[-16384:].decode(errors="replace")
    except OSError:
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


def _status(status: int) -> str:
    if status >= 0:
        return f"with status {status}"
    with suppress(ValueError):
        return f"by {signal.Signals(-status).name}"
    return f"by signal {-status}"
