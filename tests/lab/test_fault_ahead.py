"""The lab's kernel maps several pages with one fault: those after it where a process writes one after the other, else a few."""

import ctypes
import mmap
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "User Mode Linux" not in Path("/proc/cpuinfo").read_text(), reason="the kernel does that in User-Mode Linux"
)

PAGES = 16  # FAULT_AHEAD_PAGES
AROUND = 4  # FAULT_AROUND_PAGES
SIZE = 4 * PAGES * mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def there(start):
    """Which of the pages from this address on are in memory, by number."""
    vector = ctypes.create_string_buffer(3 * PAGES)
    if LIBC.mincore(start, 3 * PAGES * mmap.PAGESIZE, vector):
        raise OSError(ctypes.get_errno(), "mincore")
    return {number for number, state in enumerate(vector.raw) if state & 1}


def aligned(memory):
    """The address and the offset of the memory's first page at a boundary of PAGES pages, but not of its very first page.

    The page before that one may be a neighbour's who was written to, and then it counts as written just before.
    """
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    offset = -address % (PAGES * mmap.PAGESIZE) or PAGES * mmap.PAGESIZE
    return address + offset, offset


def around(*pages):
    """The pages that are mapped with these."""
    return {first + number for page in pages for first in [page - page % AROUND] for number in range(AROUND)}


def write(memory, offset, *pages):
    for page in pages:
        memory[offset + page * mmap.PAGESIZE] = 1


@pytest.fixture(params=[mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def memory(request):
    return mmap.mmap(-1, SIZE, flags=request.param | mmap.MAP_ANONYMOUS)


def test_the_second_of_two_pages_in_a_row_brings_those_up_to_the_boundary(memory):
    start, offset = aligned(memory)
    write(memory, offset, 7)
    assert there(start) == around(7)
    write(memory, offset, 8)
    assert there(start) == set(range(4, PAGES))


def test_pages_here_and_there_bring_their_neighbours_and_nothing_else(memory):
    start, offset = aligned(memory)
    pages = 2, 0, PAGES + 5, PAGES + 3, 2 * PAGES + 9
    write(memory, offset, *pages)
    assert there(start) == around(*pages)


def test_what_was_written_before_stays(memory):
    start, offset = aligned(memory)
    memory[offset + 9 * mmap.PAGESIZE] = 77
    write(memory, offset, 0, AROUND)
    assert there(start) == set(range(12))
    assert memory[offset + 9 * mmap.PAGESIZE] == 77
    assert not any(memory[offset + page * mmap.PAGESIZE] for page in (1, 2, 3, 5, 6, 7, 8, 10, 11))


def test_a_shared_file_gets_no_pages_that_nobody_wrote(tmp_path):
    file = tmp_path / "sparse"
    with open(file, "w+b") as opened:
        opened.truncate(SIZE)
        memory = mmap.mmap(opened.fileno(), SIZE)
        write(memory, 0, 0, 1, 2)
        memory.flush()
    assert os.stat(file).st_blocks * 512 == 3 * mmap.PAGESIZE


def test_a_child_that_was_forked_writes_its_own_copy(memory):
    _, offset = aligned(memory)
    kept = memory[offset + 5 * mmap.PAGESIZE]
    child = os.fork()
    if not child:
        write(memory, offset, 0, 1, 2)
        os._exit(0 if memory[offset + 5 * mmap.PAGESIZE] == kept else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_parent_that_writes_leaves_its_child_what_was_there():
    memory = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _, offset = aligned(memory)
    write(memory, offset, *range(2 * AROUND))
    ready, go = os.pipe()
    child = os.fork()
    if not child:
        os.read(ready, 1)
        os._exit(0 if all(memory[offset + page * mmap.PAGESIZE] == 1 for page in range(2 * AROUND)) else 1)
    for page in range(2 * AROUND):
        memory[offset + page * mmap.PAGESIZE] = 2
    os.write(go, b" ")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_private_copy_of_a_file_has_its_content_around_what_was_written(tmp_path):
    file = tmp_path / "numbers"
    content = b"".join(bytes([page]) * mmap.PAGESIZE for page in range(PAGES))
    file.write_bytes(content)
    with open(file, "rb") as opened:
        memory = mmap.mmap(opened.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    assert memory[0] == 0  # the pages of the file are mapped to be read
    memory[5 * mmap.PAGESIZE] = 77
    assert memory[:] == content[: 5 * mmap.PAGESIZE] + bytes([77]) + content[5 * mmap.PAGESIZE + 1 :]
    assert file.read_bytes() == content
