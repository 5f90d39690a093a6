"""A QEMU guest that replaces the Vagrant VM: Debian's kernel, systemd and sudo on top of the lab's image.

Its processor is always emulated, about 15 times slower than this machine's: nested virtualization, as in clouds and CI, often
kills such a guest.
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

from slownet.lab.build import cache
from slownet.lab.build.image import Image
from slownet.model.errors import LabError

PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86"}
CPUS = 2
MEGABYTES = 3072
BOOT_S = 900  # without KVM, on a busy machine
CHECKOUT, SHARED = Path("/vagrant"), Path("/run-of-the-host")  # in the guest
SOURCES = ["lib", "topologies", "experiments", "setup.py", "pyproject.toml", "README.md", "LICENSE"]


@dataclass(frozen=True)
class Done:
    """A finished job: its exit status, and its output on stdout and stderr."""

    status: int
    output: str


class Machine:
    """A running guest; `folder` is shared with it, writable, as SHARED."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.folder = folder
        self._process, self._jobs, self._read = process, 0, b""

    def run(self, command: str, limit_s: float) -> Done:
        """Run a shell command as an ordinary user with sudo. Raises LabError if it does not end, or the guest ends."""
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
        """Return the guest's next line; `what` describes what it is doing, for errors."""
        assert self._process.stdout
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise LabError(f"the guest did not finish within {limit_s:g} s: {what}", where=str(self.folder))
            data = os.read(self._process.stdout.fileno(), 4096)
            if not data:
                raise LabError(f"the guest ended during: {what}", where=str(self.folder))
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return line.decode().strip()


def need_qemu() -> None:
    """Raise LabError with the package's name if QEMU is not installed."""
    cache.need_programs(PROGRAMS, "booting Debian's kernel")


@contextlib.contextmanager
def booted(stock: Stock, image: Image, checkout: Path, folder: Path) -> Iterator[Machine]:
    """Boot a guest, which ends with the `with` block. Its console goes to a file in the folder. Raises LabError."""
    need_qemu()
    install(checkout, folder / "python")
    folder.chmod(0o777)  # the guest's user has no account here
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
    for layer in layers:  # labs hold locks on the image, and nobody writes to it
        yield from ("-drive", f"if=virtio,format=raw,readonly=on,file.locking=off,file={layer}")


def _shares(checkout: Path, folder: Path) -> Iterator[str]:
    for tag, path, more in (("checkout", checkout, ",readonly=on"), ("run", folder, "")):
        yield from ("-virtfs", f"local,security_model=none,multidevs=remap,mount_tag={tag},path={path}{more}")


def install(checkout: Path, into: Path) -> None:
    """Install the checkout's package with pip, without its requirements."""
    source = into.with_name("source")
    source.mkdir()
    for name in SOURCES:
        path = checkout / name
        shutil.copytree(path, source / name) if path.is_dir() else shutil.copy(path, source / name)
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", into, source]
    cache.run(argv, into.with_name("install.log"), "installing the checkout")
