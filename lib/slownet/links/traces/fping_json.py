"""The JSON of fping 5.4 and later (`-J`): a line for each ping or summary; times in ms, the `timestamp` of `-D` in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slownet.links.traces.path_report import PathReport, seconds_of, whole
from slownet.links.traces.ping_runs import Run
from slownet.links.traces.pinglog import PingLog, joined
from slownet.links.traces.trace_format import HOW, json_format
from slownet.model.errors import TraceError

PINGS = ("resp", "timeout")
SUMMARIES = ("vSum", "summary")
"""At the end, of `-C` and of `-c`; all that `-q` leaves."""
OTHERS = ("intSum", "warning")
"""Of `-Q`, in between; of names that were not found."""


def fping(found: Sequence[Mapping[str, Any]], where: str = "fping") -> PingLog | PathReport:
    """Read the lines of `fping -J`: its pings, or its summary where `-q` leaves no more.

    Raises TraceError, and KeyError, TypeError or ValueError for other fields.
    """
    lines = [(kind, each[kind]) for each in found for kind in (*PINGS, *SUMMARIES, *OTHERS) if kind in each]
    hosts = list(dict.fromkeys(str(inner["host"]) for _, inner in lines))
    if len(hosts) != 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(hosts[:3])}", where, "a log is one host's")
    last = dict(lines)
    if any(kind in last for kind in PINGS):
        return joined([_run([line for line in lines if line[0] in PINGS], last.get("summary"))], where)
    if "vSum" in last:
        times = enumerate(last["vSum"]["values"])
        answers = {number: (seconds_of(ms, 1e3), None) for number, ms in times if ms is not None}
        return joined([Run(answers, range(len(last["vSum"]["values"])), 1.0)], where)
    if "summary" in last:
        return _report(last["summary"], where)
    if "warning" in last:
        raise TraceError(
            f"fping did not reach {hosts[0]}: {str(last['warning']['message'])[:80]}", where, "ping a host that answers"
        )
    raise TraceError("it has neither pings nor a final summary", where, HOW)


def _run(pings: Sequence[tuple[str, Mapping[str, Any]]], summary: Mapping[str, Any] | None) -> Run:
    """Return the run of these pings, and of those that could not be sent: only the summary counts them."""
    answers: dict[int, tuple[float, float | None]] = {}
    for kind, each in pings:
        if kind == "resp":
            clock = seconds_of(float(each["timestamp"]), 1) if "timestamp" in each else None
            answers.setdefault(whole(each["seq"]), (seconds_of(each["rtt"], 1e3), clock))
    numbers = [whole(each["seq"]) for _, each in pings]
    last = max(numbers) if summary is None else max(*numbers, whole(summary["xmt"]) - 1)
    return Run(answers, range(min(numbers) if summary is None else 0, last + 1), 1.0)


def _report(summary: Mapping[str, Any], where: str) -> PathReport:
    sent, received = whole(summary["xmt"]), whole(summary["rcv"])
    if not 0 < received <= sent:
        raise TraceError(f"{received} of {sent} pings were answered", where, "ping a host that answers")
    times = (seconds_of(summary[name], 1e3) for name in ("rttMin", "rttAvg", "rttMax"))
    return PathReport("fping", str(summary["host"]), 0, sent, 1 - received / sent, *times)


def _is_fping(first: Mapping[str, Any]) -> bool:
    return any(isinstance(first.get(kind), dict) and "host" in first[kind] for kind in (*PINGS, *SUMMARIES, *OTHERS))


FORMATS = (json_format(_is_fping, fping),)
