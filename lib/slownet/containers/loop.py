"""Image files as block devices, one for each image of this process: containers of one image share its pages in memory."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import threading
from pathlib import Path

from slownet.model.errors import ServiceError
from slownet.model.options import PLACE

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
