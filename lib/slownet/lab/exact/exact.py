"""Boots an exact lab: a machine emulated by QEMU whose clock counts its instructions, and nothing else.

An ordinary process as well: no KVM, no root, no counter of the host's. Its processor executes a fixed number of instructions in
a nanosecond of its own time; when it has nothing to do its clock jumps to the next timer. So the same program takes the same
time on every machine and beside any load, to the digit, provided that nothing comes from outside while it runs: the job and the
input of its command, the shares and the image are in its memory before it starts, and its output goes into a file that no
process waits for. See docs/explanation/exact.md.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from slownet.lab.build import cache, kernel_package
from slownet.lab.build.kernel_package import Kernel
from slownet.lab.exact import emulator, standstill
from slownet.lab.exact.emulator import OTHER, Machine, Talk
from slownet.lab.exact.packed import pack
from slownet.lab.exact.standstill import Snapshot
from slownet.lab.host import cpu, memory
from slownet.lab.run import autopsy
from slownet.lab.run import channel as frames
from slownet.lab.run.boot import memory_folder
from slownet.lab.run.changed_shares import Returned
from slownet.lab.run.clock import Clock
from slownet.lab.run.excerpt import clipped
from slownet.lab.run.lab import SAME_S, Job, Lab, Running, Share
from slownet.model.errors import LabError
from slownet.model.facts import MachineFacts
from slownet.model.options import CLOCK

# The state of a machine that stopped itself, as QEMU saves it: its clock is put back to the instruction where it stopped.
#
# QEMU's main loop and its processor's thread race while a machine stops. If the thread has stopped before the loop hears of
# it, the loop finds a processor that has nothing to do, and moves the clock on to the next timer, as it does for one that
# waits: up to a tick of the kernel, in one stop of ten beside a busy program. All else is the same in both cases, so putting
# the clock back is enough. The machine itself tells when it stopped: it reads its time stamp counter, which is that clock,
# right before, and has it in a register (see `stop_here` of init_exact.h).

STATE_MARKER = struct.pack(">Q", 0x736C6F776E657421)
"""In the register before the one with the counter."""
STATE_CLOCK = b"\x0ctimer/icount\0\0\0\1"
"""Before the clock in a state: what it has been moved on by, and the count of instructions; their sum is the time."""
STATE_AFTER = 6
"""Instructions from the one that reads the counter to the one that stops, that one included."""
LONGEST = 1 << 32
"""By how much a clock can have been moved on: a tick is at most 10 ms, which are 3 % of that."""


def moved_on(state: bytes) -> int:
    """Return by how many instructions QEMU moved the clock on after the machine had stopped. Raises LabError."""
    clock, register = _clock(state), state.find(STATE_MARKER) + len(STATE_MARKER)
    if clock < len(STATE_CLOCK) or register < len(STATE_MARKER) or len(state) < max(clock + 16, register + 8):
        raise LabError("QEMU saves a machine in a format that is not known", fix=OTHER)
    moved, count = struct.unpack_from(">qq", state, clock)
    (read,) = struct.unpack_from(">q", state, register)
    found = moved + count - (read + STATE_AFTER)
    if not 0 <= found < LONGEST:
        raise LabError("QEMU saves a machine with a clock that is not the one of its time stamp counter", fix=OTHER)
    return int(found)


def at_its_stop(state: bytes) -> bytes:
    """Return a state with the clock that the machine had when it stopped. Raises LabError if the state is not as expected."""
    too_much, clock = moved_on(state), _clock(state)
    (moved,) = struct.unpack_from(">q", state, clock)
    return state[:clock] + struct.pack(">q", moved - too_much) + state[clock + 8 :]


def _clock(state: bytes) -> int:
    return state.find(STATE_CLOCK) + len(STATE_CLOCK)


BOOT_S = 900
"""Booting takes about seven seconds of CPU."""
FILES_MB = (256, 48)
"""Room for the files of a lab: its modules, its job, its output. Less will do where there is no more, as in containers."""
EXCERPT = 1 << 16
MOST_OUTPUT = 4 << 30
MOST_INPUT = 64 << 20
POLL_S = 0.02


def facts(clock: Clock) -> MachineFacts:
    """Return what of the machine a record has, because times depend on it. Raises LabError."""
    found = emulator.version()
    if not emulator.is_tried(found):
        tried = " and ".join(".".join(map(str, each)) for each in emulator.TRIED)
        sys.stderr.write(f"slownet: QEMU {found} was not tried ({tried} were): compare its numbers with its own alone\n")
    return {
        "emulator": f"QEMU {found}",
        "machine": emulator.MACHINE,
        "processor": emulator.PROCESSOR,
        "instructions_per_ns": clock.speed,
    }


@dataclass(kw_only=True)
class ExactLab(Lab):
    """An exact lab to boot: nothing reaches its command while it runs, so that a signal ends the lab."""

    kernel: Kernel
    image: Path
    """The image, of a size that is a multiple of `emulator.ALIGNED`."""
    clock: Clock = field(default_factory=lambda: Clock("exact"))

    def _mounts(self) -> list[tuple[str, str, str]]:
        return [(mode, str(number), lab) for number, (mode, _, lab) in enumerate(each.mount for each in self.shares)]

    def _start(self, job: Job) -> _Run:
        if job.terminal:
            fix = f"use {CLOCK.set('real')} for what people type"
            raise LabError("a terminal would be a source of time", CLOCK.set("exact"), fix)
        return _Run(self, job, _input(job.stdin))


def bare(root: Path, tools: Path, megabytes: int, shares: Sequence[Share]) -> ExactLab:
    """Return an exact lab of a root that is all but an image, not yet booted. Its file grows to the size of a device."""
    kernel = kernel_package.build()
    os.truncate(root, emulator.aligned(root.stat().st_size))
    return ExactLab(
        kernel=kernel, init=tools / "init.cpio", confine=tools / "confine", image=root, megabytes=megabytes, shares=shares
    )


class _EndedError(Exception):
    """The lab has ended: nothing comes after it."""


@dataclass(frozen=True)
class _End:
    """The end of a machine: QEMU's status, and the last output of its console and of QEMU."""

    status: int = 0
    console: str = ""
    said: str = ""


