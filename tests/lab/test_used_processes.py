"""A process of the host that has run a program runs the next one as if it were new: nothing of the first one is left in it.

The kernel of labs keeps such processes (IDLE_STUBS): a program that begins just after another one has ended gets that one's.
"""

import ctypes
import faulthandler
import mmap
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROUNDS = 10
AT_ONCE = 40  # more than IDLE_STUBS
PLACE = 0x10_0000_0000  # where nothing is mapped
SIZE = 64 * mmap.PAGESIZE
UPWARD = 0x800  # FE_UPWARD
FAULTS = -signal.SIGSEGV
SET_BASE, BASE = b"\xf3\x48\x0f\xae\xdf\xc3", b"\xf3\x48\x0f\xae\xc8\xc3"
"""WRGSBASE and RDGSBASE, which programs may use, each in a function; what belongs to threads is at the other base."""
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def child(work):
    """Does that in a child; returns its exit status, or the signal that ended it as a negative number."""
    pid = os.fork()
    if not pid:
        faulthandler.disable()  # pytest's would print where it faults
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def keep_a_secret():
    address = LIBC.mmap(PLACE, SIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    ctypes.memset(address, 77, SIZE)
    return 0 if address == PLACE else 1


def read_the_secret():
    return ctypes.c_char.from_address(PLACE + 5 * mmap.PAGESIZE).value[0]


def test_memory_of_a_program_that_ended_is_gone():
    assert [(child(keep_a_secret), child(read_the_secret)) for _ in range(ROUNDS)] == ROUNDS * [(0, FAULTS)]


def test_memory_that_is_mapped_at_the_same_place_is_new():
    def look():
        address = LIBC.mmap(PLACE, SIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        return int(any(ctypes.string_at(address, SIZE)))

    assert [(child(keep_a_secret), child(look)) for _ in range(ROUNDS)] == ROUNDS * [(0, 0)]


def run(code):
    """Runs a program of its own, which takes a process for the fork and one for the program."""
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_rounding_is_to_nearest_again():
    set_it = f"import ctypes; ctypes.CDLL('libm.so.6').fesetround({UPWARD})"
    get_it = "import ctypes; print(ctypes.CDLL('libm.so.6').fegetround())"
    assert [(run(set_it), run(get_it)) for _ in range(ROUNDS)] == ROUNDS * [("", "0")]


def machine_code(code):
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    function.memory = memory
    return function


@pytest.mark.skipif("fsgsbase" not in Path("/proc/cpuinfo").read_text(), reason="this processor lacks these instructions")
def test_a_segment_that_a_program_set_by_itself_is_nobodys_afterwards():
    write_it, read_it = machine_code(SET_BASE), machine_code(BASE)

    def set_it():
        write_it(PLACE)
        return 0 if read_it(0) == PLACE else 1

    assert [(child(set_it), child(lambda: int(read_it(0) != 0))) for _ in range(ROUNDS)] == ROUNDS * [(0, 0)]


def test_signals_that_a_program_blocked_are_not_blocked():
    def block():
        signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        return 0

    def end():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # other tests may have left Python a handler
        os.kill(os.getpid(), signal.SIGTERM)
        return 1

    assert [(child(block), child(end)) for _ in range(ROUNDS)] == ROUNDS * [(0, -signal.SIGTERM)]


def test_many_programs_end_at_once_and_others_begin():
    for _ in range(3):
        programs = [subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(AT_ONCE)]
        said = [each.communicate(str(number).encode())[0] for number, each in enumerate(programs)]
        assert said == [str(number).encode() for number in range(AT_ONCE)]


def test_a_program_that_was_killed_in_a_call_leaves_nothing():
    for _ in range(ROUNDS):
        waiting = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        waiting.stdin.write(b"ready")
        waiting.stdin.flush()
        assert os.read(waiting.stdout.fileno(), 10) == b"ready"
        waiting.kill()
        waiting.communicate()
        assert run("print(sum(range(1000)))") == "499500"
