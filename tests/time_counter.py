"""Runs a command whose counters of instructions count nanoseconds of CPU time instead, for machines without such a counter.

    python tests/time_counter.py processor|process COMMAND [ARGUMENT]...

With "process" the command is denied a processor's counter, as ordinary users are.

So the clock that charges work can be tested on any machine, except for its precision: how it opens, reads, inherits and closes
counters, changes between a processor's and each process's, is alarmed by them, and charges what they count. Each
perf_event_open() of the command and of all that it starts waits until this process has opened a software event for it
(seccomp_unotify(2)): a thread's CPU time in place of its instructions, and a processor's clock in place of the instructions on
it, which like those includes other programs.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Sequence

from slownet.lab.host.counter import CLOEXEC, HARDWARE, INSTRUCTIONS, PROCESSOR, SIZE, SYSCALLS

PERF_EVENT_OPEN, SECCOMP = SYSCALLS["x86_64"], 317
AUDIT_ARCH_X86_64 = 0xC000003E
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # linux/bpf_common.h
NUMBER, ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
SET_MODE_FILTER, NEW_LISTENER = 1, 1 << 3
PR_SET_NO_NEW_PRIVS = 38
RECEIVE, SEND, ADD_FD = 0xC0502100, 0xC0182101, 0xC0182103
AND_ANSWER = 1 << 1  # of ADD_FD: the file's number is what the call returns
NOTIFICATION = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
ADDED = struct.Struct("=QIIII")
SOFTWARE, PROCESSORS_CLOCK, THREADS_CLOCK = 1, 0, 1  # linux/perf_event.h
SIZE_AT, CONFIG_AT = 4, 8  # offsets in struct perf_event_attr
WITHOUT_KERNEL = 1 << 5
ANY = 0xFFFFFFFF
GONE = (FileNotFoundError, ProcessLookupError)
"""What ioctl() raises if the caller no longer waits: it has ended, or a signal has interrupted its call, which it makes again.

The second one, if that happens while the event is handed over: the kernel takes it back then (ESRCH).
"""

libc = ctypes.CDLL(None, use_errno=True)


def main(scope: str, *words: str) -> int:
    """Run the command and return its exit status, 128 and the signal's number if one ended it."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        become(words, theirs)
    theirs.close()
    with contextlib.suppress(KeyboardInterrupt), ours:
        _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
        serve(listener, pid, scope)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status >= 0 else 128 - status


def why_not(scope: str) -> str:
    """Return why this process cannot open such events itself, or an empty text."""
    attributes = struct.pack("=IIQQQQQ", SOFTWARE, SIZE, THREADS_CLOCK, 0, 0, 0, WITHOUT_KERNEL).ljust(SIZE, b"\0")
    whose = [ctypes.c_int(each) for each in ((-1, 0) if scope == PROCESSOR else (0, -1))]
    try:
        os.close(checked(libc.syscall(PERF_EVENT_OPEN, attributes, *whose, -1, CLOEXEC)))
    except OSError as error:
        return f"perf_event_open: {error.strerror}"
    return "" if os.uname().machine == "x86_64" else "written for x86_64"


def become(words: Sequence[str], to: socket.socket) -> None:
    """Let this process's calls be answered by who gets the listener, and execute the command."""
    listener = listen()
    socket.send_fds(to, [b"x"], [listener])
    os.close(listener)
    os.execvp(words[0], words)


def listen() -> int:
    """Install the filter for this process and those that it will start; return the file on which calls are announced."""
    filters = [
        (LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 0, 3, AUDIT_ARCH_X86_64),
        (LOAD, 0, 0, NUMBER), (JUMP_IF_EQUAL, 0, 1, PERF_EVENT_OPEN),
        (RETURN, 0, 0, NOTIFY), (RETURN, 0, 0, ALLOW),
    ]  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in filters))
    program = struct.pack("@HP", len(filters), ctypes.addressof(code))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return checked(libc.syscall(SECCOMP, SET_MODE_FILTER, NEW_LISTENER, program))


def serve(listener: int, pid: int, scope: str) -> None:
    """Answer calls until that process ends."""
    ended = os.pidfd_open(pid)
    polled = select.poll()
    polled.register(listener, select.POLLIN)
    polled.register(ended, select.POLLIN)
    while not any(fd == ended for fd, _ in polled.poll()):
        with contextlib.suppress(*GONE):
            answer(listener, scope)


def answer(listener: int, scope: str) -> None:
    """Open the event for one call and hand it over. Raises an error of `GONE` if the caller no longer waits."""
    call = array.array("b", bytes(NOTIFICATION.size))
    fcntl.ioctl(listener, RECEIVE, call)
    number, caller, _, _, _, _, attributes_at, pid, processor, _, flags, _ = NOTIFICATION.unpack(call)
    try:
        if pid & ANY == ANY and scope != PROCESSOR:
            raise PermissionError(errno.EACCES, "a processor's counter is denied")
        opened = opened_for(caller, attributes_at, pid & ANY, processor & ANY)
    except OSError as error:
        fcntl.ioctl(listener, SEND, ANSWER.pack(number, 0, -(error.errno or errno.EIO), 0))
        return
    try:
        close = os.O_CLOEXEC if flags & CLOEXEC else 0
        fcntl.ioctl(listener, ADD_FD, ADDED.pack(number, AND_ANSWER, opened, 0, close))
    finally:
        os.close(opened)


def opened_for(caller: int, attributes_at: int, pid: int, processor: int) -> int:
    """Open the event that stands in for the one with these arguments. Raises OSError."""
    with open(f"/proc/{caller}/mem", "rb", buffering=0) as memory:
        memory.seek(attributes_at + SIZE_AT)
        size = int.from_bytes(memory.read(4), sys.byteorder)
        memory.seek(attributes_at)
        attributes = bytearray(memory.read(size))
    if len(attributes) < max(size, SIZE):  # the caller has ended
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    kind, config = struct.unpack_from("=I", attributes)[0], struct.unpack_from("=Q", attributes, CONFIG_AT)[0]
    if (kind, config) != (HARDWARE, INSTRUCTIONS):
        raise OSError(errno.ENOENT, "only instructions have a substitute")
    struct.pack_into("=I", attributes, 0, SOFTWARE)
    struct.pack_into("=Q", attributes, CONFIG_AT, PROCESSORS_CLOCK if pid == ANY else THREADS_CLOCK)
    whose = [ctypes.c_int(each) for each in (pid or caller, processor)]
    return checked(libc.syscall(PERF_EVENT_OPEN, bytes(attributes), *whose, -1, CLOEXEC))


def checked(result: int) -> int:
    """Return the result of a call of libc. Raises OSError."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(*sys.argv[1:]))
