"""One lab, from boot to power-off: an ordinary process that runs one command on the lab's kernel and image."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.errors import LabError
from slownet.lab import autopsy, cpu
from slownet.lab import channel as frames
from slownet.lab.channel import Channel
from slownet.lab.clock import Clock
from slownet.lab.feed import Feed

MEGABYTES = 1024
LEAST_MEGABYTES = 160
BOOT_S = 120
GRACE_S = 10
# A fixed one, so that the kernel need not measure it: with a large tdf that takes minutes.
LOOPS_PER_JIFFY = 10_000_000
SAME_S = 0.5
CHUNK = 4096
CONSOLE_KEPT = 1 << 16

Sink = Callable[[bytes], None]


@dataclass(frozen=True)
class Share:
    """A folder of the host that the lab sees under the same path, or under `at`."""

    path: Path
    writable: bool = False
    at: str = ""

    @property
    def mount(self) -> tuple[str, str, str]:
        """("ro" or "rw", path on the host, path in the lab)."""
        return ("rw" if self.writable else "ro", str(self.path), self.at or str(self.path))


def check_megabytes(megabytes: int) -> int:
    """The memory of a lab. Raises LabError if nothing can run in so little."""
    if megabytes < LEAST_MEGABYTES:
        raise LabError(
            f"{megabytes} MB of memory are too little for a lab", where="--memory", fix=f"give it {LEAST_MEGABYTES} MB or more"
        )
    return megabytes


@dataclass
class Lab:
    """What to boot. `run` may be called once; `signal` ends its command from outside."""

    kernel: Path
    init: Path
    image: Path
    kernel_arguments: Sequence[str] = ()
    clock: Clock = field(default_factory=Clock)
    megabytes: int = MEGABYTES
    shares: Sequence[Share] = ()
    turn: int = 0
    """Which one of several boots it is, from 0: they take turns on the processors."""
    pinned: Callable[[int], None] = lambda processor: None
    """Called with the number of the processor that it got."""

    def __post_init__(self) -> None:
        check_megabytes(self.megabytes)
        self._run: _Run | None = None
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
        terminal: tuple[int, int] | None = None,
        wall_clock: int = 0,
    ) -> int:
        """Boots, runs the command and powers off. Returns its exit status, or -N if signal N ended it.

        stdin: a file descriptor to read from; stdout, stderr: called with what the command writes; terminal: rows and
        columns, if it gets a terminal of its own; wall_clock: its calendar, in seconds since 1970 (0: the host's).
        Raises LabError when the lab itself fails.
        """
        job = frames.job(
            argv, mounts=[each.mount for each in self.shares], env=env, cwd=cwd, clock=wall_clock, tty=terminal is not None,
            limit=self.clock.silence_s,
        )  # fmt: skip
        self._run = _Run(self, job, stdin, stdout, stderr, terminal)
        if self._asked_to_end:
            self._run.signal(self._asked_to_end)
        return self._run.attend()

    def signal(self, number: int) -> None:
        """Passes a signal to the command; a second one, or ten seconds without an end, ends the lab itself."""
        self._asked_to_end = number
        if self._run:
            self._run.signal(number)

    def resize(self, rows: int, columns: int) -> None:
        """Tells the command's terminal its size."""
        if self._run:
            self._run.resize(rows, columns)


class _Run:
    """A lab from its start to its end."""

    def __init__(
        self, lab: Lab, job: bytes, stdin: int | None, stdout: Sink, stderr: Sink, terminal: tuple[int, int] | None
    ) -> None:
        self._megabytes = lab.megabytes
        self._sinks = {frames.OUTPUT: stdout, frames.ERRORS: stderr}
        self._terminal = terminal
        self._memory = memory_folder(lab.megabytes)
        self._said = b""
        self._status: int | None = None
        self._message = ""
        self._full = b""
        self._started = False
        self._late = False
        self._late_at = time.monotonic() + BOOT_S
        self._asked_to_end, self._asked_at = 0, 0.0
        with contextlib.ExitStack() as mine, contextlib.ExitStack() as theirs:
            line, far_end = socket.socketpair()
            mine.callback(line.close)
            theirs.callback(far_end.close)
            self._console, writer = os.pipe()
            mine.callback(os.close, self._console)
            theirs.callback(os.close, writer)
            processor = mine.enter_context(cpu.reserved(lab.turn))
            self._process = _start(lab, far_end.fileno(), writer, self._memory, theirs)
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._process.pid, {processor})
                lab.pinned(processor)
            self._end = mine.pop_all()
        self._channel = Channel(line)
        self._feed = Feed(job, stdin, self._channel)

    def signal(self, number: int) -> None:
        now = time.monotonic()
        if self._asked_to_end:
            if now - self._asked_at > SAME_S:  # timeout(1) and some shells send each signal twice
                self._process.kill()
            return
        self._asked_to_end, self._asked_at = number, now
        if self._started:
            self._late_at = min(self._late_at, now + GRACE_S)
            self._channel.send(frames.SIGNAL, str(int(number)).encode())
        else:
            self._process.kill()

    def resize(self, rows: int, columns: int) -> None:
        if self._started:
            self._channel.send(frames.WINDOW, f"{rows} {columns}".encode())

    def attend(self) -> int:
        """Serves the lab until its processes are gone; see Lab.run."""
        with self._end:
            try:
                self._serve()
            except BaseException:
                self._process.kill()
                raise
            finally:
                try:
                    self._process.wait(GRACE_S)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
        return self._verdict()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._console, selectors.EVENT_READ)
            selector.register(self._channel, selectors.EVENT_READ)
            while time.monotonic() < self._late_at:
                for key, events in selector.select(timeout=0.5):
                    if key.fd == self._console:
                        said = os.read(self._console, CHUNK)
                        self._said = (self._said + said)[-CONSOLE_KEPT:]
                        if not said:
                            return  # every process of the lab is gone
                    elif key.fd == self._feed.fd:
                        self._feed.ready(selector)
                    else:
                        self._exchange(selector, events)
                if self._feed.job_is_sent and not self._started:
                    self._begin()
                if self._started:
                    self._feed.follow(selector)
                if not self._channel.ended:
                    writing = selectors.EVENT_WRITE if self._channel.has_unsent else 0
                    selector.modify(self._channel, selectors.EVENT_READ | writing)
        self._late = True
        self._process.kill()

    def _exchange(self, selector: selectors.BaseSelector, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._channel.flush()
        for kind, payload in self._channel.receive() if events & selectors.EVENT_READ else ():
            self._take(kind, payload)
        if self._channel.ended:
            selector.unregister(self._channel)
            self._must_end_soon()

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind in self._sinks:
            self._sinks[kind](payload)
        elif kind == frames.TAKEN:
            self._feed.taken(int(payload))
        elif kind == frames.READY:
            self._feed.start()
        elif kind == frames.EXIT:
            self._status = os.waitstatus_to_exitcode(int(payload))
            self._must_end_soon()
        elif kind == frames.FULL:
            self._full = payload
        elif kind == frames.MESSAGE:
            self._message = payload.decode(errors="replace")
            self._must_end_soon()

    def _begin(self) -> None:
        self._started = True
        self._late_at = math.inf
        if self._terminal:
            self.resize(*self._terminal)

    def _must_end_soon(self) -> None:
        self._late_at = min(self._late_at, time.monotonic() + GRACE_S)

    def _verdict(self) -> int:
        if self._message:
            raise LabError(self._message, fix="the lab ended")
        if self._status is None:
            if self._asked_to_end:
                return -self._asked_to_end
            raise self._why_it_died()
        if self._full and self._status:
            raise autopsy.full(self._full.decode(), self._megabytes)
        return self._status

    def _why_it_died(self) -> LabError:
        if self._late and not self._started:
            return LabError(f"the lab did not start within {BOOT_S} s", fix="see whether this machine is busy, and try again")
        host_is_full = shutil.disk_usage(self._memory).free < 2**20
        return autopsy.explain(self._said.decode(errors="replace"), self._process.returncode, self._megabytes, host_is_full)


def _start(lab: Lab, channel: int, console: int, memory: Path, files: contextlib.ExitStack) -> subprocess.Popen[bytes]:
    """Starts the kernel. The image goes in by number: the kernel takes no space, comma or colon in its arguments."""
    try:
        image = files.enter_context(open(lab.image, "rb")).fileno()
        init = files.enter_context(open(lab.init, "rb")).fileno()
        words = [
            "setpriv", "--pdeathsig", "KILL", str(lab.kernel), f"mem={lab.megabytes}M", f"ubd0r=/proc/self/fd/{image}",
            f"initrd=/proc/self/fd/{init}", "con=null", "con0=null,fd:1", f"con1=fd:{channel}", "uml_dir=/proc/self/",
            f"lpj={LOOPS_PER_JIFFY}", "noreboot", "quiet", *lab.kernel_arguments, *lab.clock.arguments,
        ]  # fmt: skip
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=console, stderr=console, pass_fds=[channel, image, init], cwd="/",
            env={"TMPDIR": str(memory), "PATH": os.environ.get("PATH", "/usr/bin")}, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise LabError(f"cannot start the lab: {error.strerror}", where=str(error.filename)) from error
    with contextlib.suppress(OSError):  # a kernel that panics would dump core
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    return process


def memory_folder(megabytes: int) -> Path:
    """Where a lab's memory can lie; the file there has no name. Raises LabError.

    Memory-backed folders first; Docker's /dev/shm is often too small, or may not hold programs.
    """
    for name in ("/dev/shm", "/tmp", "/var/tmp", os.environ.get("TMPDIR", "")):
        folder = Path(name).absolute()
        with contextlib.suppress(OSError):
            room = os.statvfs(folder)
            fits = room.f_bavail * room.f_frsize > megabytes * 2**20
            if name and fits and not room.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK | os.X_OK):
                return folder
    raise LabError(
        f"no folder has room for the lab's {megabytes} MB of memory",
        fix="free some of /dev/shm or /tmp (not mounted noexec), set TMPDIR, or ask for less with --memory",
    )
