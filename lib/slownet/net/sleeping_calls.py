"""The process and the call behind a timer of a program: hosts' programs under strace, which prints their sleeping calls.

What a program waits for is not in packets. So with `VARIABLE` in the environment each program that starts on a host starts
under strace, which stops it at the calls of `CALLS` only (``--seccomp-bpf``). Each reading of the clock costs a microsecond
where the CPU is free, and strace reads it for each call, so everything is later by some microseconds a call. Therefore nothing
is traced unless it is asked for, and what was measured meanwhile only gives the names.

strace sets the flag that no new privileges can be had (prctl(2)), so a program that is not root's gets none from a set-user-ID
file meanwhile.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from slownet.lab.host import owner
from slownet.model.errors import ToolError
from slownet.net import strace

VARIABLE = "SLOWNET_SLEEPING_CALLS"
FILE = "sleeping-calls.jsonl"
"""The end of the name of the file with a sample's calls."""
WAITS = (
    "nanosleep", "clock_nanosleep", "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "futex",
    "rt_sigtimedwait",
)  # fmt: skip
"""Calls that sleep to a limit."""
LOCKS = ("flock", "fcntl")
ARMED = ("alarm", "setitimer", "timer_settime", "timerfd_settime")
"""Calls that start a timer and return at once."""
CALLS = (*WAITS, *LOCKS, *ARMED)
LEAST_NS = 100_000
"""Shorter calls did not sleep: no timer is shorter than the kernel's slack of 50 us and what was asked for."""
SLACK_NS = 50_000
"""A sleep ends later than its time by this, on Linux (PR_SET_TIMERSLACK)."""
UNTRACED = ("mnexec", "strace", "gdb", "tcpdump")
"""Programs that trace others, as a process can be traced once only; captures; and Mininet's own, for what is not there."""
SLEEP = "sleep"
WORDS = {
    "nanosleep": SLEEP, "clock_nanosleep": SLEEP, "pselect6": "select", "epoll_pwait": "epoll_wait",
    "epoll_pwait2": "epoll_wait",
}  # fmt: skip
"""The names under which programs know calls, where they differ."""
_SPAN = re.compile(r"\{tv_sec=(\d{1,10}), tv_([un])sec=(\d{1,9})\}")
_VALUE = re.compile(r"it_value=(\{.*?\})")


@dataclass(frozen=True)
class SleepingCall:
    """A call of a thread that slept, or a timer that a call had started.

    host, program: its host, and the name of its process or thread.
    process: the id of the process or thread.
    call: its name.
    begin_ns, end_ns: when the call was entered and left, or when the timer was started and went off; in ns since 1970, as in
        captures.
    limit_ms: the longest that it was to sleep; None without a limit.
    ended: "limit" if it slept that long, "woken" if something else ended it.
    """

    host: str
    program: str
    process: int
    call: str
    begin_ns: int
    end_ns: int
    limit_ms: float | None
    ended: str


