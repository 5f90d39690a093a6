"""The emulated machine of an exact lab: QEMU's version and arguments, and a process of it, confined like every lab.

A machine runs from its start, or goes on from where another one stopped itself (see init_exact.h): what the devices' state was
comes over a pipe, and its memory is a file, which it maps privately.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Thread
from typing import BinaryIO

from slownet.lab.build import distribution
from slownet.lab.run import confinement
from slownet.lab.run.excerpt import clipped
from slownet.model.errors import LabError
from slownet.model.shapes import Json

PROGRAM, PACKAGE = "qemu-system-x86_64", "qemu-system-x86"
MACHINE, PROCESSOR = "pc-i440fx-7.2", "Nehalem"
"""Fixed, because devices and features of the processor decide what the kernel does. QEMU 7.2 and later versions have them."""
OLDEST, TRIED = (7, 2), tuple(each.qemu for each in distribution.HOSTS)
"""Versions of QEMU: the first that has this machine, and those of the hosts' releases, on which the same command was run."""
ICOUNT = "shift=0,sleep=off,align=off,rr=record,rrfile=/dev/null"
"""An instruction is a nanosecond of the machine; the kernel gets a processor that does `Clock.speed` in one.

The record is not kept. While QEMU records, its main loop waits for the processor's thread. Otherwise it may see the processor
halt before the last instructions are counted, and move the clock on by as many too much: two runs of 6,000 short sleeps had
other digits.
"""
NAME = "slownet-exact"
"""The name of the process; `memory` recognizes it."""
KERNEL = [
    "console=ttyS0", "loglevel=3", "panic=-1", "nokaslr", "norandmaps", "random.trust_cpu=off", "random.trust_bootloader=on",
    "tsc=reliable", "clocksource=tsc", "mitigations=off", "nowatchdog", "cryptomgr.notests", "slownet_exact=1",
]  # fmt: skip
ALIGNED = 2 << 20
"""Sizes of the memory devices are multiples of that."""
LEAST_ROOM = 32 << 20
"""Of a device whose content differs from run to run: so most of them are of one size, and their machines the same."""
LIBRARIES = [Path(each) for each in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")]
LOADERS = [Path("/lib64/ld-linux-x86-64.so.2")]
"""The command that starts QEMU, which is linked with libraries."""
SAVE_S, LOOK_S = 60, 0.001
OTHER = "labs boot instead; a version of QEMU that was tried can save them"
ENVIRONMENT = {"LC_ALL": "C", "PATH": "/nowhere"}


def is_installed() -> bool:
    """Return whether there is a QEMU on this machine."""
    return shutil.which(PROGRAM) is not None


def program() -> Path:
    """Return the path of QEMU. Raises LabError if it is not installed."""
    found = shutil.which(PROGRAM)
    if not found:
        raise LabError(f"the exact clock needs QEMU ({PROGRAM}), which is not installed", fix=f"apt-get install {PACKAGE}")
    return Path(found).resolve()


def version() -> str:
    """Return QEMU's version, such as "7.2.22". Raises LabError."""
    return description().split()[0]


def description() -> str:
    """Return QEMU's version with that of its package. Raises LabError."""
    path = program()
    return _description(path, path.stat().st_mtime_ns)


@cache
def _description(path: Path, changed: int) -> str:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        found = said.splitlines()[0].split("version ")[1].split()
        return " ".join([found[0], *found[1:]])
    except (OSError, IndexError, subprocess.TimeoutExpired) as error:
        raise LabError("QEMU does not print its version", where=str(path), fix=f"apt-get install {PACKAGE}") from error


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


def aligned(size: int) -> int:
    """Return the size of a memory device that holds so many bytes."""
    return max(1, -(-size // ALIGNED)) * ALIGNED


def roomy(size: int) -> int:
    """Return the size of a device that holds so many bytes, and that others have, whose content is another one."""
    room = LEAST_ROOM
    while room < size:
        room *= 2
    return room


@dataclass
class Machine:
    """The files of an emulated machine; all of them are open, and passed on as descriptors, so that none needs a name."""

    megabytes: int
    speed: int
    kernel: BinaryIO
    initrd: BinaryIO
    devices: Sequence[BinaryIO]
    """The contents of its memory devices, in this order: see init_exact.h."""
    output: BinaryIO
    console: BinaryIO
    said: BinaryIO
    """QEMU's own messages."""
    memory: BinaryIO | None = None
    """A file for its memory."""
    writes: bool = False
    """True if it writes its memory to that file, and stays where it stops itself, to be saved."""
    state: bytes = b""
    """The state of its devices, with which it goes on; empty for one that boots."""
    saved: BinaryIO | None = None
    """The file to which the state is saved."""

    def words(self) -> list[str]:
        """Return QEMU's arguments."""
        held = []
        for number, each in enumerate(self.devices):
            size = os.fstat(each.fileno()).st_size
            held += ["-object", f"memory-backend-file,id=m{number},share=on,readonly=on,mem-path={path_of(each)},size={size}"]
            held += ["-device", f"nvdimm,id=d{number},memdev=m{number},unarmed=on"]
        serial = []
        for name, file in (("console", self.console), ("channel", self.output)):
            serial += ["-chardev", f"file,id={name},path={path_of(file)}", "-serial", f"chardev:{name}"]
        return [
            "-name", NAME, "-m", f"{self.megabytes}M,slots=8,maxmem=64G",
            "-M", f"{MACHINE},nvdimm=on,suppress-vmdesc=on,memory-backend=ram", *self._memory(), "-cpu", PROCESSOR,
            "-smp", "1", "-accel", "tcg,thread=single,tb-size=256", "-icount", ICOUNT,
            "-seed", "1", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", *serial, *held, "-device", "pvpanic",
            "-global", "migration.send-configuration=off", *self._stops(),
            "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
            "-kernel", path_of(self.kernel), "-initrd", path_of(self.initrd),
            "-append", " ".join([*KERNEL, f"tsc_early_khz={self.speed * 1_000_000}"]),
        ]  # fmt: skip

    def identity(self) -> str:
        """Return what of its arguments is the same for all machines of which one may go on with another one's memory."""
        words = replace(self, memory=None, writes=False).words()
        return " ".join(re.sub(r"/proc/self/fd/\d+", "", each) for each in words)

    def _memory(self) -> list[str]:
        size = f"id=ram,size={self.megabytes}M"
        if not self.memory:
            return ["-object", f"memory-backend-ram,{size}"]
        return ["-object", f"memory-backend-file,{size},mem-path={path_of(self.memory)},share={'on' if self.writes else 'off'}"]

    def _stops(self) -> list[str]:
        if not self.writes:
            return ["-action", "panic=none", "-monitor", "none"]
        return ["-action", "panic=pause", "-chardev", "stdio,id=qmp,signal=off", "-mon", "chardev=qmp,mode=control"]

    def start(self, confine: Path) -> subprocess.Popen[bytes]:
        """Start it. Raises OSError."""
        emulator = program()
        own = [emulator.parents[1] / each for each in ("lib", "share/qemu", "share/seabios")]
        reads = [self.kernel, self.initrd, *self.devices]
        writes = [each for each in (self.output, self.console, self.memory, self.saved) if each]
        rules = confinement.words(
            confine, emulator, read=[*(Path(path_of(each)) for each in reads), *LIBRARIES, *own],
            write=[Path(path_of(each)) for each in writes], loaders=LOADERS,
        )  # fmt: skip
        talk = subprocess.PIPE if self.writes else subprocess.DEVNULL
        with _piped(self.state) as state:
            incoming = ["-incoming", f"fd:{state}"] if state is not None else []
            process = subprocess.Popen(
                [*rules, *self.words(), *incoming], stdin=talk, stdout=talk if self.writes else self.said, stderr=self.said,
                cwd="/", start_new_session=True, env=ENVIRONMENT,
                pass_fds=[each.fileno() for each in (*reads, *writes)] + ([] if state is None else [state]),
            )  # fmt: skip
        with contextlib.suppress(OSError):
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        return process


@contextlib.contextmanager
def _piped(data: bytes) -> Iterator[int | None]:
    """Yield the end of a pipe from which these bytes are read; None for no bytes."""
    if not data:
        yield None
        return
    near, far = os.pipe()
    Thread(target=_fill, args=(far, data), daemon=True).start()  # a pipe may hold less than that
    try:
        yield near
    finally:
        os.close(near)


def _fill(pipe: int, data: bytes) -> None:
    """Write to a pipe until all is read, or no process reads it."""
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]


def path_of(file: BinaryIO) -> str:
    """Return the path that it uses for one of its files."""
    return f"/proc/self/fd/{file.fileno()}"


class Talk:
    """A conversation with a machine that stops itself, in QEMU's protocol (QMP), over its standard input and output."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._into, self._from = process.stdin, process.stdout
        os.set_blocking(self._from.fileno(), False)
        self._received = b""
        self._say("qmp_capabilities")

    def has_stopped(self) -> bool:
        """Return whether it stopped since the last question."""
        return any(each.get("event") == "STOP" for each in self._heard())

    def save(self, file: BinaryIO) -> None:
        """Save the state of its devices, and wait until that is done. Raises LabError."""
        list(self._heard())
        self._say("xen-save-devices-state", filename=path_of(file), live=False)
        deadline = time.monotonic() + SAVE_S
        while time.monotonic() < deadline:
            for each in self._heard():
                if "error" in each:
                    why = str(each["error"].get("desc", "it does not give a reason"))
                    raise LabError(f"QEMU cannot save the machine: {clipped(why)}", fix=OTHER)
                if "return" in each:
                    return
            time.sleep(LOOK_S)
        raise LabError("QEMU cannot save the machine: it does not answer", fix=OTHER)

    def _say(self, what: str, **arguments: str | bool) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._into.write(json.dumps({"execute": what, **({"arguments": arguments} if arguments else {})}).encode() + b"\n")
            self._into.flush()

    def _heard(self) -> Iterator[dict[str, Json]]:
        """Yield the answers and events that have come."""
        while data := self._from.read(1 << 16):
            self._received += data
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                yield json.loads(line)
