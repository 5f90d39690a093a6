"""The frames that a lab and its host exchange over one console line (see init.c)."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence

_HEAD = struct.Struct("<cI")

READY, OUTPUT, ERRORS, DISK_FULL, MESSAGE, EXIT = b"R", b"O", b"E", b"F", b"M", b"X"
JOB, INPUT, END_OF_INPUT, SIGNAL, WINDOW = b"J", b"I", b"Z", b"K", b"W"


class Channel:
    """The host's end. Sending is safe from several threads and from signal handlers."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._received = bytearray()
        self._sending = threading.RLock()

    def fileno(self) -> int:
        return self._line.fileno()

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Sends a frame; a lab that is gone is noticed by who waits for it, not here."""
        with self._sending:
            try:
                self._line.sendall(_HEAD.pack(kind, len(payload)) + payload)
            except (BrokenPipeError, ConnectionResetError):
                return

    def receive(self) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are complete after one read."""
        try:
            self._received += self._line.recv(1 << 16)
        except ConnectionResetError:
            return
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
    mounts: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str = "",
    clock: int = 0,
    tty: bool = False,
) -> bytes:
    """The payload of a JOB frame. `mounts` are "ro:HOST PATH:LAB PATH", `clock` seconds since 1970 (0: the host's)."""
    lines = [f"mount={mount}" for mount in mounts]
    lines += [f"env={name}={value}" for name, value in (env or {}).items()]
    lines += [f"clock={clock}"] if clock else []
    lines += [f"cwd={cwd}"] if cwd else []
    lines += ["tty=1"] if tty else []
    lines += [f"arg={word}" for word in argv]
    return b"".join(line.encode(errors="surrogateescape") + b"\0" for line in lines)
