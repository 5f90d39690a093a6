"""A host's namespaces, held open by file descriptors, so that they end with this process however it ends.

Mininet keeps a shell per host for that. Here a thread enters a namespace with a system call, programs start in a host without
a process in between, and a shell is only started on demand.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slownet.lab.host import owner
from slownet.model.errors import NetworkError
from slownet.net.netlink import Route

# linux/sched.h, linux/mount.h
CLONE_FS, CLONE_NEWNS, CLONE_NEWNET = 0x200, 0x20000, 0x40000000
MS_BIND, MS_REC, MS_SLAVE = 0x1000, 0x4000, 0x80000

_libc = ctypes.CDLL(None, use_errno=True)  # os.setns and os.unshare need Python 3.12


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments):
        number = ctypes.get_errno()
        raise NetworkError(f"{name}: {os.strerror(number)}", where="network namespaces")


def current() -> int:
    """Open a descriptor of this thread's network namespace."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def entered(namespace: int | None) -> Iterator[None]:
    """Move this thread to another network namespace (a descriptor) for a while; None does nothing."""
    if namespace is None:
        yield
        return
    if namespace < 0:
        raise _down()
    own = current()
    try:
        _call("setns", namespace, CLONE_NEWNET)
        yield
    finally:
        _call("setns", own, CLONE_NEWNET)
        os.close(own)


@contextmanager
def inside(node: Any) -> Iterator[None]:
    """Run the block's thread in the network namespace of a Mininet node."""
    if not node.inNamespace:
        yield
    elif namespace := getattr(node, "namespace", None):  # not of Mininet's own nodes
        with entered(namespace.net):
            yield
    else:
        descriptor = os.open(f"/proc/{node.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            with entered(descriptor):
                yield
        finally:
            os.close(descriptor)


def _down() -> NetworkError:
    return NetworkError("this host's network is down", fix="start programs while the network is up")


def write_sysctls(values: Mapping[str, str]) -> None:
    """Set sysctls (net.ipv4...) of this thread's namespace. Raises NetworkError."""
    for name, value in values.items():
        try:
            Path("/proc/sys", name.replace(".", "/")).write_text(value)
        except OSError as error:
            raise NetworkError(f"cannot set {name} to {value}: {error.strerror}") from error


def apart(enter: Callable[[], None], argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a program from a new thread that has called ``enter``. Raises what that and subprocess.Popen raise."""
    # A new thread need not return: entering a mount namespace also changes its root and working directory.
    started: list[subprocess.Popen[Any]] = []
    failed: list[BaseException] = []

    def start() -> None:
        try:
            enter()
            started.append(subprocess.Popen(list(argv), **options))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    try:
        thread.join()
    except BaseException:  # an interrupt: nobody would know of the program
        thread.join()
        for process in started:
            process.kill()
            process.wait()
        raise
    if failed:
        raise failed[0]
    return started[0]


def show(mounts: int, path: str, file: Path) -> None:
    """Show a file in place of another one in a mount namespace, a descriptor. Raises NetworkError."""

    def mount() -> None:
        _call("unshare", CLONE_FS)
        _call("setns", mounts, CLONE_NEWNS)
        _call("mount", str(file).encode(), path.encode(), None, MS_BIND, None)

    _alone(mount)


def _alone(do: Callable[[], None]) -> None:
    """Call a function in a thread of its own, which may leave it in other namespaces. Raises what that raises."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            do()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


class Namespace:
    """A new network namespace, and on demand a mount namespace with a matching /sys."""

    def __init__(self, sysctls: Mapping[str, str]) -> None:
        self.net = -1
        self.files: dict[str, Path] = {}
        """Files that its programs see in place of the machine's, by path."""
        self.folder: Path | None = None
        """A private folder of its network, which lasts as long as that."""
        self._mounts: int | None = None
        self._lock = threading.Lock()
        own = current()
        try:
            _call("unshare", CLONE_NEWNET)
            self.net = current()
            write_sysctls(sysctls)
            with Route() as route:
                route.set_alias("lo", f"slownet {owner.this().mark}")
        except BaseException:
            self.close()
            raise
        finally:
            _call("setns", own, CLONE_NEWNET)
            os.close(own)

    def show(self, path: str, file: Path) -> None:
        """Show programs a file in place of the machine's, also those that run already. Raises NetworkError."""
        with self._lock:
            shown, self.files[path] = self.files.get(path), file
            if self._mounts is not None and shown != file:
                show(self._mounts, path, file)

    def close(self) -> None:
        """Close the descriptors; the kernel removes the namespaces when the last program in them has ended."""
        for descriptor in (self.net, self._mounts):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self.net, self._mounts = -1, None

    def popen(self, argv: Sequence[str], *, mounts: Callable[[], None] | None = None, **options: Any) -> subprocess.Popen[Any]:
        """Start a program in the namespaces. Raises NetworkError after `close`, and what subprocess.Popen raises.

        mounts: moves the calling thread to a mount namespace, which the program gets in place of the host's.
        """
        if self.net < 0:
            raise _down()

        def enter() -> None:
            if mounts is None:
                self._enter()
            else:
                _call("setns", self.net, CLONE_NEWNET)
                mounts()

        return apart(enter, argv, **options)

    def _enter(self) -> None:
        here = os.getcwd()
        _call("setns", self.net, CLONE_NEWNET)
        with self._lock:
            if self._mounts is None:
                _call("unshare", CLONE_NEWNS)
                # What is mounted here stays here; what the machine mounts later appears.
                _call("mount", b"none", b"/", None, MS_REC | MS_SLAVE, None)
                _call("mount", b"sysfs", b"/sys", b"sysfs", 0, None)
                for path, file in self.files.items():
                    _call("mount", str(file).encode(), path.encode(), None, MS_BIND, None)
                self._mounts = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
            else:
                _call("unshare", CLONE_FS)
                _call("setns", self._mounts, CLONE_NEWNS)
        os.chdir(here)
