"""``strace``: when programs made their system calls, and how long these took."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slownet.model.errors import ToolError

TRACED = ("sendto", "recvfrom", "setsockopt", "connect")
"""The calls with which PHP and Python use sockets and set TCP options."""

_LINE = re.compile(r"^(?:(\d{1,15})(?:<(.*?)>)?\s+)?(\d{1,15})\.(\d{1,9}) (.*)$")
_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d{1,19}|\?)(?: (.*?))??(?: ?<(\d{1,9})\.(\d{9})>)?$")
_UNFINISHED = re.compile(r"^(\w+)\((.*?) *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$")
_EVENT = re.compile(r"^(\+\+\+|---) .* (\+\+\+|---)$")  # an exit, a signal


@dataclass(frozen=True)
class Call:
    """One system call.

    process: the process id; 0 without ``-f``.
    ns: when the call was entered, in ns since 1970, like the timestamps of a capture.
    name, arguments: the call as strace prints it.
    result: its return value; None if it did not return.
    program: the name of the process or thread, if strace has printed it (``-Y``).
    note: what strace prints behind the result: "Timeout", "ETIMEDOUT (Connection timed out)".
    took_ns: how long it took, if strace has printed that (``--syscall-times=ns``).
    """

    process: int
    ns: int
    name: str
    arguments: str
    result: int | None
    program: str = ""
    note: str = ""
    took_ns: int | None = None

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


@cache
def is_there() -> bool:
    """Return whether strace is installed."""
    return shutil.which("strace") is not None


def sleeping(command: Sequence[str], output: Path, calls: Sequence[str]) -> list[str]:
    """Return the command that runs ``command`` under strace, in a way that it does not notice, with the time of each call.

    It is its caller's child and the first of its own group, as without strace, which is in a session of its own and appends to
    a file. Only the calls are stopped; the names of processes are printed.
    """
    options = ["-DDD", "-f", "-Y", "-q", "--seccomp-bpf", "--absolute-timestamps=format:unix,precision:ns"]
    options += ["--syscall-times=ns", "-s", "0", "-A", "-o", str(output), "-e", "signal=none", "-e", f"trace={','.join(calls)}"]
    return ["strace", *options, "--", *command]


def parse(text: str, strict: bool = True) -> list[Call]:
    """Parse strace's output (``-ttt``, with or without ``-f``); exits and signals are left out.

    text: the output.
    strict: whether a line that is not understood is an error; otherwise it is left out, as of output that is cut off.
    returns: the calls in the order they ended.
    Raises ToolError: a line is not in strace's format; ``.raw`` is the text.
    """
    calls: list[Call] = []
    waiting: dict[tuple[int, str], tuple[int, str]] = {}
    for line in text.splitlines():
        try:
            if (call := _call(line, waiting)) is not None:
                calls.append(call)
        except ValueError as error:
            if strict:
                raise ToolError(f"strace wrote a line that is not understood: {line!r}", raw=text) from error
    return calls


def _call(line: str, waiting: dict[tuple[int, str], tuple[int, str]]) -> Call | None:
    """Return the call that ends with a line; None for an event, and for one that goes on. Raises ValueError.

    waiting: the calls that go on, by process and name: when they were entered, and their arguments so far.
    """
    parts = _LINE.match(line)
    if parts is None:
        raise ValueError
    process, what = int(parts[1] or 0), parts[5]
    ns = int(parts[3]) * 10**9 + int(parts[4].ljust(9, "0"))
    if _EVENT.match(what):
        return None
    if begun := _UNFINISHED.match(what):
        waiting[process, begun[1]] = ns, begun[2]
        return None
    if ended := _RESUMED.match(what):
        if (process, ended[1]) not in waiting:
            raise ValueError
        ns, start = waiting.pop((process, ended[1]))
        what = f"{ended[1]}({start} {ended[2].lstrip()}"
    call = _CALL.match(what)
    if call is None:
        raise ValueError
    took = int(call[5]) * 10**9 + int(call[6]) if call[5] else None
    return Call(process, ns, call[1], call[2], None if call[3] == "?" else int(call[3]), parts[2] or "", call[4] or "", took)
