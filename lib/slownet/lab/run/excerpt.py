"""The beginning and the end of an output of any size, in memory of a fixed size."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

KEPT_BYTES = 1 << 20
"""Kept of the beginning, and as much of the end: what a program complains of first and last explains it."""
_TRACEBACK = re.compile(r"([ |+]*)(?:Exception Group )?Traceback \(most recent call last\):$")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?::|$)")
LINE_CHARACTERS = 500
"""Of a line that an error quotes."""
LOG_LINES = 12
TAIL_BYTES = 16384
"""Of a log that an error quotes: its last lines, and where they are looked for."""
_UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


class Excerpt:
    """Takes output piece by piece and keeps its first and last ``kept`` bytes; adding takes time linear in the output."""

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._first, self._last = bytearray(), bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self.size += len(data)
        room = self._kept - len(self._first)
        if room:
            self._first += data[:room]
            data = data[room:]
        self._last += data[-self._kept :]
        if len(self._last) > 2 * self._kept:  # not at every piece, which would copy the whole each time
            del self._last[: -self._kept]

    def __bool__(self) -> bool:
        return self.size > 0

    @property
    def omitted(self) -> int:
        """Number of bytes between the beginning and the end that are not kept."""
        return max(0, self.size - 2 * self._kept)

    def data(self) -> bytes:
        """Return the output; a line of its own between beginning and end shows how much is omitted: "... 480 MB more"."""
        last = bytes(self._last[-self._kept :])
        if not self.omitted:
            return bytes(self._first) + last
        return b"%b\n... %b more ...\n%b" % (bytes(self._first), _size(self.omitted).encode(), last)

    def text(self) -> str:
        """Return the output as text, with a replacement character for what is not UTF-8."""
        return self.data().decode(errors="replace")

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines that are not blank, without spaces around them, at most ``LINE_CHARACTERS`` of each."""
        end = bytes(self._last[-self._kept :] or self._first)
        lines = [line.strip() for line in end.decode(errors="replace").splitlines() if line.strip()]
        return [clipped(line) for line in lines[-count:]]

    def last_line(self, otherwise: str) -> str:
        """Return the last line that is not blank, as `last_lines` does; ``otherwise`` if none exists."""
        return (self.last_lines(1) or [otherwise])[0]

    def reason(self, otherwise: str) -> str:
        """Return why a program ended: the exception of its last traceback in one line, or else its last line."""
        return exception(bytes(self._last[-self._kept :] or self._first).decode(errors="replace")) or self.last_line(otherwise)


def exception(text: str) -> str:
    """Return kind and words of the exception whose traceback ends a text, in one line; empty if none exists.

    Its words may have several lines, and the last one is the least informative, such as pydantic's, or an assertion's diff.
    """
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if _TRACEBACK.match(line)]
    if not begins:
        return ""
    margin = _TRACEBACK.match(lines[begins[-1]])[1].replace("+", "|")  # type: ignore[index]  # of a group of exceptions
    block = [line.removeprefix(margin.rstrip()) for line in lines[begins[-1] + 1 :]]
    inner = [line[1:] if margin.strip() else line for line in block]
    said = next((number for number, line in enumerate(inner) if line.strip() and not line.startswith(" ")), None)
    if said is None or not _EXCEPTION.match(inner[said]):
        return ""
    return clipped(" ".join(" ".join(inner[said:]).split()))


@contextlib.contextmanager
def appended(log: Path) -> Iterator[Excerpt]:
    """Yield an excerpt of a program's output, and append it to a file at the end of the block, however that ends."""
    excerpt = Excerpt()
    try:
        yield excerpt
    finally:
        with log.open("ab") as file:
            file.write(excerpt.data())


def clipped(line: str, most: int = LINE_CHARACTERS) -> str:
    """Return a line that an error quotes, without the end of a very long one."""
    return line if len(line) <= most else f"{line[:most]}... ({_size(len(line) - most)} more)"


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}" if count < 1000 * unit else f"{count / unit:.0f} {name}"
    return f"{count} bytes"


def tail(path: Path, lines: int = LOG_LINES, start: int = 0) -> str:
    """Return the last lines of a log that are not blank, from a byte of it on; empty without a log."""
    try:
        with path.open("rb") as log:
            log.seek(max(start, os.fstat(log.fileno()).st_size - TAIL_BYTES))
            text = log.read(TAIL_BYTES).decode(errors="replace")
    except OSError:
        return ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])
