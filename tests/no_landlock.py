"""A machine whose kernel has no Landlock, for this process and its children."""

import ctypes
import struct

from slownet.lab.run import confinement


def without_landlock():
    """Let landlock_create_ruleset fail in this process and its children, as on a kernel that has no Landlock."""
    steps = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, confinement.LANDLOCK_CREATE_RULESET),
        (0x06, 0, 0, 0x00050000 | 38),
        (0x06, 0, 0, 0x7FFF0000),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, header) == 0  # PR_SET_SECCOMP
