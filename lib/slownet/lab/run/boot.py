"""Boots a lab whose kernel is User-Mode Linux, runs one command and powers it off: all one ordinary process of the host."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.lab.host import cpu, memory, process_stat
from slownet.lab.run import autopsy, confinement
from slownet.lab.run import channel as frames
from slownet.lab.run.channel import Channel, ProtocolError
from slownet.lab.run.lab import GRACE_S, SAME_S, Job, Lab, Running
from slownet.model.errors import LabError
from slownet.model.options import MEMORY

if TYPE_CHECKING:
    from slownet.lab.build.kernel import Kernel

BOOT_S = 120
# Preset, so that the kernel does not measure it: with a large TDF that takes minutes.
LOOPS_PER_JIFFY = 10_000_000
WAKE_S, WAKES_S = 0.1, 2.0
"""The interval and the length of interruptions of computing programs, in which the lab takes a signal or a key."""
RUNNING = "R"
CHUNK = 4096
CONSOLE_KEPT = 1 << 16
# User-Mode Linux takes the end of its address space from where a variable is that it does not change: without one it fails.
# Linux 6.12 starts programs as copies of itself. Of them the host would keep what glibc asked for, restartable sequences, and
# write into memory that a program does not have.
ENVIRONMENT = {"LC_ALL": "C", "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


@dataclass(kw_only=True)
class UmlLab(Lab):
    """A lab whose kernel is User-Mode Linux: an ordinary process, on any clock but the exact one."""

    kernel: Kernel

    def _start(self, job: Job) -> _Run:
        with memory.room(self.megabytes, lambda: bool(self._asked_to_end)) as machine:
            return _Run(self, memory_folder(self.megabytes, machine), job)


class _Run(Running):
    """A running lab."""

    boot_s = BOOT_S

    def __init__(self, lab: UmlLab, folder: Path, job: Job) -> None:
        super().__init__(job, lab.megabytes)
        self._terminal = job.terminal
        self._memory = folder
        self._console_text = b""
        self._late_at = time.monotonic() + BOOT_S
        self._is_free = lab.clock.cpu_is_free
        self._waking_until = 0.0
        with contextlib.ExitStack() as mine, contextlib.ExitStack() as theirs:
            line, far_end = socket.socketpair()
            mine.callback(line.close)
            theirs.callback(far_end.close)
            self._console, writer = os.pipe()
            mine.callback(os.close, self._console)
            theirs.callback(os.close, writer)
            processor = mine.enter_context(cpu.reserved(lab.turn))
            with cpu.bound_to(processor):  # pinned from the start, because instructions may be counted on that processor
                self._process = _start(lab, processor, far_end.fileno(), writer, self._memory, theirs)
            lab.pinned(processor)
            self._end = mine.pop_all()
        self._channel = Channel(line)
        self._feed = Feed(job.frames, job.stdin, self._channel)

    def signal(self, number: int) -> None:
        now = time.monotonic()
        if self._asked_to_end:
            if now - self._asked_at > SAME_S:  # timeout(1) and some shells send each signal twice
                self._process.kill()
            return
        self._asked_to_end, self._asked_at = number, now
        if self._started:
            self._must_end_soon()
            self.notify(number)
        else:
            self._process.kill()

    def notify(self, number: int) -> None:
        if self._started:
            self._wake()
            self._channel.send(frames.SIGNAL, str(int(number)).encode())

    def _wake(self, is_key: bool = False) -> None:
        if self._is_free and (self._terminal or not is_key):
            self._waking_until = time.monotonic() + WAKES_S

    def _patience_s(self) -> float:
        """Interrupt programs if the lab has something to take; return until when nothing has to be done, in seconds."""
        if time.monotonic() >= self._waking_until:
            return 0.5
        interrupt_programs(self._process.pid)
        return WAKE_S

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        # Its first process serves all others: what they compute by themselves ends at their next system call.
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def resize(self, rows: int, columns: int) -> None:
        if self._started:
            self._channel.send(frames.WINDOW, f"{rows} {columns}".encode())

    def attend(self) -> int:
        """Serve the lab until its processes are gone; see Lab.run."""
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
                for key, events in selector.select(self._patience_s()):
                    if key.fd == self._console:
                        data = os.read(self._console, CHUNK)
                        self._console_text = (self._console_text + data)[-CONSOLE_KEPT:]
                        if not data:
                            return  # every process of the lab is gone
                    elif key.fd == self._feed.fd:
                        self._feed.ready(selector)
                        self._wake(is_key=True)
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
        for frame in self._channel.receive() if events & selectors.EVENT_READ else ():
            self._take(frame)
        if self._channel.ended:
            selector.unregister(self._channel)
            self._must_end_soon()

    def _take(self, frame: frames.Frame) -> None:
        match frame:
            case frames.Taken(count):
                self._feed.taken(count)
            case frames.Ready():
                self._feed.start()
            case _:
                super()._take(frame)

    def _begin(self) -> None:
        self._started = True
        self._late_at = math.inf
        if self._terminal:
            self.resize(*self._terminal)

    def _why_it_died(self) -> LabError:
        host_is_full = shutil.disk_usage(self._memory).free < 2**20
        return autopsy.explain(self._said(), self._process.returncode, self._megabytes, host_is_full)

    def _why_it_failed(self) -> LabError | None:
        return autopsy.too_many_mappings(self._said())

    def _said(self) -> str:
        return self._console_text.decode(errors="replace")


def interrupt_programs(kernel: int) -> None:
    """Let a lab's programs that compute return to its kernel, as its timers do: those never ring where computing takes no time.

    kernel: the process of the lab's kernel, whose children are the lab's programs.
    """
    with contextlib.suppress(OSError):  # of what has ended meanwhile
        for each in Path(f"/proc/{kernel}/task/{kernel}/children").read_text(encoding="ascii").split():
            if (stat := process_stat.of(each)) and stat.state == RUNNING:
                os.kill(int(each), signal.SIGALRM)


def _start(
    lab: UmlLab, processor: int, channel: int, console: int, memory: Path, files: contextlib.ExitStack
) -> subprocess.Popen[bytes]:
    """Start the kernel. The image is passed as a file descriptor, as arguments must not contain spaces, commas or colons."""
    try:
        room = files.enter_context(tempfile.TemporaryFile(dir=memory)).fileno()
        image = files.enter_context(open(lab.image, "rb")).fileno()
        init = files.enter_context(open(lab.init, "rb")).fileno()
        layers = [files.enter_context(open(lab.layer, "rb")).fileno()] if lab.layer else []
        words = [
            *_confined(lab), f"mem={lab.megabytes}M", f"mem-fd={room}",
            f"ubd0r=/proc/self/fd/{image}",
            *(f"ubd1r=/proc/self/fd/{each}" for each in layers),
            f"initrd=/proc/self/fd/{init}", "con=null", "con0=null,fd:1", f"con1=fd:{channel}", "uml_dir=/proc/self/",
            f"lpj={LOOPS_PER_JIFFY}", "noreboot", "quiet", *lab.kernel.arguments, *lab.clock.arguments(processor),
        ]  # fmt: skip
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=console, stderr=console, cwd="/", start_new_session=True,
            pass_fds=[channel, room, image, init, *layers], env=ENVIRONMENT,
        )  # fmt: skip
    except OSError as error:
        raise LabError(f"cannot start the lab: {error.strerror}", where=str(error.filename)) from error
    with contextlib.suppress(OSError):  # a kernel that panics would dump core
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    return process


def _confined(lab: UmlLab) -> list[str]:
    """Return the command of the lab's kernel, which may touch this lab's files and shares; it is killed with this process."""
    shared = {writable: [each.path for each in lab.shares if each.writable is writable] for writable in (False, True)}
    own = [lab.image, lab.init, *([lab.layer] if lab.layer else [])]
    return confinement.words(lab.confine, lab.kernel.path, read=[*own, *shared[False]], write=shared[True])


def memory_folder(megabytes: int, machine: memory.Machine | None = None, runs: bool = True) -> Path:
    """Return a folder for the lab's memory file, which has no name. Raises LabError.

    machine: the labs that run, whose memory files may still grow there; runs: whether what is in the file is executed.

    Memory-backed folders come first; Docker's /dev/shm is often too small or mounted noexec.
    """
    for name in ("/dev/shm", "/tmp", "/var/tmp", os.environ.get("TMPDIR", "")):
        folder = Path(name).absolute()
        with contextlib.suppress(OSError):
            room = os.statvfs(folder)
            promised = machine.promised_on(folder.stat().st_dev) if machine else 0
            fits = room.f_bavail * room.f_frsize > (megabytes + promised) * 2**20
            refused = runs and room.f_flag & os.ST_NOEXEC
            if name and fits and not refused and os.access(folder, os.W_OK | os.X_OK):
                return folder
    raise LabError(
        f"no folder has room for the lab's {megabytes} MB of memory",
        fix=f"free space in /dev/shm or /tmp (not mounted noexec), set TMPDIR, or lower {MEMORY}",
    )


# Sends a lab its job and then its command's standard input, as fast as the lab accepts it.

PIECE = 1024


class Feed:
    """Flow-controlled sender. `fd`: descriptor to read the command's input from; None without input, or after its end."""

    def __init__(self, job: bytes, fd: int | None, channel: Channel) -> None:
        self.fd = fd
        self.job_is_sent = False
        self._job = job
        self._channel = channel
        self._room = 0
        self._at_once = False  # a plain file, which epoll cannot poll
        self._watched = False
        self._ended = False

    def start(self) -> None:
        """Start sending; called when the lab is ready for its job."""
        self._add_room(frames.WINDOW_BYTES)

    def taken(self, count: int) -> None:
        """Add `count` bytes of room; called when the lab has consumed them. Raises ProtocolError if it was not sent as many."""
        if self._room + count > frames.WINDOW_BYTES:
            raise ProtocolError.of(f"it took {count} bytes, and {frames.WINDOW_BYTES - self._room} were on their way")
        self._add_room(count)

    def _add_room(self, count: int) -> None:
        self._room += count
        while self._most > 0 and not self.job_is_sent:
            piece = self._job[: self._most]
            self._job = self._job[len(piece) :]
            self.job_is_sent = not piece  # an empty frame ends the job
            self._send(frames.JOB, piece)

    def follow(self, selector: selectors.BaseSelector) -> None:
        """Watch the descriptor while there is room and more input. Call only after the job was sent."""
        if self.fd is None:
            self._end()
            return
        wanted = self._most > 0 and not self._at_once
        if self._watched and not wanted:
            selector.unregister(self.fd)
        elif wanted and not self._watched:
            try:
                selector.register(self.fd, selectors.EVENT_READ)
            except OSError:
                self._at_once, wanted = True, False
        self._watched = wanted
        while self._at_once and self._most > 0 and not self._ended:
            self._pass_on(self.fd)

    def ready(self, selector: selectors.BaseSelector) -> None:
        """Read and pass on input; called when the descriptor is readable."""
        assert self.fd is not None
        fd = self.fd
        self._pass_on(fd)
        if self._ended:
            selector.unregister(fd)
            self._watched = False

    @property
    def _most(self) -> int:
        """Largest payload of the next frame, in bytes."""
        return min(PIECE, self._room - frames.HEAD_BYTES)

    def _pass_on(self, fd: int) -> None:
        try:
            data = os.read(fd, self._most)
        except BlockingIOError:
            return
        except OSError:  # a folder, or a closed terminal
            data = b""
        if data:
            self._send(frames.INPUT, data)
        else:
            self._end()

    def _send(self, kind: bytes, data: bytes) -> None:
        self._room -= frames.HEAD_BYTES + len(data)
        self._channel.send(kind, data)

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self.fd = None
            self._channel.send(frames.END_OF_INPUT)
