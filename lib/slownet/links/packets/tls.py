"""Reads HTTP over TCP, with TLS 1.2, TLS 1.3 or without, from a capture, and with TLS 1.3 its key log (RFC 5246, RFC 8446).

In TLS 1.2 the types of records are in clear text, so what is needed of them can be seen without keys.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slownet.links.packets.capture import SYN, Segment
from slownet.links.packets.seen import HELLO_RETRY, VERSIONS, Seen, flights, messages, sizes
from slownet.model.errors import ToolError
from slownet.model.protocol_names import PLAIN, TCP, TLS12, TLS13, Traits

SERVER_HANDSHAKE, SERVER_DATA = "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"


@dataclass(frozen=True)
class KeyLog:
    """The secrets of a key log, by the random of the ClientHello and the secret's label."""

    secrets: Mapping[tuple[bytes, str], bytes]

    def need(self, random: bytes, label: str) -> bytes:
        """Return a secret. Raises ToolError if the log does not have it."""
        found = self.secrets.get((random, label))
        if found is None:
            what = f"the capture cannot be read without keys: no {label} of its connection"
            raise ToolError(what, "in the key log", "does the client write SSLKEYLOGFILE?")
        return found


def parse(text: str) -> KeyLog:
    """Parse a key log: lines ``LABEL RANDOM SECRET``, the last two hexadecimal; other lines are ignored."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and not line.startswith("#"):
            try:
                found[bytes.fromhex(words[1]), words[0]] = bytes.fromhex(words[2])
            except ValueError:
                continue
    return KeyLog(found)


class Stream:
    """The bytes of one direction, as far as they are known without a gap."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._ends: list[int] = []
        self._times: list[int] = []
        self._waiting: dict[int, bytes] = {}

    def add(self, offset: int, data: bytes, ns: int) -> None:
        """Add a piece that was sent at an offset and arrived at a time; what is known already is left out."""
        if len(data) > len(self._waiting.get(offset, b"")):
            self._waiting[offset] = data
        for at in sorted(self._waiting):
            if at > len(self.data):
                break
            self.data += self._waiting.pop(at)[len(self.data) - at :]
        if not self._ends or len(self.data) > self._ends[-1]:
            self._ends.append(len(self.data))
            self._times.append(ns)

    def arrived(self, position: int) -> int:
        """Return the time, in ns, from which the byte at a position and all before it were known."""
        return self._times[bisect_left(self._ends, position + 1)]


def stream(segments: Iterable[Segment], outward: bool) -> Stream:
    """Return what one end of a TCP connection sent, also with its SYN (RFC 7413)."""
    found = Stream()
    for each in segments:
        if each.outward == outward and each.data:
            found.add(each.sequence + bool(each.flags & SYN), each.data, each.ns)
    return found


CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS, CERTIFICATE, FINISHED = 1, 2, 8, 11, 20
HEADER = 5
"""Bytes before a record's content: its type, version and length."""
TRUNCATED = "the handshake is not whole in the capture"


@dataclass(frozen=True)
class Record:
    """A TLS record: its type, its content, and where it begins and ends in the stream."""

    kind: int
    content: bytes
    begin: int
    end: int
    header: bytes


def read(segments: Sequence[Segment], keys: KeyLog) -> Seen:
    """Read one connection.

    segments: the connection, as captured at the client.
    keys: the client's secrets; only TLS 1.3 needs them.
    returns: the connection's protocols and times.
    Raises ToolError: the capture ends early, has no answer, or cannot be read without keys.
    """
    return with_pieces(segments, keys)[0]


def with_pieces(segments: Sequence[Segment], keys: KeyLog) -> tuple[Seen, list[Piece]]:
    """Return what `read` does, and what the server sent after the handshake; parameters and errors as for `read`."""
    client, server = stream(segments, True), stream(segments, False)
    found = _Reader(client, server, keys).found() if client.data[:1] == bytes([HANDSHAKE]) else _plain(server)
    if not found.answers:
        raise ToolError("the capture has no answer of the server")
    began = segments[0].ns
    first, last = server.arrived(found.answers[0].begin), server.arrived(found.answers[-1].end - 1)
    opened = next((each for each in segments if not each.outward and each.flags & SYN), None)
    traits = Traits(TCP, found.security, found.resumed, found.early, bool(opened and opened.acknowledged > 0), found.retried)
    count = flights([(each.ns, each.outward) for each in segments], first)
    answer = sum(len(each.content) for each in found.answers)
    seen = Seen(traits, found.application, found.certificate, found.handshake, began, first, last, answer, count)
    return seen, found.answers


@dataclass(frozen=True)
class Piece:
    """The content of a TLS record of the server after the handshake, and its range in the server's stream.

    It is encrypted in records of TLS 1.2. Without TLS all is one piece.
    """

    begin: int
    end: int
    content: bytes


@dataclass
class _Found:
    security: str
    answers: list[Piece]
    resumed: bool = False
    early: bool = False
    retried: bool = False
    application: str = ""
    certificate: int = 0
    handshake: int = 0


def _plain(server: Stream) -> _Found:
    return _Found(PLAIN, [Piece(0, len(server.data), bytes(server.data))] if server.data else [])


