"""One lab, from boot to power-off: an ordinary process that runs one command on the lab's kernel and image."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.errors import LabError
from slownet.lab import channel as frames
from slownet.lab.channel import Channel
from slownet.lab.clock import Clock

MEGABYTES = 1024
LEAST_MEGABYTES = 160
GRACE_S = 10
CONSOLE_KEPT = 1 << 16

Sink = Callable[[bytes], None]


@dataclass(frozen=True)
class Share:
    """A folder of the host that the lab sees under the same path, or under `at`."""

    path: Path
    writable: bool = False
    at: str = ""

    def __str__(self) -> str:
        return f"{'rw' if self.writable else 'ro'}:{self.path}:{self.at or self.path}"


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

    def __post_init__(self) -> None:
        if self.megabytes < LEAST_MEGABYTES:
            raise LabError(
                f"{self.megabytes} MB of memory are too little for a lab",
                where="--memory",
                fix=f"give it {LEAST_MEGABYTES} MB or more",
            )
        self._channel: Channel | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._console = b""
        self._status: int | None = None
        self._message = ""
        self._disk_full = False
        self._asked_to_end = 0.0

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
        columns, if it gets a terminal of its own. Raises LabError when the lab itself fails.
        """
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        reader, writer = os.pipe()
        memory = memory_folder(self.megabytes)
        words = [
            "setpriv", "--pdeathsig", "KILL", str(self.kernel), f"mem={self.megabytes}M", f"ubd0r={self.image}",
            f"initrd={self.init}", "con=null", "con0=null,fd:1", f"con1=fd:{theirs.fileno()}", "uml_dir=/proc/self/",
            "noreboot", "quiet", *self.kernel_arguments, *self.clock.arguments,
        ]  # fmt: skip
        job = frames.job(
            argv, mounts=[str(s) for s in self.shares], env=env, cwd=cwd, clock=wall_clock, tty=terminal is not None
        )
        with contextlib.ExitStack() as stack:
            stack.callback(self._channel.close)
            stack.callback(os.close, reader)
            try:
                self._process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, pass_fds=[theirs.fileno()],
                    env={"TMPDIR": str(memory), "PATH": os.environ.get("PATH", "/usr/bin")}, start_new_session=True,
                )  # fmt: skip
            finally:
                theirs.close()
                os.close(writer)
            stack.callback(self._reap)
            self._attend(reader, stdin, job, stdout, stderr, terminal)
        return self._verdict(memory)

    def signal(self, number: int) -> None:
        """Passes a signal to the command; a second one, or ten seconds without an end, ends the lab itself."""
        if not self._channel or not self._process:
            return
        if self._asked_to_end and number != signal.SIGWINCH:
            self._process.kill()
            return
        self._asked_to_end = time.monotonic()
        self._channel.send(frames.SIGNAL, str(int(number)).encode())

    def resize(self, rows: int, columns: int) -> None:
        """Tells the command's terminal its size."""
        if self._channel:
            self._channel.send(frames.WINDOW, f"{rows} {columns}".encode())

    def _attend(
        self, console: int, stdin: int | None, job: bytes, stdout: Sink, stderr: Sink, terminal: tuple[int, int] | None
    ) -> None:
        assert self._channel
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ)
            selector.register(console, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(timeout=0.5)
                if self._asked_to_end and time.monotonic() - self._asked_to_end > GRACE_S and self._process:
                    self._process.kill()
                for key, _ in ready:
                    if key.fd == console:
                        data = os.read(console, 4096)
                        self._console = (self._console + data)[-CONSOLE_KEPT:]
                        if not data:
                            return  # every process of the lab is gone
                    elif key.fd == stdin:
                        self._pass_input(selector, stdin)
                    else:
                        for kind, payload in self._channel.receive():
                            if kind == frames.READY:
                                self._channel.send(frames.JOB, job)
                                if terminal:
                                    self.resize(*terminal)
                                self._watch_input(selector, stdin)
                            else:
                                self._take(kind, payload, stdout, stderr)

    def _take(self, kind: bytes, payload: bytes, stdout: Sink, stderr: Sink) -> None:
        if kind == frames.OUTPUT:
            stdout(payload)
        elif kind == frames.ERRORS:
            stderr(payload)
        elif kind == frames.EXIT:
            self._status = os.waitstatus_to_exitcode(int(payload))
        elif kind == frames.DISK_FULL:
            self._disk_full = True
        elif kind == frames.MESSAGE:
            self._message = payload.decode(errors="replace")

    def _watch_input(self, selector: selectors.BaseSelector, stdin: int | None) -> None:
        assert self._channel
        try:
            if stdin is not None:
                selector.register(stdin, selectors.EVENT_READ)
                return
        except PermissionError:  # a plain file: always ready, so pass it on at once
            while stdin is not None and (data := os.read(stdin, 4096)):
                self._channel.send(frames.INPUT, data)
        self._channel.send(frames.END_OF_INPUT)

    def _pass_input(self, selector: selectors.BaseSelector, stdin: int) -> None:
        assert self._channel
        data = b""
        with contextlib.suppress(OSError):
            data = os.read(stdin, 4096)
        if data:
            self._channel.send(frames.INPUT, data)
        else:
            selector.unregister(stdin)
            self._channel.send(frames.END_OF_INPUT)

    def _reap(self) -> None:
        assert self._process
        if self._process.poll() is None:
            try:
                self._process.wait(GRACE_S if self._status is not None else 1)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()

    def _verdict(self, memory: Path) -> int:
        if self._message:
            raise LabError(self._message, fix="the lab ended")
        if self._status is None:
            if self._asked_to_end:
                return -signal.SIGINT
            raise self._why_it_died(memory)
        if self._disk_full and self._status:
            raise LabError(
                f"the lab's disk is full: it is three quarters of its {self.megabytes} MB of memory",
                fix="give it more with --memory",
            )
        return self._status

    def _why_it_died(self, memory: Path) -> LabError:
        assert self._process
        text = self._console.decode(errors="replace")
        panic = re.search(r"Kernel panic - not syncing: (.*)", text)
        why = panic.group(1).strip() if panic else ""
        stood = re.search(r"the clock stood still for (\d+) s of (\S+)", why)
        if stood:
            return LabError(
                f"the lab's clock stood still for {stood.group(1)} s while {stood.group(2)} was busy",
                fix="at --tdf inf busy programs get no time: use a number or --clock real",
            )
        if "memory" in why.lower() or "Out of memory" in text or "unable to allocate" in text:
            return LabError(f"the lab ran out of its {self.megabytes} MB of memory", fix="give it more with --memory")
        if self._process.returncode == -signal.SIGBUS or (shutil.disk_usage(memory).free < 2**20):
            return LabError(
                "the host has no room left for the lab's memory",
                where=f"in {memory}",
                fix="free some, or ask for less with --memory",
            )
        if why:
            return LabError(f"the lab's kernel panicked: {why}")
        last = [line for line in text.splitlines() if line.strip()][-1:] or ["it said nothing"]
        return LabError(f"the lab died (status {self._process.returncode}): {last[0]}")


def memory_folder(megabytes: int) -> Path:
    """Where a lab's memory can lie: the file is removed as soon as it is open. Raises LabError.

    Memory-backed folders first; Docker's /dev/shm is often too small.
    """
    wanted = [os.environ.get("TMPDIR", ""), "/dev/shm", "/tmp", "/var/tmp"]
    for folder in [Path(each) for each in wanted[1:] + wanted[:1] if each]:
        with contextlib.suppress(OSError):
            if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > megabytes * 2**20:
                return folder
    raise LabError(
        f"no folder has room for the lab's {megabytes} MB of memory",
        fix="free some of /dev/shm or /tmp, or ask for less with --memory",
    )
