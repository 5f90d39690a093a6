"""What packets say, by tshark, if it is installed: SQL, paths, commands, names. No application's protocol is parsed here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from slownet.lab.run.outbox import RefusedError
from slownet.model.control_characters import visible
from slownet.waits.packets import Packet
from slownet.waits.trace import HostCapture

MISSING = "tshark is not installed, so sizes and times only: apt install tshark"
LARGEST = 64 << 20
"""Bytes of a capture that is still dissected: tshark reads some 5 MB in a second."""
DEADLINE_S = 120.0
LONGEST = 200
"""Characters of a message that are kept."""
_FIELDS = ("frame.number", "_ws.col.Protocol", "_ws.col.Info", "mysql.query", "pgsql.query")
_TRANSPORT = {"TCP", "UDP", "QUIC", "TLSv1", "TLSv1.2", "TLSv1.3", "SSL"}
"""Protocols of which a step's cause says enough."""


def asked(captures: Sequence[HostCapture], keys: bytes = b"") -> tuple[Callable[[Packet], str], str]:
    """Return what tells a packet's message, and a note; without tshark the messages are empty.

    Parameters
    ----------
    captures : sequence of HostCapture
        Those of the interfaces.
    keys : bytes
        The content of a key log, with which TLS is read.
    """
    program = shutil.which("tshark")
    if program is None:
        return (lambda packet: ""), MISSING
    said: dict[tuple[str, int], str] = {}
    note = ""
    for each in captures:
        try:
            with each.folder.open(each.main, LARGEST) as file:
                said |= {(each.name, number): text for number, text in _dissect(program, file, keys)}
        except RefusedError as error:
            note = f"{each.name} is not dissected ({error}): sizes and times only"
        except (OSError, subprocess.SubprocessError) as error:
            note = f"tshark does not read {each.name} ({type(error).__name__}): sizes and times only"

    def message(packet: Packet) -> str:
        sent = said.get((packet.interface, packet.frame), "") if packet.frame else ""
        return sent or said.get((packet.interface_arrived, packet.frame_arrived), "")

    return message, note


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
        if number.isdecimal() and protocol not in _TRANSPORT:
            text = next(filter(None, queries), "") or info
            yield int(number), visible(re.sub(r"(?:\\[nt]|\s)+", " ", text).strip())[:LONGEST]
