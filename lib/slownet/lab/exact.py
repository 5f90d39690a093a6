"""Boots an exact lab: a machine emulated by QEMU whose clock counts its instructions, and nothing else.

An ordinary process as well: no KVM, no root, no counter of the host's. Its processor executes a fixed number of instructions in
a nanosecond of its own time; when it has nothing to do its clock jumps to the next timer. So the same program takes the same
time on every machine and beside any load, to the digit, provided that nothing comes from outside while it runs: the job and the
input of its command, the shares and the image are in its memory before it starts, and what it says goes into a file, for which
nobody waits. See docs/explanation/exact.md.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from slownet.errors import LabError
from slownet.lab import autopsy, confinement, cpu, memory
from slownet.lab import channel as frames
from slownet.lab.boot import GRACE_S, MEGABYTES, SAME_S, Share, Sink, check_megabytes, memory_folder
from slownet.lab.clock import Clock
from slownet.lab.excerpt import clipped
from slownet.lab.kernel_package import Kernel
from slownet.lab.packed import pack
from slownet.lab.returned import Returned

PROGRAM, PACKAGE = "qemu-system-x86_64", "qemu-system-x86"
MACHINE, PROCESSOR = "pc-i440fx-7.2", "Nehalem"
"""Fixed, because devices and features of the processor decide what the kernel does. QEMU 7.2 and later versions have them."""
OLDEST, TRIED = (7, 2), ((7, 2), (10, 0))
"""Versions of QEMU: the first that has this machine, and Debian 12's and 13's, on which the same command was run."""
BOOT_S = 900
"""Booting takes about seven seconds of CPU."""
ALIGNED = 2 << 20
"""Sizes of the memory devices are multiples of that."""
ICOUNT = "shift=0,sleep=off,align=off,rr=record,rrfile=/dev/null"
"""An instruction is a nanosecond of the machine; the kernel is told that its processor does `Clock.speed` in one.

