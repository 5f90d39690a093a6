"""A disk of a server's own: it can lose what was not yet written, be full or slow, or refuse writes.

It is an ext4 file system on a device of Linux's device mapper, which lies on a file in the lab's memory. In good times the
device passes everything on ("linear"); else it makes each access wait ("delay"), or it refuses writes or drops them without a
word ("flakey"). A power loss is made as the kernel's own file system tests do it: from one moment on all writes are dropped,
the file system is unmounted, and mounted again, which replays its journal.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from slownet.lab.host import native, owner
from slownet.lab.run import missing_programs as absent
from slownet.model.errors import ServiceError
from slownet.model.options import CLOCK
from slownet.model.units import size as read_size

SMALLEST = 16 << 20
"""Bytes: below, ext4 has hardly room beside its journal."""
SECTOR = 512
PATIENCE_S = 10.0
FULL = ".slownet-full"
"""The file that fills it."""
UUID = "5105e7a3-0000-4000-8000-000000000001"
"""The same in each run, since the order of a folder's entries follows from it."""
_ENVIRONMENT = {"LC_ALL": "C", "DM_DISABLE_UDEV": "1"}
"""A lab has no udev: dmsetup makes the devices' files itself."""
_ALWAYS = "0 1000000"
"""Seconds for which a flakey device does as usual, and then as its words say: from the first moment on."""


