"""A container's root file system: its image below a file system in memory, and what is written there before it starts."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Protocol

from slownet.containers import system_calls

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
        system_calls.own_mounts()
        system_calls.mount("tmpfs", str(folder), "tmpfs", 0, "mode=0755")
        os.chdir(folder)  # overlay's options are separated by commas and colons, which a path may contain
        for name in ("image", "upper", "work", "root", "volumes"):
            os.mkdir(name, 0o755)
        system_calls.mount(device, "image", "squashfs", system_calls.MS_RDONLY | system_calls.MS_NODEV)
        _copy_owner("image", "upper")
        if written:
            written.restore(folder)
        system_calls.mount("overlay", "root", "overlay", system_calls.MS_NODEV, "lowerdir=image,upperdir=upper,workdir=work")
        self.path = folder / "root"
        self._volumes = folder / "volumes"
        self._descriptor = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def show(self, file: str, at: Path) -> None:
        """Show a file of the machine at a path below the folder, read-only. Raises OSError."""
        at.touch()
        system_calls.mount(file, str(at), "", system_calls.MS_BIND)
        system_calls.mount("none", str(at), "", system_calls.MS_BIND | system_calls.MS_REMOUNT | system_calls.MS_RDONLY)

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
        descriptor = system_calls.open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
        try:
            for name in PurePosixPath(path).parts[1:]:
                done = os.path.join(done, name)
                try:
                    following = system_calls.open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
                except FileNotFoundError:
                    os.mkdir(name, 0o755, dir_fd=descriptor)
                    following = system_calls.open_in(self._descriptor, done, os.O_PATH | os.O_DIRECTORY)
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
            descriptor = system_calls.open_in(self._descriptor, path, os.O_PATH)
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
            source = system_calls.open_in(self._descriptor, path, os.O_RDONLY | os.O_DIRECTORY)
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
        with open(system_calls.open_in(root, path), encoding="utf-8", errors="replace") as file:
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