The record is not kept. While QEMU records, its main loop waits for the processor's thread. Otherwise it may see the processor
halt before the last instructions are counted, and move the clock on by as many too much: two runs of 6,000 short sleeps had
other digits.
"""
FILES_MB = 256
"""Room for the files of a lab: its modules, its job, what it says. Its memory is no file."""
EXCERPT = 1 << 16
MOST_OUTPUT = 4 << 30
MOST_INPUT = 64 << 20
POLL_S = 0.02
NAME = "slownet-exact"
"""What the process is called, and the word by which `memory` knows it."""
KERNEL = [
    "console=ttyS0", "loglevel=3", "panic=-1", "nokaslr", "norandmaps", "random.trust_cpu=off", "random.trust_bootloader=on",
    "tsc=reliable", "clocksource=tsc", "mitigations=off", "nowatchdog", "cryptomgr.notests",
]  # fmt: skip


def program() -> Path:
    """Return the path of QEMU. Raises LabError if it is not installed."""
    found = shutil.which(PROGRAM)
    if not found:
        raise LabError(f"the exact clock needs QEMU ({PROGRAM}), which is not installed", fix=f"apt-get install {PACKAGE}")
    return Path(found).resolve()


def version() -> str:
    """Return QEMU's version, such as "7.2.22". Raises LabError."""
    try:
        said = subprocess.run([program(), "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        return said.split("version ")[1].split()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired) as error:
        raise LabError("QEMU does not tell its version", where=str(program()), fix=f"apt-get install {PACKAGE}") from error


def is_tried(found: str) -> bool:
    """Return whether labs were tried on a version of QEMU. Raises LabError if it is too old to have the machine."""
    number = tuple(int(each) for each in re.findall(r"\d+", found)[:2])
    if number < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise LabError(
            f"QEMU {found} has no machine {MACHINE}; {wanted} is the first that has",
            str(program()),
            f"apt-get install {PACKAGE}",
        )
    return number in TRIED


def facts(clock: Clock) -> dict[str, str | int]:
    """Return what of the machine a record has, because times depend on it. Raises LabError."""
    found = version()
    if not is_tried(found):
        tried = " and ".join(".".join(map(str, each)) for each in TRIED)
        sys.stderr.write(f"slownet: QEMU {found} was not tried ({tried} were): compare its numbers with its own alone\n")
    return {"emulator": f"QEMU {found}", "machine": MACHINE, "processor": PROCESSOR, "instructions_per_ns": clock.speed}


@dataclass
class ExactLab:
    """An exact lab to boot; see `slownet.lab.boot.Lab`, which it is like. `run` may be called once."""

    kernel: Kernel
    init: Path
    confine: Path
    image: Path
    """The image, of a size that is a multiple of `ALIGNED`."""
    layer: Path | None = None
    clock: Clock = field(default_factory=lambda: Clock("exact"))
    megabytes: int = MEGABYTES
    shares: Sequence[Share] = ()
    turn: int = 0
    """Number of this boot among several, from 0; random numbers of each are others."""
    pinned: Callable[[int], None] = lambda processor: None

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
        """Boot, run the command and power off; see `slownet.lab.boot.Lab.run`.

        stdin: read to its end before the lab boots. Raises LabError, also for a command that wants a terminal.
        """
        if terminal:
            raise LabError("a terminal would be a source of time", "--clock exact", "use --clock real for what people type")
        job = frames.job(
            argv, mounts=[(mode, str(number), lab) for number, (mode, _, lab) in enumerate(each.mount for each in self.shares)],
            env=env, cwd=cwd, clock=wall_clock, limit=self.clock.silence_s,
        )  # fmt: skip
        given = _input(stdin)
        with contextlib.ExitStack() as files:
            shared = files.enter_context(tempfile.TemporaryFile())  # before there is a lock, for which other labs wait
            pack(self.shares, shared)
            with memory.room(self.megabytes, lambda: bool(self._asked_to_end)) as machine:
                folder = memory_folder(FILES_MB, machine)
                self._run = _Run(self, folder, job, given, shared, stdout, stderr, files)
            if self._asked_to_end:
                self._run.signal(self._asked_to_end)
            return self._run.attend()

    def signal(self, number: int) -> None:
        """End the lab: nothing reaches a command in it."""
        self._asked_to_end = number
        if self._run:
            self._run.signal(number)

    def resize(self, rows: int, columns: int) -> None:
        """Do nothing: it has no terminal."""


class _Run:
    """A running lab."""

    def __init__(
        self, lab: ExactLab, folder: Path, job: bytes, given: bytes, shared: BinaryIO, stdout: Sink, stderr: Sink,
        files: contextlib.ExitStack,
    ) -> None:  # fmt: skip
        self._megabytes = lab.megabytes
        self._stdout, self._stderr = stdout, stderr
        self._memory = folder
        self._parser = frames.Parser(frames.MOST_BYTES_EXACT)
        self._returned = Returned({number: each.path for number, each in enumerate(lab.shares) if each.writable})
        self._status: int | None = None
        self._message, self._full = "", ""
        self._started = self._late = False
        self._late_at = time.monotonic() + BOOT_S
        self._asked_to_end, self._asked_at = 0, 0.0

        def file() -> BinaryIO:
            return files.enter_context(tempfile.TemporaryFile(dir=folder))

        self._output, self._console, self._said = file(), file(), file()
        with contextlib.ExitStack() as mine:
            processor = mine.enter_context(cpu.reserved(lab.turn))
            with _host_trouble(), cpu.bound_to(processor):
                self._process = _start(lab, job, given, shared, file, files, self._output, self._console, self._said)
            lab.pinned(processor)
            mine.callback(self._returned.close)
            self._end = mine.pop_all()

    def signal(self, number: int) -> None:
        now = time.monotonic()
        if not self._asked_to_end:
            self._asked_to_end, self._asked_at = number, now
        elif now - self._asked_at < SAME_S:  # timeout(1) and some shells send each signal twice
            return
        self._process.kill()

    def attend(self) -> int:
        """Take what the lab says until it has ended; see ExactLab.run."""
        with self._end:
            try:
                while self._process.poll() is None and time.monotonic() < self._late_at:
                    if not self._listen():
                        with contextlib.suppress(subprocess.TimeoutExpired):
                            self._process.wait(POLL_S)
                self._late = self._process.poll() is None
                if not self._late:
                    while self._listen():
                        pass
            finally:
                self._process.kill()
                self._process.wait()
        return self._verdict()

    def _listen(self) -> bool:
        """Take what is there; return whether there was anything. Raises LabError."""
        data = self._output.read(EXCERPT)
        for frame in self._parser.feed(data or b""):
            self._take(frame)
        if self._output.tell() > MOST_OUTPUT:
            raise LabError(f"the lab wrote more than {MOST_OUTPUT >> 30} GB", fix="let its command print less")
        return bool(data)

    def _take(self, frame: frames.Frame) -> None:
        match frame:
            case frames.Output(data, is_error):
                (self._stderr if is_error else self._stdout)(data)
            case frames.Ready():
                self._started, self._late_at = True, math.inf
            case frames.Change(payload):
                self._returned.change(payload)
            case frames.Content(data):
                self._returned.content(data)
            case frames.Exit(status):
                self._status = status
                self._late_at = time.monotonic() + GRACE_S
            case frames.Full(what):
                self._full = what
            case frames.Message(text):
                self._message = text
                self._late_at = time.monotonic() + GRACE_S

    def _verdict(self) -> int:
        if self._message:
            raise LabError(self._message, fix="the lab was stopped")
        if self._status is None:
            if self._asked_to_end:
                return -self._asked_to_end
            raise self._why_it_died()
        if self._full and self._status:
            raise autopsy.full(self._full, self._megabytes)
        return self._status

    def _why_it_died(self) -> LabError:
        if self._late:
            return LabError(f"the lab did not boot within {BOOT_S} s", fix="check whether this machine is busy, and try again")
        said = [line for line in _end_of(self._said).splitlines() if line.strip()]
        if said and self._process.returncode > 0:
            return LabError(f"QEMU cannot run the lab: {clipped(said[-1])}", fix=f"apt-get install {PACKAGE}")
        return autopsy.explain(_end_of(self._console), self._process.returncode, self._megabytes, host_is_full=False)


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
                raise LabError(what, "--clock exact", "share the file's folder instead")
    except OSError:
        return b""
    return b"".join(parts)


def _start(
    lab: ExactLab, job: bytes, given: bytes, shared: BinaryIO, file: Callable[[], BinaryIO], files: contextlib.ExitStack,
    output: BinaryIO, console: BinaryIO, said: BinaryIO,
) -> subprocess.Popen[bytes]:  # fmt: skip
    """Start QEMU. Its files are passed as descriptors: they have no names, so nothing stays when this process is killed."""
    made_of = [files.enter_context(open(each, "rb")) for each in (lab.kernel.path, lab.image)]
    held = file()
    held.write(struct.pack("<QQ", len(job), len(given)) + job + given)
    devices = [made_of[1], held, shared]
    if lab.layer:
        devices.append(file())
        devices[-1].write(lab.layer.read_bytes())
    for each in devices[1:]:
        each.flush()
        os.truncate(each.fileno(), aligned(os.fstat(each.fileno()).st_size))
    initrd = file()
    initrd.write(lab.kernel.modules.read_bytes() + lab.init.read_bytes())
    initrd.flush()
    words = qemu(lab, made_of[0], initrd, devices, output, console)
    passed = [each.fileno() for each in (*made_of, *devices[1:], initrd, output, console)]
    emulator = program()
    own = [emulator.parents[1] / each for each in ("lib", "share/qemu", "share/seabios")]
    reads = [Path(f"/proc/self/fd/{each.fileno()}") for each in (*made_of, *devices[1:], initrd)]
    writes = [Path(f"/proc/self/fd/{each.fileno()}") for each in (output, console)]
    process = subprocess.Popen(
        [*confinement.words(lab.confine, emulator, read=[*reads, *LIBRARIES, *own], write=writes, loaders=LOADERS), *words],
        stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/", start_new_session=True, pass_fds=passed,
        env={"LC_ALL": "C", "PATH": "/nowhere"},
    )  # fmt: skip
    with contextlib.suppress(OSError):
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    return process


LIBRARIES = [Path(each) for each in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")]
LOADERS = [Path("/lib64/ld-linux-x86-64.so.2")]
"""What starts QEMU, which is linked with libraries."""


def aligned(size: int) -> int:
    """Return the size of a memory device that holds so many bytes."""
    return max(1, -(-size // ALIGNED)) * ALIGNED


def qemu(
    lab: ExactLab, kernel: BinaryIO, initrd: BinaryIO, devices: Sequence[BinaryIO], output: BinaryIO, console: BinaryIO
) -> list[str]:
    """Return QEMU's arguments."""

    def path(file: BinaryIO) -> str:
        return f"/proc/self/fd/{file.fileno()}"

    held = []
    for number, each in enumerate(devices):
        size = os.fstat(each.fileno()).st_size
        held += ["-object", f"memory-backend-file,id=m{number},share=on,readonly=on,mem-path={path(each)},size={size}"]
        held += ["-device", f"nvdimm,id=d{number},memdev=m{number},unarmed=on"]
    serial = []
    for name, each in (("console", console), ("channel", output)):
        serial += ["-chardev", f"file,id={name},path={path(each)}", "-serial", f"chardev:{name}"]
    told = [f"tsc_early_khz={lab.clock.speed * 1_000_000}", f"slownet_exact={lab.turn + 1}"]
    return [
        "-name", NAME, "-m", f"{lab.megabytes}M,slots=8,maxmem=64G", "-M", f"{MACHINE},nvdimm=on", "-cpu", PROCESSOR,
        "-smp", "1", "-accel", "tcg,thread=single,tb-size=256", "-icount", ICOUNT,
        "-seed", str(lab.turn + 1), "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-nodefaults", "-no-user-config",
        "-display", "none", "-no-reboot", "-monitor", "none", *serial, *held,
        "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        "-kernel", path(kernel), "-initrd", path(initrd), "-append", " ".join([*KERNEL, *told]),
    ]  # fmt: skip
