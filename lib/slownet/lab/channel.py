"""The frames that a lab and its host exchange over one console line (see init.c)."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

_HEAD = struct.Struct("<cI")

READY, OUTPUT, ERRORS, TAKEN, FULL, MESSAGE, EXIT = b"R", b"O", b"E", b"T", b"F", b"M", b"X"
JOB, INPUT, END_OF_INPUT, SIGNAL, WINDOW = b"J", b"I", b"Z", b"K", b"W"

HEAD_BYTES = _HEAD.size
# Of JOB and INPUT frames that may be on their way and not taken yet; init.c keeps as much.
WINDOW_BYTES = 3072


class Channel:
    """The host's end. `send` never waits, so it may be called from other threads and from signal handlers."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._received = bytearray()
        self._unsent: deque[memoryview] = deque()
        self._sending = threading.Lock()
        self.ended = False  # the lab closed its end, or died

    def fileno(self) -> int:
        return self._line.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether `flush` is to be called when the line takes more."""
        return bool(self._unsent)

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Sends a frame, or keeps it for `flush`; a lab that is gone is noticed by who receives."""
        self._unsent.append(memoryview(_HEAD.pack(kind, len(payload)) + payload))
        self.flush()

    def flush(self) -> None:
        """Sends what the line takes now. Frames stay whole: whoever sends already takes a new one along."""
        full = False
        while self._unsent and not full and self._sending.acquire(blocking=False):
            try:
                full = not self._send_first()
            finally:
                self._sending.release()

    def _send_first(self) -> bool:
        try:
            sent = self._line.send(self._unsent[0])
        except (BlockingIOError, IndexError):
            return False
        except OSError:
            self._unsent.clear()
            return False
        if sent == len(self._unsent[0]):
            self._unsent.popleft()
        else:
            self._unsent[0] = self._unsent[0][sent:]
        return True

    def receive(self) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are complete after one read."""
        try:
            data = self._line.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = not data
        self._received += data
        while len(self._received) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._received)
            end = _HEAD.size + size
            if len(self._received) < end:
                return
            payload = bytes(self._received[_HEAD.size : end])
            del self._received[:end]
            yield kind, payload

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
    """The payload of JOB frames.

    `mounts`: ("ro" or "rw", path on the host, path in the lab); `clock`: seconds since 1970; `limit`: seconds that the
    command may be silent for, 0 for ever.
    """
    lines = [line for mode, host, lab in mounts for line in (f"host={host}", f"{mode}={lab}")]
    lines += [f"env={name}={value}" for name, value in (env or {}).items()]
    lines += [f"clock={clock}"] if clock else []
    lines += [f"cwd={cwd}"] if cwd else []
    lines += ["tty=1"] if tty else []
    lines += [f"limit={limit}"] if limit else []
    lines += [f"arg={word}" for word in argv]
    return b"".join(line.encode(errors="surrogateescape") + b"\0" for line in lines)
