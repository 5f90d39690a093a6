"""Requests sent in one write or in several over a real TCP connection.

    python -m slownet.reproductions.programs.request_writer serve READY PORT [once|always]
    python -m slownet.reproductions.programs.request_writer talk ADDRESS PORT PATTERN COUNT

`talk` prints {"pattern", "each", "times_ns": [...]}: every time is for `each` messages. A message starts with its length and
whether it wants an answer; like a database, the server only answers when it has the whole message.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

HEADER = struct.Struct("!H?")
REQUEST, FIRST = 163, 128  # bytes of the article's query, and of the part that fits into its proxy's buffer
SEGMENT = 1448  # payload of a full segment: 1500 B less the headers of IPv4 and TCP with timestamps
ROUNDS = 5
ANSWER = b"answer of the server, short as a row of a table's can be"


def message(length: int, answered: bool = True) -> bytes:
    """Return a message of `length` bytes, its header included."""
    return HEADER.pack(length, answered).ljust(length, b"x")


def take(connection: socket.socket, length: int, before: Callable[[], None] = lambda: None) -> bytes:
    """Read exactly `length` bytes; empty at the end of the connection. `before` is called before each read."""
    data = b""
    while len(data) < length:
        before()
        part = connection.recv(length - len(data))
        if not part:
            return b""
        data += part
    return data


def serve(ready: str, port: str, quickack: str = "") -> None:
    """Serve one connection after another. quickack: set TCP_QUICKACK "once" per connection or "always" before a read."""
    with socket.create_server(("", int(port))) as listener:
        Path(ready).touch()
        while True:
            connection, _ = listener.accept()
            with connection:
                _answer(connection, quickack)


def _answer(connection: socket.socket, quickack: str) -> None:
    def acknowledge_at_once() -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    if quickack:
        acknowledge_at_once()
    before = acknowledge_at_once if quickack == "always" else lambda: None
    while header := take(connection, HEADER.size, before):
        length, answered = HEADER.unpack(header)
        take(connection, length - HEADER.size, before)
        if answered:
            connection.sendall(ANSWER)


class Talk:
    """The client's patterns; each method sends one message's worth of bytes and reads the answer."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.patterns: dict[str, Callable[[], None]] = {
            "write-write-read": self.two_writes,
            "write-read-write-read": self.answered_each,
            "one-write": self.one_write,
            "nodelay": self.two_writes,
            "cork": self.corked,
            "full-segment-first": self.full_segment_first,
        }

    def option(self, name: int, value: int) -> None:
        """Set an option of TCP."""
        self.connection.setsockopt(socket.IPPROTO_TCP, name, value)

    def read(self) -> None:
        """Read one answer."""
        if not take(self.connection, len(ANSWER)):
            raise ConnectionError("the server closed the connection")

    def two_writes(self) -> None:
        """Send the message in two writes, then read its answer."""
        whole = message(REQUEST)
        self.connection.sendall(whole[:FIRST])
        self.connection.sendall(whole[FIRST:])
        self.read()

    def answered_each(self) -> None:
        """Send two messages, each answered before the next."""
        for length in (FIRST, REQUEST - FIRST):
            self.connection.sendall(message(length))
            self.read()

    def one_write(self) -> None:
        """Send the message in one write, then read its answer."""
        self.connection.sendall(message(REQUEST))
        self.read()

    def corked(self) -> None:
        """Send the message in two writes between setting and clearing TCP_CORK, then read its answer."""
        self.option(socket.TCP_CORK, 1)
        whole = message(REQUEST)
        self.connection.sendall(whole[:FIRST])
        self.connection.sendall(whole[FIRST:])
        self.option(socket.TCP_CORK, 0)
        self.read()

    def full_segment_first(self) -> None:
        """Send a full segment, then a small rest, then read the answer."""
        whole = message(SEGMENT + REQUEST - FIRST)
        self.connection.sendall(whole[:SEGMENT])
        self.connection.sendall(whole[SEGMENT:])
        self.read()

    def never_waiting(self, count: int) -> None:
        """Send each message in two writes; only the last one is answered."""
        for number in range(count):
            whole = message(REQUEST, answered=number == count - 1)
            self.connection.sendall(whole[:FIRST])
            self.connection.sendall(whole[FIRST:])
        self.read()


def talk(address: str, port: str, pattern: str, count: str) -> None:
    """Exchange `count` messages and print how long each took from its first write to its last answer.

    When only the last message is answered, ROUNDS series of them are each timed as a whole, after an exchange that ends the
    peer's quick ACKs; without that exchange nothing would be held back.
    """
    with socket.create_connection((address, int(port)), timeout=60) as connection:
        client = Talk(connection)
        if pattern == "nodelay":
            client.option(socket.TCP_NODELAY, 1)
        each = 1
        if pattern == "write-write-write":
            each = int(count)
            client.one_write()
            times = [_timed(lambda: client.never_waiting(each)) for _ in range(ROUNDS)]
        else:
            times = [_timed(client.patterns[pattern]) for _ in range(int(count))]
    print(json.dumps({"pattern": pattern, "each": each, "times_ns": times}))


def _timed(what: Callable[[], None]) -> int:
    began = time.monotonic_ns()
    what()
    return time.monotonic_ns() - began


def main(verb: str, *words: str) -> None:
    """Run `serve` or `talk`."""
    verbs: dict[str, Callable[..., None]] = {"serve": serve, "talk": talk}
    verbs[verb](*words)


if __name__ == "__main__":
    main(*sys.argv[1:])