class _Run(Running):
    """A running lab: one machine, or several in turn, of which each goes on where the one before stopped."""

    boot_s = BOOT_S

    def __init__(self, lab: ExactLab, job: Job, given: bytes) -> None:
        super().__init__(job, lab.megabytes)
        self._lab, self._given = lab, given
        self._later = lab.later.encode(errors="surrogateescape")
        self._parser = frames.Parser(frames.MOST_BYTES_EXACT)
        self._returned = Returned({number: each.path for number, each in enumerate(lab.shares) if each.writable})
        self._taken, self._heard, self._is_last = b"", 0, False
        self._end = _End()
        self._process: subprocess.Popen[bytes] | None = None
        self._processor = 0

    def signal(self, number: int) -> None:
        """End it, unless this is the same signal again."""
        now = time.monotonic()
        if not self._asked_to_end:
            self._asked_to_end, self._asked_at = number, now
        elif now - self._asked_at < SAME_S:  # timeout(1) and some shells send each signal twice
            return
        if self._process:
            self._process.kill()

    def attend(self) -> int:
        """Read the lab's output until it has ended; see ExactLab.run."""
        with contextlib.ExitStack() as files:
            files.callback(self._returned.close)
            self._make_parts(files)  # before there is a lock, for which other labs wait
            self._processor = files.enter_context(cpu.reserved(self._lab.turn))
            self._lab.pinned(self._processor)
            with contextlib.suppress(_EndedError):
                start = self._beginning(files)
                with self._machine(start) as machine:
                    self._is_last = True
                    if start:
                        self._hear(start.said[len(self._taken) :])
                    self._follow(machine)
        return self._verdict()

    def _make_parts(self, files: contextlib.ExitStack) -> None:
        """Make what all machines of the lab read, and none writes to."""
        lab, folder = self._lab, _folder()
        self._shared = files.enter_context(tempfile.TemporaryFile(dir=folder))
        pack(lab.shares, self._shared)
        os.truncate(self._shared.fileno(), emulator.roomy(os.fstat(self._shared.fileno()).st_size))
        self._layer = [_filled(files, folder, lab.layer.read_bytes(), emulator.aligned)] if lab.layer else []
        self._initrd = _filled(files, folder, lab.kernel.archive.read_bytes() + lab.init.read_bytes())

    def _beginning(self, files: contextlib.ExitStack) -> Snapshot | None:
        """Return the snapshot with which it begins, which stays as long as the files; make it if necessary."""
        with self._machine() as machine:
            parts = [self._lab.kernel.path, self._lab.kernel.archive, self._lab.init, self._lab.image, self._lab.layer]
            contents = [standstill.content(each) for each in parts if each]
            name = cache.key(emulator.description(), machine.identity(), *contents)
        try:
            found = files.enter_context(standstill.kept(name, partial(self._save, None), self._lab.megabytes))
            if self._later:
                self._shared.seek(0)
                shared = hashlib.file_digest(self._shared, "sha256").hexdigest()
                name = cache.key(name, self._job.frames, self._given, shared)
                found = files.enter_context(standstill.kept(name, partial(self._save, found), self._lab.megabytes))
        except standstill.NotKeptError as error:
            self._parser, self._taken, self._started = frames.Parser(frames.MOST_BYTES_EXACT), b"", False
            sys.stderr.write(f"slownet: the lab has to boot, because its snapshot cannot be kept: {error}\n")
            return None
        return found

    def _save(self, start: Snapshot | None, half: Path) -> None:
        """Run a machine until it stops itself, and save it. Raises _EndedError if it ends before."""
        memory = half / standstill.MEMORY
        if start:
            subprocess.run(["cp", "--sparse=always", "--reflink=auto", start.memory, memory], check=True, stderr=-3)
        else:
            with memory.open("wb") as file:
                file.truncate(self._lab.megabytes << 20)
        state = half / standstill.STATE
        with memory.open("r+b") as held, state.open("w+b") as saved, self._machine(start, held, saved) as machine:
            self._follow(machine)
            saved.seek(0)
            with _not_kept():
                state.write_bytes(at_its_stop(saved.read()))
        (half / standstill.SAID).write_bytes(self._taken)

    @contextlib.contextmanager
    def _machine(
        self, start: Snapshot | None = None, memory: BinaryIO | None = None, saved: BinaryIO | None = None
    ) -> Iterator[Machine]:
        """Yield a machine that was not started: one that boots, or goes on, and that is saved if there is a file for that."""
        lab = self._lab
        with contextlib.ExitStack() as files:
            file = partial(_filled, files, _folder())
            turn, later = (0, b" " if self._later else b"") if saved else (lab.turn, self._later)  # nobody's, of who saves it
            head = struct.pack("<QQQQQ", turn + 1, turn, len(self._job.frames), len(self._given), len(later))
            kernel, image = (files.enter_context(open(each, "rb")) for each in (lab.kernel.path, lab.image))
            devices = [image, file(head + self._job.frames + self._given + later, emulator.roomy), self._shared, *self._layer]
            mapped = memory or (files.enter_context(start.memory.open("r+b")) if start else None)
            yield Machine(
                lab.megabytes, lab.clock.speed, kernel, self._initrd, devices, file(), file(), file(), mapped,
                saved is not None, start.state if start else b"", saved,
            )  # fmt: skip

    def _follow(self, machine: Machine) -> None:
        """Run a machine to its end, or until it is saved. Raises _EndedError if it ended and was to be saved."""
        if self._asked_to_end:
            raise _EndedError
        self._late_at = math.inf if self._started else time.monotonic() + BOOT_S
        room = memory.room(self._lab.megabytes, lambda: bool(self._asked_to_end))
        with room, _host_trouble(), cpu.bound_to(self._processor):
            self._process = process = machine.start(self._lab.confine)
        try:
            if self._asked_to_end:
                process.kill()
            self._listen(machine, process)
        finally:
            process.kill()
            process.wait()
            self._end = _End(process.returncode, _end_of(machine.console), _end_of(machine.said))
            if process.stdin and process.stdout:
                process.stdin.close()
                process.stdout.close()

    def _listen(self, machine: Machine, process: subprocess.Popen[bytes]) -> None:
        talk = Talk(process) if machine.saved else None
        while process.poll() is None and time.monotonic() < self._late_at:
            if talk and machine.saved and talk.has_stopped():
                self._hear_all(machine)
                with _not_kept():
                    talk.save(machine.saved)
                return
            if not self._hear(machine.output.read(EXCERPT)):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
        self._late = process.poll() is None
        if not self._late:
            self._hear_all(machine)
        if machine.saved:
            if process.returncode == -signal.SIGBUS:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise _EndedError

    def _hear_all(self, machine: Machine) -> None:
        while self._hear(machine.output.read(EXCERPT)):
            pass

    def _hear(self, data: bytes) -> bool:
        """Read the lab's output; return True if there was any. Raises LabError."""
        self._heard += len(data)
        if not self._is_last:
            self._taken += data
        for frame in self._parser.feed(data):
            self._take(frame)
        if self._heard > MOST_OUTPUT:
            raise LabError(f"the lab wrote more than {MOST_OUTPUT >> 30} GB", fix="let its command print less")
        return bool(data)

    def _take(self, frame: frames.Frame) -> None:
        match frame:
            case frames.Ready():
                self._started, self._late_at = True, math.inf
            case frames.Change(payload):
                self._returned.change(payload)
            case frames.Content(data):
                self._returned.content(data)
            case _:
                super()._take(frame)

    def _why_it_died(self) -> LabError:
        said = [line for line in self._end.said.splitlines() if line.strip()]
        if said and self._end.status > 0:
            return LabError(f"QEMU cannot run the lab: {clipped(said[-1])}", fix=f"apt-get install {emulator.PACKAGE}")
        return autopsy.explain(self._end.console, self._end.status, self._megabytes, host_is_full=False)


