"""``strace``: when a program made the system calls that send and receive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.model.errors import ToolError

TRACED = ("sendto", "recvfrom", "setsockopt", "connect")
"""The calls with which PHP and Python use sockets and set TCP options."""

_LINE = re.compile(r"^(?:(\d{1,15})\s+)?(\d{1,15})\.(\d{1,9}) (.*)$")
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d{1,19}|\?)(?: (.*))?$")
_UNFINISHED = re.compile(r"^(\w+)\((.*?) *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")
_EVENT = re.compile(r"^(\+\+\+|---) .* (\+\+\+|---)$")  # an exit, a signal


@dataclass(frozen=True)
class Call:
    """One system call.

    Attributes
    ----------
    process : int
        The process id; 0 without ``-f``.
    ns : int
        When the call was entered, in ns since 1970, like the timestamps of a capture.
    name, arguments : str
        The call as strace prints it.
    result : int or None
        Its return value; None if it did not return.
    """

    process: int
    ns: int
    name: str
    arguments: str
    result: int | None

    @property
    def descriptor(self) -> int:
        """The file descriptor; -1 if the first argument is not one."""
        first = re.match(r"\d{1,9}(?!\d)", self.arguments)
        return int(first[0]) if first else -1


def traced(command: Sequence[str], output: Path, calls: Sequence[str] = TRACED) -> list[str]:
    """Return the command that runs ``command`` under strace, which writes to a file.

    Names of calls are not checked here; strace reports unknown ones.
    """
    options = ["-f", "--absolute-timestamps=format:unix,precision:ns", "-s", "16", "-e", f"trace={','.join(calls)}"]
    return ["strace", *options, "-o", str(output), "--", *command]


def parse(text: str) -> list[Call]:
    """Parse strace's output (``-ttt``, with or without ``-f``); exits and signals are left out.

    Parameters
    ----------
    text : str
        The output.

    Returns
    -------
    list of Call
        The calls in the order in which they ended.

    Raises
    ------
    ToolError
        A line is not in strace's format; ``.raw`` is the text.
    """
    calls: list[Call] = []
    waiting: dict[tuple[int, str], tuple[int, str]] = {}
    for line in text.splitlines():
        parts = _LINE.match(line)
        if parts is None:
            raise _unknown(line, text)
        process, what = int(parts[1] or 0), parts[4]
        ns = int(parts[2]) * 10**9 + int(parts[3].ljust(9, "0"))
        if _EVENT.match(what):
            continue
        if begun := _UNFINISHED.match(what):
            waiting[process, begun[1]] = ns, begun[2]
            continue
        if ended := _RESUMED.match(what):
            if (process, ended[1]) not in waiting:
                raise _unknown(line, text)
            ns, start = waiting.pop((process, ended[1]))
            what = f"{ended[1]}({start} {ended[2].lstrip()}"
        call = _CALL.match(what)
        if call is None:
            raise _unknown(line, text)
        calls.append(Call(process, ns, call[1], call[2], None if call[3] == "?" else int(call[3])))
    return calls


def _unknown(line: str, text: str) -> ToolError:
    return ToolError(f"strace wrote a line that is not understood: {line!r}", raw=text)
