"""A container's root file system: its image, as a block device, below a file system in memory, and what is written there."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import struct
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from slownet.model.errors import ServiceError
from slownet.model.options import PLACE

# linux/sched.h, linux/mount.h, linux/openat2.h
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x1, 0x4, 0x20, 0x1000, 0x4000, 0x40000
_RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 0x02, 0x10
_OPENAT2 = 437

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any, about: str = "") -> int:
    found: int = getattr(_libc, name)(*arguments)
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about or name)
    return found


def own_mounts() -> None:
    """Move this thread to a new mount namespace, whose mounts no one else sees. The thread must end in it."""
    _call("unshare", CLONE_NEWNS)
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def mount(what: str, where: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system in this thread's mount namespace. Raises OSError."""
    words = [each.encode() for each in (what, where, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), options.encode() or None, about=f"{where} ({kind})")


def open_in(root: int, path: str, flags: int = os.O_RDONLY) -> int:
    """Open a path of the tree below an open folder, whose symbolic links cannot leave it. Raises OSError."""
    how = struct.pack("3Q", flags | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    return _call("syscall", _OPENAT2, root, path.encode(), how, len(how), about=path)


# linux/loop.h
_GET_FREE, _CONFIGURE = 0x4C82, 0x4C0A
_READ_ONLY, _AUTOCLEAR = 1, 4
_CONFIG = struct.Struct("II 5Q 4I 64s 64s 32s 2Q 8Q")  # struct loop_config
_CONTROL = "/dev/loop-control"


class Device:
    """A file's device. The kernel frees it when this process has closed it and nothing is mounted from it any more."""

    def __init__(self, file: Path) -> None:
        self.users = 0
        with open(file, "rb") as backing:
            self._descriptor, self.path = _attached(backing.fileno())

    def close(self) -> None:
        """Give it up."""
        os.close(self._descriptor)


_devices: dict[Path, Device] = {}
_lock = threading.Lock()


def take(file: Path) -> str:
    """Return the path of a file's device, read-only, until `give_back`. Raises OSError and ServiceError."""
    with _lock:
        if file not in _devices:
            _devices[file] = Device(file)
        _devices[file].users += 1
        return _devices[file].path


def give_back(file: Path) -> None:
    """Say that one of those that took a file's device needs it no more."""
    with _lock:
        device = _devices[file]
        device.users -= 1
        if not device.users:
            del _devices[file]
            device.close()


def _attached(backing: int) -> tuple[int, str]:
    try:
        control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise ServiceError(
            "this machine has no loop devices", _CONTROL, f"modprobe loop, or use a lab ({PLACE.set('lab')})"
        ) from error
    wanted = _CONFIG.pack(backing, *[0] * 9, _READ_ONLY | _AUTOCLEAR, b"", b"", b"", *[0] * 10)
    try:
        while True:  # until nobody else takes the free one first
            path = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            device = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _CONFIGURE, wanted)
                return device, path
            except OSError as error:
                os.close(device)
                if error.errno != errno.EBUSY:
                    raise
    finally:
        os.close(control)


WRITTEN = ("upper", "volumes")
"""Files that a container has written, in the folder of its root: to its image, and to volumes that only it has."""


class Data(Protocol):
    """The files kept from a container."""

    def restore(self, into: Path) -> bool:
        """Unpack it into a folder."""


class Root:
    """The root of one container, in the mount namespace of the thread that calls its methods.

    Nothing of it is left when that thread, the runtime and the container have ended: no mount outlives its namespace.
    """

    def __init__(self, device: str, folder: Path, written: Data | None = None) -> None:
        """Mount it. device: the image's; folder: an empty one, whose path this is afterwards. Raises OSError.

        written: what a container of the same image had written, and this one begins with.
        """
        own_mounts()
        mount("tmpfs", str(folder), "tmpfs", 0, "mode=0755")
        os.chdir(folder)  # overlay's options are separated by commas and colons, which a path may contain
        for name in ("image", "upper", "work", "root", "volumes"):
            os.mkdir(name, 0o755)
        mount(device, "image", "squashfs", MS_RDONLY | MS_NODEV)
        _copy_owner("image", "upper")
        if written:
            written.restore(folder)
        mount("overlay", "root", "overlay", MS_NODEV, "lowerdir=image,upperdir=upper,workdir=work")
        self.path = folder / "root"
        self._volumes = folder / "volumes"
        self._descriptor = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def show(self, file: str, at: Path) -> None:
        """Show a file of the machine at a path below the folder, read-only. Raises OSError."""
        at.touch()
        mount(file, str(at), "", MS_BIND)
        mount("none", str(at), "", MS_BIND | MS_REMOUNT | MS_RDONLY)

    def close(self) -> None:
        """Let go of it; what has been started in it keeps it."""
        os.close(self._descriptor)

    def read(self, path: str) -> str:
        """Return a file's text; empty if none exists."""
        return read(self._descriptor, path)

    def write(self, path: str, text: str) -> None:
        """Write a file in place of what the image has there, also of a symbolic link. Raises OSError."""
        parent, name = os.path.split(path)
        with self._folder(parent) as folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(name, flags, 0o644, dir_fd=folder), "w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), 0o644)
                file.write(text)

    def make(self, path: str) -> None:
        """Make a folder and those above it, unless they exist. Raises OSError."""
        with self._folder(path):
            pass

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """Open a folder, after making it if the image has none."""
        done = "/"
        descriptor = open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
        try:
            for name in PurePosixPath(path).parts[1:]:
                done = os.path.join(done, name)
                try:
                    following = open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
                except FileNotFoundError:
                    os.mkdir(name, 0o755, dir_fd=descriptor)
                    following = open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
                os.close(descriptor)
                descriptor = following
            yield descriptor
        finally:
            os.close(descriptor)

    def has_program(self, word: str, search: str, cwd: str) -> bool:
        """True if a program exists that the kernel would run. search: as in PATH, for a word without a slash."""
        folders = [cwd] if "/" in word else search.split(":")
        return any(self._is_program(os.path.join(cwd, folder, word)) for folder in folders)

    def _is_program(self, path: str) -> bool:
        try:
            descriptor = open_in(self._descriptor, path, os.O_PATH)
        except OSError:
            return False
        mode = os.fstat(descriptor).st_mode
        os.close(descriptor)
        return stat.S_ISREG(mode) and mode & 0o111 != 0

    def volume(self, number: int) -> Path:
        """Make the folder of a volume that only this container has."""
        path = self._volumes / str(number)
        path.mkdir(mode=0o755, exist_ok=True)
        return path

    def seed(self, path: str, volume: Path) -> None:
        """Give an empty volume what the image has at a path, with owners and modes, as Docker does. Raises OSError."""
        if any(volume.iterdir()):
            return
        try:
            source = open_in(self._descriptor, path, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return
        try:
            _copy_owner(source, volume)
            if os.listdir(source):
                _copy(["--archive", f"/proc/self/fd/{source}/.", str(volume)], source)
        finally:
            os.close(source)


def read(root: int, path: str) -> str:
    """Return the text of a file of a container. root: a descriptor of its root folder. Empty if none exists."""
    try:
        with open(open_in(root, path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""


def _copy_owner(source: str | int, target: str | Path) -> None:
    found = os.stat(source)
    os.chown(target, found.st_uid, found.st_gid)
    os.chmod(target, stat.S_IMODE(found.st_mode))


def _copy(words: Sequence[str], source: int) -> None:
    done = subprocess.run(["cp", *words], pass_fds=[source], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or ["cp failed"])[-1])
