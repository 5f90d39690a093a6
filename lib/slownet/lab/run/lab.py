"""A lab to boot, whatever its kernel and clock: what it is given, how its command is run, and how it ended.

Two kinds exist: the kernel of `slownet.lab.run.boot.UmlLab` is User-Mode Linux, `slownet.lab.exact.exact.ExactLab` is a machine
that QEMU emulates.
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.lab.run import autopsy
from slownet.lab.run import channel as frames
from slownet.lab.run.clock import Clock
from slownet.model.errors import DamagedError, LabError
from slownet.model.options import Option

if TYPE_CHECKING:
    from slownet.lab.run.missing_features import HasModules

MEGABYTES = 1024
LEAST_MEGABYTES = 160
GRACE_S = 10
SAME_S = 0.5
"""A signal that comes again within this time is the same one: timeout(1) and some shells send each twice."""
CRASHES = signal.SIGSEGV, signal.SIGBUS, signal.SIGILL
"""The signals of programs whose files are damaged."""
CRASHED = {status for each in CRASHES for status in (-each, 128 + each)}

WRITABLE = ":rw"
"""The suffix of a shared folder that labs may change."""

NOTHING = ("",)
"""The filter of a folder that is only written to."""
Sink = Callable[[bytes], None]


@dataclass(frozen=True)
class Share:
    """A host folder that the lab mounts at the same path, or at `at`."""

    path: Path
    writable: bool = False
    at: str = ""
    only: tuple[str, ...] = ()
    """The files of the folder that an exact lab, which gets a copy, needs; all if none is named, and none with `NOTHING`."""

    @property
    def mount(self) -> tuple[str, str, str]:
        """("ro" or "rw", path on the host, path in the lab)."""
        return ("rw" if self.writable else "ro", str(self.path), self.at or str(self.path))

    @property
    def text(self) -> str:
        """The share as a caller writes it: its path, and ``:rw`` if it is writable."""
        return f"{self.path}{WRITABLE if self.writable else ''}"


def check_megabytes(megabytes: int) -> int:
    """Return the memory of a lab. Raises LabError if it is too little to run anything, or no whole number."""
    if not isinstance(megabytes, int):
        raise LabError(
            f"{megabytes!r} is not a whole number of MB", where=Option("memory"), fix=f"give it {LEAST_MEGABYTES} or more"
        )
    if megabytes < LEAST_MEGABYTES:
        raise LabError(
            f"{megabytes} MB of memory is too little for a lab",
            where=Option("memory"),
            fix=f"give it {LEAST_MEGABYTES} MB or more",
        )
    return megabytes


@dataclass(frozen=True)
class Job:
    """A command for a lab: the frames that describe it, and where its input and output go; see `Lab.run`."""

    frames: bytes
    stdin: int | None
    stdout: Sink
    stderr: Sink
    asked: Callable[[Sequence[str]], None]
    terminal: tuple[int, int] | None


@dataclass(kw_only=True)
class Lab(ABC):
    """A lab to boot. `run` may be called once; `signal` ends its command from another thread."""

    kernel: HasModules
    init: Path
    confine: Path
    image: Path
    layer: Path | None = None
    """A file system on top of the image's."""
    clock: Clock = field(default_factory=Clock)
    megabytes: int = MEGABYTES
    shares: Sequence[Share] = ()
    turn: int = 0
    """Number of this boot among several, from 0: boots rotate over the processors, and have random numbers of their own."""
    later: str = ""
    """The frames sent to the command on request; including those for the part that precedes other boots (see init_exact.h)."""
    pinned: Callable[[int], None] = lambda processor: None
    """Called with the number of the processor that the lab is pinned to."""
    verify: Callable[[], None] = lambda: None
    """Reads all files of the lab's parts if it dies or its command crashes. Raises DamagedError if one is damaged."""

    def __post_init__(self) -> None:
        check_megabytes(self.megabytes)
        self._run: Running | None = None
        self._asked_to_end = 0

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "",
        stdin: int | None = None,
        stdout: Sink = lambda data: None,
        stderr: Sink = lambda data: None,
        asked: Callable[[Sequence[str]], None] = lambda names: None,
        terminal: tuple[int, int] | None = None,
        wall_clock: int = 0,
    ) -> int:
        """Boot, run the command and power off. Return its exit status, or -N if signal N ended it.

        stdin: a file descriptor to read from; stdout, stderr: called with the command's output; asked: called at the end with
        the modules that the kernel was asked for and does not have, if there are any; terminal: rows and columns of the
        command's own terminal, None for no terminal; wall_clock: the lab's date, in seconds since 1970 (0: the host's).
        Raises LabError if the lab itself fails.
        """
        job = frames.job(
            argv,
            mounts=self._mounts(),
            env=env,
            cwd=cwd,
            clock=wall_clock,
            tty=terminal is not None,
            limit=self.clock.silence_s,
        )
        try:
            status = self._attended(Job(job, stdin, stdout, stderr, asked, terminal))
        except DamagedError:
            raise
        except LabError:
            if self._run:  # today's check may have been before the damage
                self.verify()
            raise
        if status in CRASHED:
            self.verify()
        return status

    def _attended(self, job: Job) -> int:
        self._run = self._start(job)
        if self._asked_to_end:
            self._run.signal(self._asked_to_end)
        return self._run.attend()

    def _mounts(self) -> list[tuple[str, str, str]]:
        """Return ("ro" or "rw", what init mounts, path in the lab) of each share."""
        return [each.mount for each in self.shares]

    @abstractmethod
    def _start(self, job: Job) -> Running:
        """Start a lab with a command. Raises LabError."""

    def signal(self, number: int) -> None:
        """Pass a signal to the command, or end a lab that no signal reaches.

        A second signal, or ten seconds without an exit, kills the lab.
        """
        self._asked_to_end = number
        if self._run:
            self._run.signal(number)

    def notify(self, number: int) -> None:
        """Pass a signal to the command which does not ask it to end."""
        if self._run:
            self._run.notify(number)

    def resize(self, rows: int, columns: int) -> None:
        """Resize the command's terminal."""
        if self._run:
            self._run.resize(rows, columns)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the lab with its clock for a ``with`` block. Only a sink may use it: the lab is not served meanwhile."""
        assert self._run
        with self._run.stopped():
            yield


class Running:
    """A running lab: the output of its command, and how it ends."""

    boot_s: float
    """The longest time that a boot may take, in seconds."""

    def __init__(self, job: Job, megabytes: int) -> None:
        self._job, self._megabytes = job, megabytes
        self._status: int | None = None
        self._message = self._full = ""
        self._started = self._late = False
        self._late_at = math.inf
        self._asked_to_end, self._asked_at = 0, 0.0

    def attend(self) -> int:
        """Serve the lab until its processes are gone; see `Lab.run`."""
        raise NotImplementedError

    def signal(self, number: int) -> None:
        """Pass a signal to the command, or end the lab."""
        raise NotImplementedError

    def notify(self, number: int) -> None:
        """Pass a signal which does not ask the command to end; nothing reaches a lab whose clock is exact."""

    def resize(self, rows: int, columns: int) -> None:
        """Resize the command's terminal, if it has one."""

    def stopped(self) -> contextlib.AbstractContextManager[None]:
        """Stop the lab for a ``with`` block, unless its clock does not notice."""
        return contextlib.nullcontext()

    def _take(self, frame: frames.Frame) -> None:
        match frame:
            case frames.Output(data, is_error):
                (self._job.stderr if is_error else self._job.stdout)(data)
            case frames.Exit(status):
                self._status = status
                self._must_end_soon()
            case frames.Full(what):
                self._full = what
            case frames.Asked(names):
                self._job.asked(names)
            case frames.Message(text):
                self._message = text
                self._must_end_soon()

    def _must_end_soon(self) -> None:
        self._late_at = min(self._late_at, time.monotonic() + GRACE_S)

    def _verdict(self) -> int:
        """Return the command's status. Raises LabError if the lab itself failed."""
        if self._message:
            raise LabError(self._message, fix="the lab was stopped")
        if self._status is None:
            if self._asked_to_end:
                return -self._asked_to_end
            if self._late and not self._started:
                fix = "check whether this machine is busy, and try again"
                raise LabError(f"the lab did not boot within {self.boot_s:g} s", fix=fix)
            raise self._why_it_died()
        if self._full and self._status:
            raise autopsy.full(self._full, self._megabytes)
        if self._status and (error := self._why_it_failed()):
            raise error
        return self._status

    def _why_it_died(self) -> LabError:
        """Return why a lab ended without a status of its command."""
        raise NotImplementedError

    def _why_it_failed(self) -> LabError | None:
        """Return why a command failed, if it is the lab's fault."""
        return None
