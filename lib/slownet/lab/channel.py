"""The protocol between a lab and its host: frames over one console line (see init.c)."""

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
# Bytes of JOB and INPUT frames that may be in flight; init.c has a buffer of this size.
WINDOW_BYTES = 3072


class Channel:
    """The host's end. `send` never blocks, so other threads and signal handlers may call it."""

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
        """Whether `flush` must be called when the line is writable."""
        return bool(self._unsent)

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Send a frame, or keep it for `flush`; a lab that is gone shows up in `receive`."""
        self._unsent.append(memoryview(_HEAD.pack(kind, len(payload)) + payload))
        self.flush()

    def flush(self) -> None:
        """Send as much as the line accepts now. Frames stay whole: a thread that is already sending also sends new frames."""
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
        """Read once and yield the frames that are complete."""
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
