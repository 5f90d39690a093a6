"""Contents of packets by tshark, if it is installed: SQL, paths, commands, names. No application's protocol is parsed here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from threading import Thread
from typing import BinaryIO

from slownet.lab.run.outbox import RefusedError
from slownet.links.packets.capture_file import MOST_BYTES
from slownet.model.control_characters import visible
from slownet.waits.packets import Packet
from slownet.waits.trace import HostCapture

MISSING = "tshark is not installed, so sizes and times only: apt install tshark"
LARGE = 4 << 20
"""Bytes of a capture that is dissected while the account is made, on another processor."""
LARGEST = 64 << 20
"""Bytes of a capture that is still dissected: tshark reads some 5 MB in a second."""
DEADLINE_S = 120.0
LONGEST = 200
"""Characters of a message that are kept."""
_FIELDS = ("frame.number", "_ws.col.Protocol", "_ws.col.Info", "mysql.query", "pgsql.query")
_LETTERS = re.compile(r"(?:[<>](?:\w(?:/\w)*)?)?")
"""Messages that only state PostgreSQL's letter for their kind: "<d" for copied data, ">" for a question about TLS."""
_ESCAPED = re.compile(r"\\[nt]")
_TRANSPORT = {"TCP", "UDP", "QUIC", "TLSv1", "TLSv1.2", "TLSv1.3", "SSL"}
"""Protocols whose steps are described by their cause alone."""


class Messages:
    """The messages of packets as text. A capture is dissected when it is first needed, which takes a quarter of a second.

    A packet is in the captures of both its ends. That one is dissected which has more packets: a server between a client and a
    database has the messages of both.

    Parameters
    ----------
    captures : sequence of HostCapture
        Those of the interfaces.
    keys : bytes
        A key log's content, to read TLS.

    Attributes
    ----------
    notes : list of str
        What cannot be read, a line each. They are complete when all messages were asked for.
    """

    def __init__(self, captures: Sequence[HostCapture], keys: bytes = b"") -> None:
        self._captures, self._keys = {each.name: each for each in captures}, keys
        self._said: dict[str, dict[int, str]] = {}
        self._sizes: dict[str, int] = {}
        self._program = shutil.which("tshark")
        self.notes = [] if self._program else [MISSING]
        self._ahead: tuple[str, Thread] | None = None
        if self._program and self._captures and (os.cpu_count() or 1) > 1:
            self._start(max(self._captures, key=self._size))

    def _start(self, name: str) -> None:
        """Dissect the largest capture meanwhile, unless that takes no time: it is the one that is asked for first."""
        if self._size(name) >= LARGE:
            thread = Thread(target=lambda: self._said.setdefault(name, self._of(self._captures[name])), daemon=True)
            thread.start()
            self._ahead = name, thread

    def __call__(self, packet: Packet) -> str:
        """Return a packet's message as text; empty if it is not known."""
        if not self._program or not packet.length:
            return ""
        seen = {packet.interface: packet.frame, packet.interface_arrived: packet.frame_arrived}
        named = [name for name, number in seen.items() if number and name in self._captures]
        if not named:
            return ""
        if self._ahead and self._ahead[0] in named:
            self._ahead[1].join()
            self._ahead = None
        known = [name for name in named if name in self._said]
        name = known[0] if known else max(named, key=self._size)
        if name not in self._said:
            self._said[name] = self._of(self._captures[name])
        return self._said[name].get(seen[name], "")

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            try:
                _, self._sizes[name], _ = self._captures[name].folder.version(self._captures[name].main, MOST_BYTES)
            except (RefusedError, OSError):
                self._sizes[name] = 0
        return self._sizes[name]

    def _of(self, capture: HostCapture) -> dict[int, str]:
        """Return the messages of a capture by frame. If it cannot be read, a note gives the reason."""
        assert self._program
        try:
            with capture.folder.open(capture.main, LARGEST) as file:
                return dict(_dissect(self._program, file, self._keys))
        except RefusedError as error:
            self.notes.append(f"{capture.name} is not dissected ({error}): sizes and times only")
        except (OSError, subprocess.SubprocessError) as error:
            self.notes.append(f"tshark does not read {capture.name} ({type(error).__name__}): sizes and times only")
        return {}


def _dissect(program: str, capture: BinaryIO, keys: bytes) -> Iterable[tuple[int, str]]:
    """Yield a frame's number and what it says. tshark gets open files, not the names of what a lab has written."""
    words = [program, "-n", "-r", "-", "-T", "fields", "-E", "occurrence=f"]
    words += [word for name in _FIELDS for word in ("-e", name)]
    environment = {**os.environ, "LC_ALL": "C"}
    with tempfile.NamedTemporaryFile(prefix="slownet-keys-") as log:
        log.write(keys)
        log.flush()
        words += ["-o", f"tls.keylog_file:{log.name}"] if keys else []
        done = subprocess.run(
            words, stdin=capture, capture_output=True, timeout=DEADLINE_S, env=environment, check=False
        )  # a capture that is cut off gives a status, and the frames before
    for line in done.stdout.decode(errors="replace").splitlines():
        number, protocol, info, *queries = [*line.split("\t"), "", "", ""][: len(_FIELDS)]
        text = _line(next(filter(None, queries), "") or info)
        if number.isdecimal() and protocol not in _TRANSPORT and not _LETTERS.fullmatch(text):
            yield int(number), text


def _line(text: str) -> str:
    if "\\" in text:
        text = _ESCAPED.sub(" ", text)
    text = " ".join(text.split())
    return (text if text.isprintable() else visible(text))[:LONGEST]