class Disk:
    """A disk that one server has its state on; made by `Service.on_disk`.

    size: how much it holds, such as "256MB": at least 16 MB. Of the lab's memory it takes what is written.
    """

    def __init__(self, size: str) -> None:
        self.size = read_size(size)
        if self.size < SMALLEST:
            fix = f"give at least {SMALLEST >> 20} MB"
            raise ServiceError(f"a disk of {size} is too small for a file system with a journal", "on_disk()", fix)
        self._name = ""
        self._file = self._folder = Path()
        self._loop = ""
        self._has_failed = False
        self._trouble: Callable[[], None] | None = None

    @property
    def _device(self) -> Path:
        return Path("/dev/mapper") / self._name

    def mount(self, folder: Path) -> None:
        """Make the disk, empty, and mount it on a folder. Raises ServiceError; nothing stays then."""
        if not native.inside_lab():
            fix = "run it in a lab: there it can fail without harm"
            raise ServiceError("a disk of its own needs a lab", "on_disk()", fix)
        _check_kernel()
        self._name = f"slownet-{folder.name}"
        self._folder = folder
        self._file = owner.directory() / f"{self._name}.disk"
        try:
            with self._file.open("wb") as file:
                file.truncate(self.size // SECTOR * SECTOR)
            self._loop = _call("losetup", "--find", "--show", str(self._file)).strip()
            _call("dmsetup", "create", self._name, "--table", self._table("linear"))
            lazily = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
            _call("mke2fs", "-q", "-t", "ext4", "-m", "0", "-U", UUID, "-E", f"{lazily},hash_seed={UUID}", str(self._device))
            self._mount()
        except BaseException:
            self.unmount()
            raise

    def unmount(self) -> None:
        """Remove the disk and all that is on it. Fine to call twice."""
        for is_there, words in (
            (os.path.ismount(self._folder), ["umount", "--lazy", str(self._folder)]),
            (self._device.exists(), ["dmsetup", "remove", "--force", "--retry", self._name]),
            (bool(self._loop), ["losetup", "--detach", self._loop]),
        ):
            if is_there:
                with suppress(ServiceError):
                    _call(*words)
        self._loop = ""
        self._file.unlink(missing_ok=True)

    def sync(self) -> None:
        """Write all that it has been given: what a server finds at its start has long been there."""
        os.sync()

    # ---- what happens to it ----

    def lose_power(self) -> None:
        """Lose what was not written, as if power had gone; no one may use it. Raises ServiceError.

        It is mounted again, and is as slow, full or failing as it was.
        """
        self._become("flakey", f"{_ALWAYS} 1 drop_writes")
        self._remount()
        if self._trouble:
            self._trouble()

    def slow(self, seconds: float) -> None:
        """Make each read, write and flush wait so long. Raises ServiceError."""
        self._trouble = partial(self.slow, seconds)
        self._become("delay", *([str(round(1000 * seconds))] * 3))

    def fail(self) -> None:
        """Refuse each write with an input/output error. Raises ServiceError."""
        self._trouble = self.fail
        self._has_failed = True
        self._become("flakey", f"{_ALWAYS} 1 error_writes")

    def fill(self) -> None:
        """Leave no room for another block. Raises ServiceError."""
        self._trouble = self.fill
        try:
            descriptor = os.open(self._folder / FULL, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                taken = 0
                while room := os.statvfs(self._folder).f_bavail * os.statvfs(self._folder).f_frsize:
                    taken = _take(descriptor, taken, room)
            finally:
                os.close(descriptor)
        except OSError as error:
            fix = "repair-disk before, if its writes fail"
            raise ServiceError(f"the disk cannot be filled: {error.strerror or error}", f"'{self._folder}'", fix) from error

    def repair(self) -> None:
        """Be a good disk again, with room. Its file system stays read-only if it gave up meanwhile, until `again`."""
        self._trouble = None
        self._become("linear")
        with suppress(OSError):
            (self._folder / FULL).unlink(missing_ok=True)

    def again(self) -> None:
        """Mount it again if its file system gave up because writes had been refused. Nobody may use it. Raises ServiceError."""
        if self._has_failed and self._is_good():
            self._remount()

    # ---- the device ----

    def _table(self, target: str, *words: str) -> str:
        """Return a device mapper's table; a delay is given three times: for reads, writes and flushes."""
        at = f"{self._loop} 0"
        rest = " ".join(f"{at} {each}" for each in words) or at
        return f"0 {self.size // SECTOR} {target} {rest}"

    def _is_good(self) -> bool:
        return _call("dmsetup", "table", self._name).split()[2] == "linear"

    def _become(self, target: str, *words: str) -> None:
        """Change what the device does. What is under way stays: the file system must not write back first."""
        _call("dmsetup", "suspend", "--nolockfs", "--noflush", self._name)
        try:
            _call("dmsetup", "load", self._name, "--table", self._table(target, *words))
        finally:
            _call("dmsetup", "resume", self._name)
        found = _call("dmsetup", "table", self._name).split()[2]
        if found != target:
            fix = "see that no other program uses dmsetup meanwhile"
            raise ServiceError(f"the kernel reports the disk as '{found}' instead of '{target}'", f"'{self._folder}'", fix)

    def _mount(self) -> None:
        _call("mount", "-t", "ext4", "-o", "noatime", str(self._device), str(self._folder))
        self._folder.chmod(0o755)
        self._has_failed = False

    def _remount(self) -> None:
        """Unmount, let the device do as usual, and mount again."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                _call("umount", str(self._folder))
                break
            except ServiceError:  # a process that was killed may not have gone yet
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
        self._become("linear")
        self._mount()


def _check_kernel() -> None:
    """Raise ServiceError if this kernel cannot do it: that of the exact clock is Debian's, without these modules."""
    systems = Path("/proc/filesystems").read_text(encoding="ascii").split()
    if "ext4" not in systems or not Path("/dev/mapper/control").exists():
        fix = f"use {CLOCK.set('virtual')} or real: the exact clock's kernel has none"
        raise ServiceError("this lab's kernel has no ext4 or no device mapper", "on_disk()", fix)


def _take(descriptor: int, at: int, most: int) -> int:
    """Give a file up to `most` more bytes after `at`, as many as there is room for; return its size then."""
    while most:
        try:
            os.posix_fallocate(descriptor, at, most)
        except OSError:
            most //= 2
            if most < SECTOR:
                break
        else:
            return at + most
    raise OSError("no room is left, and some is counted as free")


def _call(*words: str) -> str:
    """Run a program and return what it prints. Raises ServiceError."""
    environment = {**os.environ, **_ENVIRONMENT}
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError as error:
        what, fix = absent.program(words[0])
        raise ServiceError(what, "for a disk of its own", fix) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        fix = "see that the lab has memory left for it, and that no other program changes its devices or uses its files"
        raise ServiceError(
            f"{words[0]} fails: {said[-1] if said else f'status {done.returncode}'}", "for a disk of its own", fix
        )
    return done.stdout
