"""Reads one QUIC connection, with what HTTP/3 sends on its first stream, from a capture and its key log (RFC 9000, 9001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.links.packets.capture import Datagram
from slownet.links.packets.seen import HELLO_RETRY, Seen, flights, messages, sizes
from slownet.links.packets.tls import (
    CERTIFICATE,
    CLIENT_HELLO,
    ENCRYPTED_EXTENSIONS,
    SERVER_DATA,
    SERVER_HANDSHAKE,
    SERVER_HELLO,
    KeyLog,
    Stream,
)
from slownet.model.errors import ToolError
from slownet.model.protocol_names import QUIC, TLS13, Traits

# The frames in a QUIC packet's payload: those that carry data, and the lengths of all others (RFC 9000, 19).

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
        fix = "the program uses an extension of QUIC: switch it off, or use another program"
        raise ToolError(f"a QUIC frame of type 0x{kind:x}, which RFC 9000 does not define", fix=fix)


VERSION_1 = 1
FIXED_BIT = 0x40
"""Set in each packet's first byte, unless both ends have agreed to set it at random (RFC 9287), as ngtcp2 does."""
INITIAL, HANDSHAKE, ONE_RTT = "Initial", "Handshake", "1-RTT"
REQUEST = 0
"""The client's first bidirectional stream: that of its first request (RFC 9000, 2.1)."""


def read(datagrams: Sequence[Datagram], keys: KeyLog) -> Seen:
    """Read the connection that the first datagram opens.

    datagrams: as captured at the client.
    keys: the client's secrets.
    returns: the connection's protocols and times.
    Raises ToolError: it is not QUIC version 1, ends early, has no answer, or cannot be read without keys.
    """
    return with_streams(datagrams, keys)[0]


def with_streams(datagrams: Sequence[Datagram], keys: KeyLog) -> tuple[Seen, list[set[int]]]:
    """Return what `read` does, and for each datagram of the server the streams that it has data of, or the end.

    Parameters and errors are those of `read`.
    """
    found = _Reader(keys)
    for each in datagrams:
        found.take(each)
    if not found.answer.data:
        raise ToolError("the capture has no answer of the server")
    began, first = datagrams[0].ns, found.answer.arrived(0)
    traits = Traits(QUIC, TLS13, found.resumed, found.early, False, found.hello_retry, found.retry)
    hidden = found.hidden
    size = sum(len(message) for _, message in (*messages(bytes(found.crypto[False, INITIAL].data)), *hidden))
    seen = Seen(
        traits, found.application, sizes(hidden, CERTIFICATE), size, began, first,
        found.answer.arrived(len(found.answer.data) - 1), len(found.answer.data),
        flights([(each.ns, each.outward) for each in datagrams], first),
    )  # fmt: skip
    return seen, found.streams


