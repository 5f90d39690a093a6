"""The protocol between a lab and its host: frames over one console line (see init.c).

Root in a lab can write to that line, so nothing that comes over it is believed: `Parser` accepts the frames that init.c sends,
in the order it sends them, and no others.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.model.errors import LabError

_HEAD = struct.Struct("<cI")

READY, OUTPUT, ERRORS, TAKEN, FULL, ASKED, MESSAGE, EXIT = b"R", b"O", b"E", b"T", b"F", b"A", b"M", b"X"
CHANGE, CONTENT = b"S", b"C"
"""Of an exact lab alone, whose writable shares are copies: see init_exact.h."""
JOB, INPUT, END_OF_INPUT, SIGNAL, WINDOW = b"J", b"I", b"Z", b"K", b"W"

HEAD_BYTES = _HEAD.size
# Bytes of JOB and INPUT frames that may be in flight; init.c has a buffer of this size.
WINDOW_BYTES = 3072
# Largest payloads of frames from the lab: CHUNK of init.c, its buffer for a message, and room for its numbers.
MOST_BYTES = {READY: 0, OUTPUT: 4096, ERRORS: 4096, TAKEN: 23, FULL: 9, ASKED: 4096, MESSAGE: 511, EXIT: 15}
MOST_BYTES_EXACT = {**MOST_BYTES, CHANGE: 8256, CONTENT: 4096}
_NUMBER = re.compile(rb"[0-9]{1,5}")
_NAME = re.compile(r"[!-~]{1,64}")


class ProtocolError(LabError):
    """Something came from the lab that its first process never sends."""

    @classmethod
    def of(cls, what: str) -> ProtocolError:
        """Return the error; its constructor is that of all errors, with which a sweep's workers send it to the planner."""
        fix = "it was stopped; only root in the lab can write to its channel"
        return cls(f"the lab broke the protocol of its channel: {what}", fix=fix)


@dataclass(frozen=True)
class Ready:
    """The lab is ready for its job."""


@dataclass(frozen=True)
class Output:
    """A piece of the command's output."""

    data: bytes
    is_error: bool


@dataclass(frozen=True)
class Taken:
    """So many more bytes of JOB and INPUT frames were consumed."""

    count: int


@dataclass(frozen=True)
class Full:
    """The full resource of the lab: "disk", "memory" or "processes"."""

    what: str


@dataclass(frozen=True)
class Asked:
    """Modules that the kernel was asked for and does not have, as it would name them to modprobe."""

    names: Sequence[str]


@dataclass(frozen=True)
class Message:
    """The lab cannot go on, and why."""

    text: str


@dataclass(frozen=True)
class Exit:
    """The command's exit status, -N if signal N ended it."""

    status: int


@dataclass(frozen=True)
class Change:
    """A change of a writable share, as init_exact.h has it."""

    payload: bytes


@dataclass(frozen=True)
class Content:
    """A piece of the file that the last change named."""

    data: bytes


Frame = Ready | Output | Taken | Full | Asked | Message | Exit | Change | Content


