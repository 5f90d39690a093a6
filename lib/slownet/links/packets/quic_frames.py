"""The frames in a QUIC packet's payload: those that carry data, and the lengths of all others (RFC 9000, 19)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slownet.model.errors import ToolError

PADDING, PING, ACK, ACK_ECN, CRYPTO, NEW_TOKEN, STREAM, NEW_CONNECTION_ID = 0x00, 0x01, 0x02, 0x03, 0x06, 0x07, 0x08, 0x18
OFFSET, LENGTH = 0x04, 0x02
"""Flags in the type of a STREAM frame."""
NUMBERS = {
    PADDING: 0, PING: 0, 0x04: 3, 0x05: 2, 0x10: 1, 0x11: 2, 0x12: 1, 0x13: 1, 0x14: 1, 0x15: 2, 0x16: 1, 0x17: 1, 0x19: 1,
    0x1E: 0,
}  # fmt: skip
"""The number of variable-length integers that follow the type, for the frames that consist of nothing else."""
FIXED = {0x1A: 8, 0x1B: 8}
"""The bytes of PATH_CHALLENGE and PATH_RESPONSE."""
CLOSES = {0x1C: 2, 0x1D: 1}
"""The integers of CONNECTION_CLOSE, after which a phrase follows with its length."""
RESET_TOKEN = 16


@dataclass(frozen=True)
class Crypto:
    """A piece of the handshake."""

    offset: int
    data: bytes


@dataclass(frozen=True)
class Data:
    """A piece of a stream."""

    stream: int
    offset: int
    data: bytes


def frames(payload: bytes) -> Iterator[Crypto | Data]:
    """Yield the frames that carry data, in order. Raises ToolError for a frame that is not known."""
    from aioquic.buffer import Buffer

    buffer = Buffer(data=payload)
    while not buffer.eof():
        kind = buffer.pull_uint_var()
        if kind == CRYPTO:
            yield Crypto(buffer.pull_uint_var(), buffer.pull_bytes(buffer.pull_uint_var()))
        elif STREAM <= kind < STREAM + 8:
            yield _data(kind, buffer)
        else:
            _skip(kind, buffer)


def _data(kind: int, buffer: Any) -> Data:
    number = buffer.pull_uint_var()
    offset = buffer.pull_uint_var() if kind & OFFSET else 0
    length = buffer.pull_uint_var() if kind & LENGTH else buffer.capacity - buffer.tell()
    return Data(number, offset, buffer.pull_bytes(length))


def _skip(kind: int, buffer: Any) -> None:
    """Pass over a frame that carries no data of the handshake or of a stream."""
    if kind in (ACK, ACK_ECN):
        buffer.pull_uint_var(), buffer.pull_uint_var()  # the largest number, the delay
        ranges = buffer.pull_uint_var()
        for _ in range(1 + 2 * ranges + 3 * (kind == ACK_ECN)):
            buffer.pull_uint_var()
    elif kind == NEW_TOKEN:
        buffer.pull_bytes(buffer.pull_uint_var())
    elif kind == NEW_CONNECTION_ID:
        buffer.pull_uint_var(), buffer.pull_uint_var()
        buffer.pull_bytes(buffer.pull_uint8() + RESET_TOKEN)
    elif kind in FIXED:
        buffer.pull_bytes(FIXED[kind])
    elif kind in NUMBERS:
        for _ in range(NUMBERS[kind]):
            buffer.pull_uint_var()
    elif kind in CLOSES:
        for _ in range(CLOSES[kind]):
            buffer.pull_uint_var()
        buffer.pull_bytes(buffer.pull_uint_var())
    else:
        raise ToolError(f"a QUIC frame of type 0x{kind:x}, which RFC 9000 does not define")
