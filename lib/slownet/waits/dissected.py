"""Contents of packets by tshark, if it is installed: SQL, paths, commands, names. No application's protocol is parsed here.

They are not kept beside the captures. The account of a WordPress page, of 2,500 frames in the capture that is dissected, takes
0.5 s of CPU in all, so there is little to save; and what a kept account depends on, besides the captures, are this package's
code and tshark's version and preferences: a wrong guess would show an old account as a new one.
"""

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
LONG = 1 << 20
"""Bytes: in longer captures tshark waits for no header's end, as it goes through all segments of an open header for each one.
For 25,000 segments on port 80 that never end one, this takes tshark 4.0 12 s of CPU, and four times that for twice as many."""
LONGEST = 200
"""Characters of a message that are kept."""
_FIELDS = ("frame.number", "_ws.col.Protocol", "_ws.col.Info", "mysql.query", "pgsql.query")
_LETTERS = re.compile(r"(?:[<>](?:\w(?:/\w)*)?)?")
"""Messages that only state PostgreSQL's letter for their kind: "<d" for copied data, ">" for a question about TLS."""
_STREAM = re.compile(r"\bSTREAM\((\d{1,19})\)")
REQUESTS = 4
"""QUIC's streams whose number it divides are of requests with their answers: a client's, of both directions (RFC 9000, 2.1)."""
_ESCAPED = re.compile(r"\\[nt]")
_OF_CAPTURE = re.compile(r"\[(?:Packet size limited during capture|\w*Unreassembled Packet[^]]*|Malformed Packet[^]]*)\]")
"""A remark of tshark on a packet that was not captured whole, as `--slownet-why` captures: not a part of its message."""
_GOES_ON = re.compile(r"Continuation(?: Data)?")
"""The text of a segment whose message began in another one: that of its question is more useful."""
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
        self._requests: dict[str, set[int]] = {}
        self._sizes: dict[str, int] = {}
        self._program = shutil.which("tshark")
        self.notes = [] if self._program else [MISSING]
        self._ahead: tuple[str, Thread] | None = None
        if self._program and self._captures and (os.cpu_count() or 1) > 1:
            self._start(max(self._captures, key=self._size))

    def _start(self, name: str) -> None:
        """Dissect the largest capture meanwhile, unless that takes no time: it is the one that is asked for first."""
        if self._size(name) >= LARGE:
            thread = Thread(target=lambda: self._dissected(name), daemon=True)
            thread.start()
            self._ahead = name, thread

    def __call__(self, packet: Packet) -> str:
        """Return a packet's message as text; empty if it is not known."""
        if (place := self._place(packet)) is None:
            return ""
        name, number = place
        return self._dissected(name).get(number, "")

    def is_of_request(self, packet: Packet) -> bool:
        """Return whether a packet of QUIC is known to carry a part of a request, or of its answer."""
        if (place := self._place(packet)) is None:
            return False
        name, number = place
        self._dissected(name)
        return number in self._requests[name]

    def _place(self, packet: Packet) -> tuple[str, int] | None:
        """Return the capture that is dissected for a packet, and its number there; None if it has none."""
        if not self._program or not packet.length:
            return None
        seen = {packet.interface: packet.frame, packet.interface_arrived: packet.frame_arrived}
        named = [name for name, number in seen.items() if number and name in self._captures]
        if not named:
            return None
        if self._ahead and self._ahead[0] in named:
            self._ahead[1].join()
            self._ahead = None
        known = [name for name in named if name in self._said]
        name = known[0] if known else max(named, key=self._size)
        return name, seen[name]

    def _dissected(self, name: str) -> dict[int, str]:
        if name not in self._said:
            found = self._of(self._captures[name])
            self._requests[name] = {number for number, (_, is_of_request) in found.items() if is_of_request}
            self._said[name] = {number: text for number, (text, _) in found.items() if text}
        return self._said[name]

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            try:
                _, self._sizes[name], _ = self._captures[name].folder.version(self._captures[name].main, MOST_BYTES)
            except (RefusedError, OSError):
                self._sizes[name] = 0
        return self._sizes[name]

    def _of(self, capture: HostCapture) -> dict[int, tuple[str, bool]]:
        """Return the messages of a capture by frame, and which are of QUIC's requests. If it cannot be read, that is noted."""
        assert self._program
        try:
            with capture.folder.open(capture.main, LARGEST) as file:
                return {number: (text, of) for number, text, of in _dissect(self._program, file, self._keys)}
        except RefusedError as error:
            self.notes.append(f"{capture.name} is not dissected ({error}): sizes and times only")
        except (OSError, subprocess.SubprocessError) as error:
            self.notes.append(f"tshark does not read {capture.name} ({type(error).__name__}): sizes and times only")
        return {}


def _dissect(program: str, capture: BinaryIO, keys: bytes) -> Iterable[tuple[int, str, bool]]:
    """Yield a frame's number, its message, and whether it is of a request of QUIC.

    tshark gets open files, not the names of what a lab has written.
    """
    words = [program, "-n", "-r", "-", "-T", "fields", "-E", "occurrence=f"]
    words += [word for name in _FIELDS for word in ("-e", name)]
    words += ["-o", "http.desegment_headers:FALSE"] if capture.seek(0, os.SEEK_END) >= LONG else []
    capture.seek(0)
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
        text = _line(_OF_CAPTURE.sub("", next(filter(None, queries), "") or info))
        if number.isdecimal():
            of_request = any(int(each) % REQUESTS == 0 for each in _STREAM.findall(info))
            says = "" if protocol in _TRANSPORT or _LETTERS.fullmatch(text) or _GOES_ON.fullmatch(text) else text
            if says or of_request:
                yield int(number), says, of_request


def _line(text: str) -> str:
    if "\\" in text:
        text = _ESCAPED.sub(" ", text)
    text = " ".join(text.split())
    return (text if text.isprintable() else visible(text))[:LONGEST]
