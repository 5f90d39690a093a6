"""An account in the formats of viewers that others keep: speedscope, and what reads traces as Chrome writes them (Perfetto).

speedscope's file has one evented profile, in ns since the operation began: a stack of host or hosts, cause, detail and message
for each step (its `file-format-spec.ts`). A trace is of the "JSON Object Format" of Chrome's Trace Event Format: a process for
each host, a slice for each step on the host where it begins, an arrow for each message, and what ran beside it as asynchronous
slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from slownet.waits.account import Account, Step
from slownet.waits.account_text import answer, stack

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
BY = "slownet"
"""The exporter, which both files begin with: by that, one is known as slownet's, and may be overwritten."""
PATH = 1
"""The thread of each host that has its part of the deciding path."""


def speedscope(account: Account, name: str) -> dict[str, Any]:
    """Return an account as a file of speedscope. name: its title."""
    frames: dict[str, int] = {}
    events: list[dict[str, object]] = []
    opened: list[int] = []
    for step in (each for each in account.steps if each.ns):
        wanted = [frames.setdefault(word, len(frames)) for word in _stack(step)]
        at = step.begin_ns - account.begin_ns
        events += _changed(opened, wanted, at)
        opened = wanted
    events += _changed(opened, [], account.elapsed_ns)
    profile = {
        "type": "evented", "name": answer(account), "unit": "nanoseconds", "startValue": 0, "endValue": account.elapsed_ns,
        "events": events,
    }  # fmt: skip
    return {
        "exporter": BY, "$schema": SCHEMA, "shared": {"frames": [{"name": each} for each in frames]}, "profiles": [profile],
        "name": name, "activeProfileIndex": 0,
    }  # fmt: skip


def _stack(step: Step) -> list[str]:
    return list(dict.fromkeys([*stack(step), *([step.asked] if step.asked else [])]))


def _changed(opened: list[int], wanted: list[int], at: int) -> Iterator[dict[str, object]]:
    """Yield the events that make one stack of another one: a frame that both begin with goes on, but for the last one."""
    same = 0
    while same < min(len(opened), len(wanted)) - 1 and opened[same] == wanted[same]:
        same += 1
    for frame in reversed(opened[same:]):
        yield {"type": "C", "frame": frame, "at": at}
    for frame in wanted[same:]:
        yield {"type": "O", "frame": frame, "at": at}


def chrome_trace(account: Account, name: str) -> dict[str, Any]:
    """Return an account as a trace of Chrome's format. name: its title."""
    hosts = dict.fromkeys([account.client, *(host for each in account.steps for host in (each.source, each.target))])
    hosts |= dict.fromkeys(each.source for each in account.beside)
    numbers = {host: number for number, host in enumerate(hosts, 1)}
    events = [*_names(numbers), *_slices(account, numbers), *_beside(account, numbers)]
    about = {"exporter": BY, "name": name, "answer": answer(account)}
    return {"otherData": about, "traceEvents": events, "displayTimeUnit": "ms"}


def _names(numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    for host, pid in numbers.items():
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": PATH, "args": {"name": host}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": PATH, "args": {"sort_index": pid}}
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": PATH, "args": {"name": "deciding path"}}


def _slices(account: Account, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    for number, step in enumerate((each for each in account.steps if each.ns), 1):
        at, until = ((each - account.begin_ns) / 1000 for each in (step.begin_ns, step.end_ns))
        here, there = numbers[step.source], numbers[step.target]
        what = {"cause": str(step.cause), "detail": step.detail, "to": step.target, "asked": step.asked, "bytes": step.size}
        yield {
            "ph": "X", "name": step.asked or step.detail or str(step.cause), "cat": str(step.cause), "pid": here, "tid": PATH,
            "ts": at, "dur": step.ns / 1000, "args": what | {"connection": step.connection},
        }  # fmt: skip
        if step.trip and here != there:
            arrow = {"name": "message", "cat": "message", "id": number, "tid": PATH}
            yield {"ph": "s", "pid": here, "ts": at, **arrow}
            yield {"ph": "f", "bp": "e", "pid": there, "ts": until, **arrow}


def _beside(account: Account, numbers: dict[str, int]) -> Iterable[dict[str, Any]]:
    for number, each in enumerate(account.beside, 1):
        common = {"name": f"beside: {each.connection}", "cat": "beside", "id": number, "pid": numbers[each.source], "tid": PATH}
        yield {"ph": "b", "ts": (each.begin_ns - account.begin_ns) / 1000, **common, "args": {"slack_ms": each.slack_ns / 1e6}}
        yield {"ph": "e", "ts": (each.end_ns - account.begin_ns) / 1000, **common}
