"""The kernel maps several pages of one folio at once, as it does for a ring of io_uring, into a program and its children."""

import ctypes
import mmap
import os
import struct

import pytest

IO_URING_SETUP = 425
PARAMETERS_BYTES = 120
"""struct io_uring_params: sq_entries is first; at 40 are offsets in the submission ring, of which `array` is the seventh."""
OFFSETS_AT, ARRAY = 40, 6


@pytest.fixture(params=[64, 256, 512, 4096])
def ring(request):
    """The memory of a ring, and where its array of indices is: (memory, first byte, number)."""
    parameters = bytearray(PARAMETERS_BYTES)
    view = (ctypes.c_char * PARAMETERS_BYTES).from_buffer(parameters)
    fd = ctypes.CDLL(None, use_errno=True).syscall(IO_URING_SETUP, request.param, view)
    assert fd >= 0, os.strerror(ctypes.get_errno())
    (number,) = struct.unpack_from("I", parameters)
    array = struct.unpack_from("7I", parameters, OFFSETS_AT)[ARRAY]
    with mmap.mmap(fd, array + 4 * number, mmap.MAP_SHARED | mmap.MAP_POPULATE) as memory:
        yield memory, array, number
    os.close(fd)


def test_a_child_has_the_pages_of_its_parent(ring):
    memory, at, number = ring
    written = struct.pack(f"{number}I", *range(number))
    memory[at : at + len(written)] = written
    reader, writer = os.pipe()
    if not (child := os.fork()):
        # Nothing is written here: if these are foreign pages, that would be the end of the lab.
        os.write(writer, b"alike" if memory[at : at + len(written)] == written else b"others")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"alike"
    os.close(reader)
    os.close(writer)
