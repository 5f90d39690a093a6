"""A guest of QEMU that stands for the Vagrant VM: Debian's kernel, systemd and sudo over the lab's image.

Its processor is always emulated, some 15 times slower than this machine's: a hypervisor inside another one, as clouds and
CI have it, ends such a guest as often as not.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stock import Stock

from slownet.errors import LabError
from slownet.lab import cache
from slownet.lab.image import Image

PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86"}
CPUS = 2
MEGABYTES = 3072
BOOT_S = 900  # without KVM, on a busy machine
CHECKOUT, SHARED = Path("/vagrant"), Path("/run-of-the-host")  # in the guest
SOURCES = ["lib", "topologies", "experiments", "setup.py", "pyproject.toml", "README.md", "LICENSE"]


@dataclass(frozen=True)
class Done:
    """A job that ended: its exit status, and what it printed on both outputs."""

    status: int
    output: str


class Machine:
    """A guest that runs; `folder` is the one that it shares with this machine, as SHARED, and may write to."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.folder = folder
        self._process, self._jobs, self._read = process, 0, b""

    def run(self, command: str, limit_s: float) -> Done:
        """Runs a shell command as an ordinary user, who may use sudo. Raises LabError if it does not end, or the guest does."""
        self._jobs += 1
        job = f"job-{self._jobs}"
        (self.folder / job).write_text(command + "\n")
        assert self._process.stdin
        self._process.stdin.write(f"{job}\n".encode())
        self._process.stdin.flush()
        name, _, status = self.line(limit_s, command).partition(" ")
        assert name == job
        return Done(int(status), (self.folder / f"{job}.out").read_text(errors="replace"))

    def line(self, limit_s: float, what: str) -> str:
        """The next line that the guest says; `what` is what it does meanwhile."""
        assert self._process.stdout
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise LabError(f"the guest did not end within {limit_s:g} s: {what}", where=str(self.folder))
            data = os.read(self._process.stdout.fileno(), 4096)
            if not data:
                raise LabError(f"the guest ended during: {what}", where=str(self.folder))
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return line.decode().strip()


def need_qemu() -> None:
    """Raises LabError naming the package if QEMU is not installed."""
    cache.need_programs(PROGRAMS, "booting Debian's kernel")


@contextlib.contextmanager
def booted(stock: Stock, image: Image, checkout: Path, folder: Path) -> Iterator[Machine]:
    """A guest over these; it ends with the `with`. Its console goes to a file in the folder. Raises LabError."""
    need_qemu()
    install(checkout, folder / "python")
    folder.chmod(0o777)  # the guest's user is nobody here
    words = [*_qemu(stock, folder / "console"), *_disks(image.path, stock.layer), *_shares(checkout, folder)]
    with (
        (folder / "qemu.log").open("wb") as log,
        cache.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=folder) as process,
    ):
        assert process.stdin
        assert process.stdout
        with process.stdin, process.stdout:
            machine = Machine(process, folder)
            assert machine.line(BOOT_S, "booting") == "ready"
            yield machine


def _qemu(stock: Stock, console: Path) -> list[str | Path]:
    command_line = (
        "console=ttyS0 loglevel=4 panic=-1 boot=slownet init=/usr/lib/systemd/systemd systemd.hostname=slownet "
        "systemd.condition_needs_update=no systemd.mask=serial-getty@ttyS0.service "
        f"systemd.run={CHECKOUT}/tests/stock_kernel/guest"
    )
    return [
        "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(CPUS),
        "-m", f"{MEGABYTES}M", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-kernel", stock.kernel, "-initrd", stock.initramfs, "-append", command_line,
        "-serial", f"file:{console}", "-chardev", "stdio,id=jobs,signal=off", "-serial", "chardev:jobs",
    ]  # fmt: skip


def _disks(*layers: Path) -> Iterator[str]:
    for layer in layers:  # labs lock the image for themselves, and nobody writes to it
        yield from ("-drive", f"if=virtio,format=raw,readonly=on,file.locking=off,file={layer}")


def _shares(checkout: Path, folder: Path) -> Iterator[str]:
    for tag, path, more in (("checkout", checkout, ",readonly=on"), ("run", folder, "")):
        yield from ("-virtfs", f"local,security_model=none,multidevs=remap,mount_tag={tag},path={path}{more}")


def install(checkout: Path, into: Path) -> None:
    """Installs the checkout's package, without what it requires, as pip does for any machine."""
    source = into.with_name("source")
    source.mkdir()
    for name in SOURCES:
        path = checkout / name
        shutil.copytree(path, source / name) if path.is_dir() else shutil.copy(path, source / name)
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", into, source]
    cache.run(argv, into.with_name("install.log"), "installing the checkout")
