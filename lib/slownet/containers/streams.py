"""Streams of bytes that are read once, forwards: counted, digested and decompressed on the way."""

from __future__ import annotations

import bz2
import contextlib
import hashlib
import lzma
import shutil
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

from slownet.lab.build import cache
from slownet.lab.run import container_shares
from slownet.model.errors import ImageError

CHUNK = 1 << 18
MOST_UNPACKED = 1 << 36
"""Bytes of an archive or a layer when it is decompressed; the largest images of machine learning have a quarter of that."""
MOST_MEMORY = 1 << 27
"""Bytes that a decompressor may take for its window: twice as many as ``xz -9``, as many as ``zstd`` does unless asked."""
TOO_MUCH_MEMORY = ("Memory usage limit exceeded", "too much memory", "larger than maximum")
"""The messages of lzma and of the program zstd for that."""
LONGEST = 1000
"""Bytes of a program's own error that are shown."""
GZIP = zlib.MAX_WBITS | 16
ALGORITHMS = ("sha256", "sha512")
"""The registered algorithms of OCI's digests."""

Chunks = Iterator[bytes]


class Readable(Protocol):
    """The interface of a stream's source."""

    def read(self, size: int, /) -> bytes:
        """Return at most that many bytes; none at the end."""


def digest(data: bytes, algorithm: str = "sha256") -> str:
    """Return the digest of some bytes, as ``sha256:...``."""
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def algorithm(text: str, where: str) -> str:
    """Return the algorithm of a digest. Raises ImageError if it is unknown."""
    name, _, digits = text.partition(":")
    if name not in ALGORITHMS or not digits or set(digits) - set("0123456789abcdef"):
        raise ImageError(f"'{text}' is not a digest (sha256:...)", where=where)
    return name


class Digested:
    """An iterator over the bytes of another that counts and digests them.

    chunks: where they come from.
    expected: the digest that they should have; empty: not known.
    size: how many there should be; None: not known.
    where: what the line of an error names.
    """

    def __init__(self, chunks: Chunks, expected: str, size: int | None, where: str) -> None:
        self._chunks, self._expected, self._expected_size, self._where = chunks, expected, size, where
        self._name = algorithm(expected, where) if expected else "sha256"
        self._hash = hashlib.new(self._name)
        self.size = 0

    def __iter__(self) -> Chunks:
        return self

    def __next__(self) -> bytes:
        data = next(self._chunks)
        self._hash.update(data)
        self.size += len(data)
        return data

    @property
    def digest(self) -> str:
        """The digest of what was read so far."""
        return f"{self._name}:{self._hash.hexdigest()}"

    def finish(self) -> None:
        """Read the rest. Raises ImageError if there was more or less than expected, or something else."""
        for _ in self:
            pass
        if self._expected_size is not None and self.size != self._expected_size:
            how = "truncated" if self.size < self._expected_size else "too long"
            raise ImageError(f"{self._where} is {how}: {self.size} bytes instead of {self._expected_size}")
        if self._expected and self.digest != self._expected:
            raise ImageError(
                f"{self._where} has the digest {self.digest} instead of {self._expected}", fix="fetch or save it again"
            )