class _Reader:
    """The two directions of a connection with TLS."""

    def __init__(self, client: Stream, server: Stream, keys: KeyLog) -> None:
        self.keys = keys
        self.ours, self.theirs = list(_records(client.data)), list(_records(server.data))

    @cached_property
    def client_hello(self) -> Any:
        """The first ClientHello."""
        from aioquic.buffer import Buffer
        from aioquic.tls import pull_client_hello

        first = b"".join(each.content for each in self.ours if each.kind == HANDSHAKE)
        return pull_client_hello(Buffer(data=_one(messages(first), CLIENT_HELLO)))

    @cached_property
    def open_messages(self) -> list[tuple[int, bytes]]:
        """The server's handshake messages in clear text: before TLS 1.3 all up to its ChangeCipherSpec."""
        clear = b""
        for each in self.theirs:
            if each.kind == DATA or (each.kind == CHANGE_CIPHER_SPEC and not self._retried(clear)):
                break
            clear += each.content if each.kind == HANDSHAKE else b""
        return messages(clear)

    @staticmethod
    def _retried(clear: bytes) -> bool:
        """Return whether all that came so far is a HelloRetryRequest, after which a server may send a ChangeCipherSpec."""
        hellos = [message for kind, message in messages(clear) if kind == SERVER_HELLO]
        return len(hellos) == 1 and hellos[0][6:38] == HELLO_RETRY

    def found(self) -> _Found:
        from aioquic.buffer import Buffer
        from aioquic.tls import pull_server_hello

        hellos = [message for kind, message in self.open_messages if kind == SERVER_HELLO]
        retried = len(hellos) > 1
        if not hellos:
            raise ToolError(TRUNCATED)
        hello = pull_server_hello(Buffer(data=hellos[-1]))
        version = VERSIONS.get(hello.supported_version or 0x0303, "")
        if version == TLS13:
            return self._tls13(hello, retried)
        data = [Piece(each.begin, each.end, each.content) for each in self.theirs if each.kind == DATA]
        certificate = sizes(self.open_messages, CERTIFICATE)
        whole = sum(len(message) for _, message in self.open_messages)
        return _Found(TLS12, data, resumed=not certificate, certificate=certificate, handshake=whole)

    def _tls13(self, hello: Any, retried: bool) -> _Found:
        from aioquic.buffer import Buffer
        from aioquic.tls import pull_encrypted_extensions

        opened = Opener(hello.cipher_suite, self.keys.need(self.client_hello.random, SERVER_HANDSHAKE))
        inside, answers, finished = b"", list[Piece](), False
        for each in self.theirs:
            if each.kind != DATA:
                continue
            kind, content = opened.open(each)
            if kind == DATA:
                answers.append(Piece(each.begin, each.end, content))
            elif kind == HANDSHAKE and not finished:
                inside += content
                if any(message == FINISHED for message, _ in messages(inside)):
                    finished = True
                    opened = Opener(hello.cipher_suite, self.keys.need(self.client_hello.random, SERVER_DATA))
        hidden = messages(inside)
        extensions = pull_encrypted_extensions(Buffer(data=_one(hidden, ENCRYPTED_EXTENSIONS)))
        whole = sum(len(message) for _, message in (*self.open_messages, *hidden))
        return _Found(
            TLS13, answers, hello.pre_shared_key is not None, extensions.early_data, retried,
            extensions.alpn_protocol or "", sizes(hidden, CERTIFICATE), whole,
        )  # fmt: skip


class Opener:
    """Decrypts the records of one direction, in order, by a traffic secret of TLS 1.3 (RFC 8446, 5.2, 7.3)."""

    def __init__(self, suite: int, secret: bytes) -> None:
        from aioquic.tls import CipherSuite, cipher_suite_hash, hkdf_expand_label
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

        algorithm = cipher_suite_hash(CipherSuite(suite))
        size = 16 if suite == CipherSuite.AES_128_GCM_SHA256 else 32
        key = hkdf_expand_label(algorithm, secret, b"key", b"", size)
        self._cipher = (ChaCha20Poly1305 if suite == CipherSuite.CHACHA20_POLY1305_SHA256 else AESGCM)(key)
        self._iv = int.from_bytes(hkdf_expand_label(algorithm, secret, b"iv", b"", 12))
        self._number = 0

    def open(self, record: Record) -> tuple[int, bytes]:
        """Return the type and content of the next record. Raises ToolError if the secret is not its own."""
        from cryptography.exceptions import InvalidTag

        nonce = (self._iv ^ self._number).to_bytes(12)
        self._number += 1
        try:
            inner = self._cipher.decrypt(nonce, record.content, record.header).rstrip(b"\0")
        except InvalidTag:
            raise ToolError("a record cannot be decrypted by the key log: was the capture cut short?") from None
        return inner[-1], inner[:-1]


def _records(data: bytes | bytearray) -> Iterator[Record]:
    """Yield the whole records of a stream."""
    at = 0
    while at + HEADER <= len(data):
        end = at + HEADER + int.from_bytes(data[at + 3 : at + HEADER])
        if end > len(data):
            break
        yield Record(data[at], bytes(data[at + HEADER : end]), at, end, bytes(data[at : at + HEADER]))
        at = end


def _one(found: Sequence[tuple[int, bytes]], kind: int) -> bytes:
    """Return the first message of a type. Raises ToolError."""
    message = next((message for each, message in found if each == kind), None)
    if message is None:
        raise ToolError(TRUNCATED)
    return message
