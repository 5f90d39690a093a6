"""The state of a machine that stopped itself, as QEMU saves it: its clock is put back to the instruction where it stopped.

QEMU's main loop and its processor's thread race while a machine stops. If the thread has stopped before the loop hears of it,
the loop finds a processor that has nothing to do, and moves the clock on to the next timer, as it does for one that waits: up
to a tick of the kernel, in one stop of ten beside a busy program. All else is the same in both cases, so putting the clock back
is enough. The machine itself tells when it stopped: it reads its time stamp counter, which is that clock, right before,
and has it in a register (see `stop_here` of init_exact.h).
"""

import struct

from slownet.lab.exact.emulator import OTHER
from slownet.model.errors import LabError

MARKER = struct.pack(">Q", 0x736C6F776E657421)
"""In the register before the one with the counter."""
CLOCK = b"\x0ctimer/icount\0\0\0\1"
"""Before the clock in a state: what it has been moved on by, and the count of instructions; their sum is the time."""
AFTER = 6
"""Instructions from the one that reads the counter to the one that stops, that one included."""
LONGEST = 1 << 32
"""By how much a clock can have been moved on: a tick is at most 10 ms, which are 3 % of that."""


def moved_on(state: bytes) -> int:
    """Return by how many instructions QEMU moved the clock on after the machine had stopped. Raises LabError."""
    clock, register = _clock(state), state.find(MARKER) + len(MARKER)
    if clock < len(CLOCK) or register < len(MARKER) or len(state) < max(clock + 16, register + 8):
        raise LabError("QEMU saves a machine in a format that is not known", fix=OTHER)
    moved, count = struct.unpack_from(">qq", state, clock)
    (read,) = struct.unpack_from(">q", state, register)
    found = moved + count - (read + AFTER)
    if not 0 <= found < LONGEST:
        raise LabError("QEMU saves a machine with a clock that is not the one of its time stamp counter", fix=OTHER)
    return int(found)


def at_its_stop(state: bytes) -> bytes:
    """Return a state with the clock that the machine had when it stopped. Raises LabError if the state is not as expected."""
    too_much, clock = moved_on(state), _clock(state)
    (moved,) = struct.unpack_from(">q", state, clock)
    return state[:clock] + struct.pack(">q", moved - too_much) + state[clock + 8 :]


def _clock(state: bytes) -> int:
    return state.find(CLOCK) + len(CLOCK)