class _Reader:
    """The state of a connection from the datagrams so far."""

    def __init__(self, keys: KeyLog) -> None:
        self.keys = keys
        self.retry = False
        self.crypto = {(outward, space): Stream() for outward in (True, False) for space in (INITIAL, HANDSHAKE)}
        self.answer = Stream()
        self.streams: list[set[int]] = []
        self._initial: dict[bool, Any] = {}
        self._contexts: dict[str, object] = {}
        self._highest: dict[tuple[bool, str], int] = {}
        self._client_id = b""

    def take(self, datagram: Datagram) -> None:
        """Read all packets of a datagram."""
        self.streams += [] if datagram.outward else [set()]
        for packet, header, offset in self._packets(datagram):
            name = header.packet_type.name
            if name == "RETRY" and not datagram.outward:
                self.retry = True
                self._set_initial(header.source_cid)
            elif name == "INITIAL":
                self._initials(datagram, packet, header, offset)
            elif name in ("HANDSHAKE", "ONE_RTT") and not datagram.outward:
                self._protected(datagram, packet, HANDSHAKE if name == "HANDSHAKE" else ONE_RTT, offset)

    def _packets(self, datagram: Datagram) -> Iterator[tuple[bytes, Any, int]]:
        """Yield each packet with its header, and where its packet number is."""
        from aioquic.buffer import Buffer, BufferReadError
        from aioquic.quic.packet import pull_quic_header

        rest = datagram.data
        while rest:
            buffer = Buffer(data=bytes([rest[0] | FIXED_BIT]) + rest[1:])
            try:
                # The server's packets name the client's connection id; what the client sends later on is not read.
                header = pull_quic_header(buffer, len(self._client_id) if not datagram.outward else 0)
            except (ValueError, BufferReadError):
                return
            if header.version not in (None, VERSION_1):
                raise ToolError(f"QUIC of version 0x{header.version:x}", fix="only version 1 can be read")
            yield rest[: header.packet_length], header, buffer.tell()
            rest = rest[header.packet_length :]

    def _set_initial(self, destination: bytes) -> None:
        from aioquic.quic.crypto import CryptoPair

        pair = CryptoPair()
        pair.setup_initial(cid=destination, is_client=True, version=VERSION_1)
        self._initial = {True: pair.send, False: pair.recv}

    def _initials(self, datagram: Datagram, packet: bytes, header: Any, offset: int) -> None:
        if datagram.outward:
            self._client_id = header.source_cid
        if not self._initial:
            self._set_initial(header.destination_cid)
        self._crypto(datagram, INITIAL, self._open(self._initial[datagram.outward], datagram.outward, INITIAL, packet, offset))

    def _protected(self, datagram: Datagram, packet: bytes, space: str, offset: int) -> None:
        if space not in self._contexts:
            self._contexts[space] = self._context(SERVER_HANDSHAKE if space == HANDSHAKE else SERVER_DATA)
        payload = self._open(self._contexts[space], False, space, packet, offset)
        if space == HANDSHAKE:
            self._crypto(datagram, space, payload)
            return
        for frame in frames(payload):
            if isinstance(frame, Data):
                self.streams[-1].add(frame.stream)
            if isinstance(frame, Data) and frame.stream == REQUEST:
                self.answer.add(frame.offset, frame.data, datagram.ns)

    def _context(self, label: str) -> Any:
        from aioquic.quic.crypto import CryptoContext
        from aioquic.tls import CipherSuite

        context = CryptoContext()
        suite = CipherSuite(self._server_hello.cipher_suite)
        context.setup(cipher_suite=suite, secret=self.keys.need(self._random, label), version=VERSION_1)
        return context

    def _open(self, context: Any, outward: bool, space: str, packet: bytes, offset: int) -> bytes:
        from aioquic.quic.crypto import CryptoError

        highest = self._highest.get((outward, space), -1)
        try:
            _, payload, number, _ = context.decrypt_packet(packet, offset, highest + 1)
        except CryptoError:
            raise ToolError("a packet cannot be decrypted by the key log: was the capture cut short?") from None
        self._highest[outward, space] = max(highest, number)
        return bytes(payload)

    def _crypto(self, datagram: Datagram, space: str, payload: bytes) -> None:
        for frame in frames(payload):
            if isinstance(frame, Crypto):
                self.crypto[datagram.outward, space].add(frame.offset, frame.data, datagram.ns)

    @property
    def _random(self) -> bytes:
        hellos = _of(self.crypto[True, INITIAL], CLIENT_HELLO)
        return hellos[0][6:38]

    @property
    def _server_hello(self) -> Any:
        """The ServerHello that is not a HelloRetryRequest."""
        from aioquic.buffer import Buffer
        from aioquic.tls import pull_server_hello

        return pull_server_hello(Buffer(data=_of(self.crypto[False, INITIAL], SERVER_HELLO)[-1]))

    @property
    def hello_retry(self) -> bool:
        """True if the first ServerHello is a HelloRetryRequest."""
        return _of(self.crypto[False, INITIAL], SERVER_HELLO)[0][6:38] == HELLO_RETRY

    @property
    def hidden(self) -> list[tuple[int, bytes]]:
        """The server's encrypted handshake messages."""
        return messages(bytes(self.crypto[False, HANDSHAKE].data))

    @property
    def resumed(self) -> bool:
        """True if the server accepted a PSK."""
        return self._server_hello.pre_shared_key is not None

    @property
    def _extensions(self) -> Any:
        from aioquic.buffer import Buffer
        from aioquic.tls import pull_encrypted_extensions

        return pull_encrypted_extensions(Buffer(data=_of(self.crypto[False, HANDSHAKE], ENCRYPTED_EXTENSIONS)[0]))

    @property
    def early(self) -> bool:
        """True if the server accepted early data."""
        return bool(self._extensions.early_data)

    @property
    def application(self) -> str:
        """The protocol that ALPN chose."""
        return self._extensions.alpn_protocol or ""


def _of(found: Stream, kind: int) -> list[bytes]:
    """Return the messages of a type. Raises ToolError if none exists."""
    those = [message for each, message in messages(bytes(found.data)) if each == kind]
    if not those:
        raise ToolError("the handshake is not whole in the capture")
    return those