def _filled(
    files: contextlib.ExitStack, folder: Path, data: bytes = b"", size: Callable[[int], int] = lambda size: size
) -> BinaryIO:
    """Return a file without a name that holds this, and is as large as `size` makes of its length."""
    made = files.enter_context(tempfile.TemporaryFile(dir=folder))
    made.write(data)
    made.flush()
    os.truncate(made.fileno(), size(len(data)))
    return made


def _folder() -> Path:
    """Return a folder for the files of a lab. Raises LabError."""
    with contextlib.suppress(LabError):
        return memory_folder(FILES_MB[0], runs=False)
    return memory_folder(FILES_MB[1], runs=False)


@contextlib.contextmanager
def _not_kept() -> Iterator[None]:
    try:
        yield
    except LabError as error:
        raise standstill.NotKeptError(error.what, error.where, error.fix) from error


@contextlib.contextmanager
def _host_trouble() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LabError(f"cannot start the lab: {error.strerror}", where=str(error.filename or "")) from error


def _end_of(file: BinaryIO) -> str:
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - EXCERPT))
    return file.read().decode(errors="replace")


def _input(fd: int | None) -> bytes:
    """Return what a command gets as its input: all of a file or a pipe, nothing of a terminal. Raises LabError."""
    try:
        kind = os.fstat(fd).st_mode if fd is not None else 0
        if fd is None or not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
            return b""
        parts = []
        while data := os.read(fd, EXCERPT):
            parts.append(data)
            if sum(map(len, parts)) > MOST_INPUT:
                what = f"the command's input has more than {MOST_INPUT >> 20} MB"
                raise LabError(what, CLOCK.set("exact"), "share the file's folder instead")
    except OSError:
        return b""
    return b"".join(parts)