class Parser:
    """Takes bytes from a lab in pieces of any size and yields its frames.

    Frames come in this order: READY; OUTPUT, ERRORS and TAKEN, any number; FULL, at most once; OUTPUT and ERRORS; ASKED, at
    most once; EXIT. A MESSAGE may come at any time, and is the last one, as EXIT is. Memory is bounded by the largest frame,
    time is linear in the input.

    most: the largest payload of each type of frame, `MOST_BYTES_EXACT` for an exact lab, which sends CHANGE and CONTENT, too,
    any number of them after READY.
    """

    def __init__(self, most: Mapping[bytes, int] = MOST_BYTES) -> None:
        self._most = most
        self._received = bytearray()
        self._is_ready = self._is_full = self._has_asked = False
        self._last = ""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete now. Raises ProtocolError, after which the lab must not be heard again."""
        # What was consumed is deleted once for each piece: deleting it frame by frame moves the rest each time, and a flood of
        # small frames would take quadratic time. In `finally`, because a caller may stop in the middle, and go on later.
        self._received += data
        at = 0
        try:
            while len(self._received) - at >= HEAD_BYTES:
                kind, size = _HEAD.unpack_from(self._received, at)
                self._check_head(kind, size)  # before its payload is awaited, which may be announced as 4 GB
                end = at + HEAD_BYTES + size
                if len(self._received) < end:
                    return
                payload = bytes(self._received[at + HEAD_BYTES : end])
                at = end
                yield self._frame(kind, payload)
        finally:
            del self._received[:at]

    def _check_head(self, kind: bytes, size: int) -> None:
        if kind not in self._most:
            raise ProtocolError.of(f"a frame of unknown type {kind[0]:#04x}")
        name = kind.decode()
        if size > self._most[kind]:
            raise ProtocolError.of(f"a frame of type {name} announces {size} bytes, more than {self._most[kind]}")
        if self._last:
            raise ProtocolError.of(f"a frame of type {name} after the last one, of type {self._last}")
        if kind != MESSAGE and (kind == READY) is self._is_ready:
            raise ProtocolError.of(
                "a second frame of type R" if self._is_ready else f"a frame of type {name} before that of type R"
            )
        if self._has_asked and kind not in (EXIT, MESSAGE):
            raise ProtocolError.of(f"a frame of type {name} after that of type A")
        if kind in (FULL, TAKEN) and self._is_full:
            raise ProtocolError.of(f"a frame of type {name} after that of type F")

    def _frame(self, kind: bytes, payload: bytes) -> Frame:
        if kind in (OUTPUT, ERRORS):
            return Output(payload, kind == ERRORS)
        if kind == CHANGE:
            return Change(payload)
        if kind == CONTENT:
            return Content(payload)
        if kind == TAKEN:
            return Taken(_number(kind, payload, WINDOW_BYTES))
        if kind == READY:
            self._is_ready = True
            return Ready()
        if kind == FULL:
            self._is_full = True
            if payload not in (b"disk", b"memory", b"processes"):
                raise ProtocolError.of(f"a frame of type F that names {payload!r}")
            return Full(payload.decode())
        if kind == ASKED:
            self._has_asked = True
            return Asked(_names(payload))
        self._last = kind.decode()
        if kind == EXIT:
            return Exit(_exit_code(_number(kind, payload, 0xFFFF)))
        return Message(payload.decode(errors="replace"))


def _names(payload: bytes) -> list[str]:
    names = payload.decode(errors="replace").split("\n")
    if not all(_NAME.fullmatch(each) for each in names):
        raise ProtocolError.of(f"a frame of type A with {payload[:80]!r}, not names of modules")
    return names


def _number(kind: bytes, payload: bytes, most: int) -> int:
    if not _NUMBER.fullmatch(payload) or int(payload) > most:
        raise ProtocolError.of(f"a frame of type {kind.decode()} with {payload!r}, not a number up to {most}")
    return int(payload)


def _exit_code(status: int) -> int:
    """Return an exit code from a status of wait(2), that of a process that has ended."""
    if not (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
        raise ProtocolError.of(f"a frame of type X with status {status}, which is not that of a process that has ended")
    return os.waitstatus_to_exitcode(status)


class Channel:
    """The host's end. `send` never blocks, so other threads and signal handlers may call it."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._parser = Parser()
        self._unsent: deque[memoryview] = deque()
        self._sending = threading.Lock()
        self.ended = False  # the lab closed its end, or died

    def fileno(self) -> int:
        return self._line.fileno()

    @property
    def has_unsent(self) -> bool:
        """True if `flush` must be called when the line is writable."""
        return bool(self._unsent)

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Send a frame, or keep it for `flush`; a lab that is gone shows up in `receive`."""
        self._unsent.append(memoryview(_HEAD.pack(kind, len(payload)) + payload))
        self.flush()

    def flush(self) -> None:
        """Send as much as the line accepts now. Frames stay whole: a thread that is already sending also sends new frames."""
        # Never wait for the lock: a signal handler may have interrupted this very thread within the block. A thread that does
        # not get it leaves the frame to the one that has it, which looks at the queue again after the release.
        full = False
        while self._unsent and not full and self._sending.acquire(blocking=False):
            try:
                full = not self._send_first()
            finally:
                self._sending.release()

    def _send_first(self) -> bool:
        try:
            sent = self._line.send(self._unsent[0])
        except (BlockingIOError, IndexError):  # the line is full, or another thread has sent it since the queue was looked at
            return False
        except OSError:
            self._unsent.clear()  # the lab is gone, which `receive` reports
            return False
        if sent == len(self._unsent[0]):
            self._unsent.popleft()
        else:
            self._unsent[0] = self._unsent[0][sent:]
        return True

    def receive(self) -> Iterator[Frame]:
        """Read once and yield the frames that are complete. Raises ProtocolError."""
        try:
            data = self._line.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = not data
        yield from self._parser.feed(data)

    def close(self) -> None:
        self._line.close()


def job(
    argv: Sequence[str],
    *,
    mounts: Iterable[tuple[str, str, str]] = (),
    env: Mapping[str, str] | None = None,
    cwd: str = "",
    clock: int = 0,
    tty: bool = False,
    limit: int = 0,
) -> bytes:
    """Return the payload of JOB frames.

    `mounts`: ("ro" or "rw", path on the host, path in the lab); `clock`: seconds since 1970; `limit`: seconds for which the
    command may print nothing, 0 for no limit.
    """
    lines = [line for mode, host, lab in mounts for line in (f"host={host}", f"{mode}={lab}")]
    lines += [f"env={name}={value}" for name, value in (env or {}).items()]
    lines += [f"clock={clock}"] if clock else []
    lines += [f"cwd={cwd}"] if cwd else []
    lines += ["tty=1"] if tty else []
    lines += [f"limit={limit}"] if limit else []
    lines += [f"arg={word}" for word in argv]
    return b"".join(line.encode(errors="surrogateescape") + b"\0" for line in lines)