def are_wanted() -> bool:
    """Return whether the environment asks for them."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def under_strace(host: str, words: Sequence[str], path: str | None, mounted: bool = False) -> list[str]:
    """Return the command that runs a program of a host under strace, if that is asked for; else its own words.

    path: the value of PATH that the program is looked for with. mounted: whether it may be in what is mounted for it, as the
    crun of a container is.
    """
    plain = list(words)
    is_found = (mounted and plain[0].startswith("/")) or shutil.which(plain[0], path=path)
    if not are_wanted() or Path(plain[0]).name in UNTRACED or not (strace.is_there() and is_found):
        return plain
    output = _file(host)
    output.parent.mkdir(parents=True, exist_ok=True)
    return strace.sleeping(plain, output, CALLS)


def taken(begin_ns: int, end_ns: int) -> list[SleepingCall]:
    """Return the calls of all hosts that ended between two times. What strace has written by then is forgotten."""
    found: list[SleepingCall] = []
    for file in sorted(owner.directory().glob(f"{_STEM}*")):
        text = file.read_text(errors="replace")
        os.truncate(file, 0)  # strace appends
        found += read(file.name.removeprefix(_STEM), text)
    return sorted((each for each in found if begin_ns <= each.end_ns <= end_ns), key=lambda each: each.end_ns)


_STEM = "sleeping-calls-"


def _file(host: str) -> Path:
    return owner.directory() / f"{_STEM}{host}"


def read(host: str, text: str) -> Iterator[SleepingCall]:
    """Yield the calls that slept, of what strace has printed on a host. Lines that are not whole are left out."""
    for call in strace.parse(text, strict=False):
        if call.name in ARMED:
            if span := _armed(call):
                ends = call.ns + round(span * 1e6)
                yield SleepingCall(host, call.program, call.process, call.name, call.ns, ends, span, "limit")
        elif (call.took_ns or 0) >= LEAST_NS and (call.name != "fcntl" or "SETLKW" in call.arguments):
            assert call.took_ns is not None
            limit, is_over = _limit(call), _is_over(call)
            if is_over and limit is None:  # until a time of the clock
                limit = (call.took_ns - SLACK_NS) / 1e6
            name = WORDS.get(call.name, call.name)
            ended = "limit" if is_over else "woken"
            yield SleepingCall(host, call.program, call.process, name, call.ns, call.ns + call.took_ns, limit, ended)


def _is_over(call: strace.Call) -> bool:
    """Return whether a call ended because its time was over."""
    if call.name in ("futex", "rt_sigtimedwait"):
        return call.note.startswith(("ETIMEDOUT", "EAGAIN"))
    return call.result == 0 and call.name not in LOCKS


def _limit(call: strace.Call) -> float | None:
    """Return how many ms a call was to sleep at most; None without a limit, and for a time of the clock."""
    if call.name in ("poll", "epoll_wait", "epoll_pwait"):
        place = 2 if call.name == "poll" else 3
        parts = [each.strip() for each in re.sub(r"\[[^\]]*\]", "_", call.arguments).split(",")]
        return float(parts[place]) if len(parts) > place and re.fullmatch(r"\d{1,10}", parts[place]) else None
    if "TIMER_ABSTIME" in call.arguments or "BITSET" in call.arguments:
        return None
    spans = _SPAN.findall(call.arguments)
    return _ms(spans[0]) if spans else None


def _armed(call: strace.Call) -> float | None:
    """Return after how many ms a timer goes off; None for one that is stopped, or that is set to a time of the clock."""
    if call.name == "alarm":
        return 1000.0 * int(call.arguments) if call.arguments.isdecimal() and call.arguments != "0" else None
    if "ABSTIME" in call.arguments or (call.name == "setitimer" and not call.arguments.startswith("ITIMER_REAL")):
        return None
    value = _VALUE.search(call.arguments)
    spans = _SPAN.findall(value[1]) if value else []
    return (_ms(spans[0]) or None) if spans else None


def _ms(span: tuple[str, str, str]) -> float:
    seconds, unit, rest = span
    return 1000.0 * int(seconds) + int(rest) / (1e3 if unit == "u" else 1e6)


def written(calls: Sequence[SleepingCall]) -> str:
    """Return calls as lines of JSON, as a sample's file has them."""
    return "".join(f"{json.dumps(asdict(each))}\n" for each in calls)


def of_lines(text: str) -> list[SleepingCall]:
    """Return the calls of a file that a lab has written. Raises ToolError."""
    found = []
    for line in text.splitlines():
        try:
            found.append(_checked(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ToolError(f"not a line of calls: {line[:80]!r}", FILE, "measure it again") from error
    return found


def _checked(record: Mapping[str, object]) -> SleepingCall:
    call = SleepingCall(**record)  # type: ignore[arg-type]  # a wrong field is a TypeError
    words, numbers = (call.host, call.program, call.call, call.ended), (call.process, call.begin_ns, call.end_ns)
    if not all(isinstance(each, str) for each in words) or not all(type(each) is int for each in numbers):
        raise TypeError
    if call.limit_ms is not None and type(call.limit_ms) not in (int, float):
        raise TypeError
    return call