class Forward:
    """A file for `tarfile` that can be read and sought forwards only."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._buffer = memoryview(b"")
        self._position = 0

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def seek(self, position: int) -> int:
        """Skip bytes; stops at the end, like a file that is read there."""
        while self._position < position and self._take(position - self._position):
            pass
        return self._position

    def read(self, size: int) -> bytes:
        """Return that many bytes, or fewer at the end."""
        parts, missing = [], size
        while missing and (part := self._take(missing)):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _take(self, most: int) -> memoryview:
        while not self._buffer:
            data = next(self._chunks, None)
            if data is None:
                break
            self._buffer = memoryview(data)
        taken, self._buffer = self._buffer[:most], self._buffer[most:]
        self._position += len(taken)
        return taken


def chunks(file: Readable) -> Chunks:
    """Yield the bytes of a file."""
    while data := file.read(CHUNK):
        yield data


def compression(start: bytes) -> str:
    """Return how a stream that begins so is compressed: ``gzip``, ``zstd``, ``xz``, ``bzip2`` or nothing."""
    signs = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
    return next((name for sign, name in signs.items() if start.startswith(sign)), "")


def room() -> int:
    """Return how many bytes of an image there is room for: nine tenths of the free disk, and no more than `MOST_UNPACKED`."""
    return min(MOST_UNPACKED, shutil.disk_usage(cache.there(container_shares.root())).free // 10 * 9)


def decompressed(stored: Chunks, where: str, most: int | None = None) -> Chunks:
    """Yield what a stream contains, whichever way it is compressed, in pieces of at most `CHUNK` bytes unless it is not.

    Raises ImageError if it is damaged, has no end, needs more than `MOST_MEMORY`, or contains more than `most` bytes: `room`.
    """
    start = b""
    for data in stored:
        start += data
        if len(start) >= 6:
            break
    kind = compression(start)
    whole = _joined(start, stored)
    if not kind:
        yield from whole
        return
    kinds: dict[str, Callable[[Chunks], Chunks]] = {
        "gzip": lambda source: _unpacked(source, _Gzip),
        "xz": lambda source: _unpacked(source, lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY)),
        "bzip2": lambda source: _unpacked(source, bz2.BZ2Decompressor),
        "zstd": _by_program,
    }
    try:
        yield from _at_most(kinds[kind](whole), room() if most is None else most, where)
    except (zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        if any(sign in str(error) for sign in TOO_MUCH_MEMORY):
            what = f"{where} takes more than {MOST_MEMORY >> 20} MiB of memory to decompress ({kind})"
            raise ImageError(what, fix="compress it with a smaller window, as programs do by default") from error
        raise ImageError(f"{where} is truncated or damaged ({kind}: {error})", fix="fetch or save it again") from error


def _at_most(unpacked: Chunks, most: int, where: str) -> Chunks:
    size = 0
    for data in unpacked:
        size += len(data)
        if size > most:
            what = f"{where} contains more than {most >> 20} MiB, too much for this machine's memory"
            fix = "free space, or set XDG_CACHE_HOME to a folder on another disk"
            if most >= MOST_UNPACKED:
                what, fix = f"{where} contains more than {most >> 30} GiB", "so large an image is not added: leave files out"
            raise ImageError(what, fix=fix)
        yield data


def _joined(start: bytes, rest: Chunks) -> Chunks:
    if start:
        yield start
    yield from rest


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._machine = zlib.decompressobj(GZIP)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._machine.eof

    @property
    def unused_data(self) -> bytes:
        return self._machine.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        out = self._machine.decompress(self._machine.unconsumed_tail + data, max_length)
        # With as much as was asked for, more may wait inside even if all input is taken.
        self.needs_input = not self._machine.unconsumed_tail and len(out) < max_length
        return out


def _unpacked(stored: Chunks, make: Callable[[], _Decompressor]) -> Chunks:
    """Decompress one or more streams behind each other, as gzip, xz and bzip2 do; zeros after the last are padding.

    A few bytes can contain gigabytes, so that not even a piece of the input is decompressed at once.
    """
    machine: _Decompressor | None = None
    for data in stored:
        while data := data if machine else data.lstrip(b"\0"):
            machine = machine or make()
            if out := machine.decompress(data, CHUNK):
                yield out
            while not machine.eof and not machine.needs_input:
                if out := machine.decompress(b"", CHUNK):
                    yield out
            if not machine.eof:
                break
            data, machine = machine.unused_data, None
    if machine:
        raise EOFError("it ends too early")


def _by_program(stored: Chunks) -> Chunks:
    """Decompress with the program zstd, fed by a thread."""
    cache.need_programs({"zstd": "zstd"}, "a layer compressed with zstd")
    failures: list[BaseException] = []
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        pipe = subprocess.PIPE
        process = stack.enter_context(
            cache.start(["zstd", "-dc", f"--memory={MOST_MEMORY >> 20}MiB"], stdin=pipe, stdout=pipe, stderr=errors)
        )
        assert process.stdin
        assert process.stdout
        feeder = threading.Thread(target=_feed, args=(process.stdin, stored, failures), daemon=True)
        feeder.start()
        stack.push(lambda *error: _end(process, feeder))
        yield from chunks(stack.enter_context(process.stdout))
        feeder.join()
        if failures:
            raise failures[0]
        if process.wait():
            errors.seek(0)
            raise EOFError(errors.read(LONGEST).decode(errors="replace").strip())


def _end(process: subprocess.Popen[bytes], feeder: threading.Thread) -> None:
    """End the program first if it was not read to its end: the thread that feeds it then ends too."""
    process.kill()
    feeder.join()


def _feed(pipe: BinaryIO, source: Chunks, failures: list[BaseException]) -> None:
    try:
        with pipe, contextlib.suppress(BrokenPipeError):  # the program found an error, and says which
            for data in source:
                pipe.write(data)
    except BaseException as error:  # to be raised by the thread that waits
        failures.append(error)
