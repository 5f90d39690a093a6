"""The JSON of fping (`-J`): a line for each ping, or one text with the hosts; times in ms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slownet.links.traces.path_report import PathReport, seconds_of, whole
from slownet.links.traces.ping_runs import Run
from slownet.links.traces.pinglog import PingLog, joined
from slownet.links.traces.trace_format import json_format
from slownet.model.errors import TraceError


def fping(found: Sequence[Mapping[str, Any]], where: str = "fping") -> PingLog:
    """Read the lines of `fping -J`: pings by the number of their host.

    Raises TraceError, and KeyError, TypeError or ValueError for other fields.
    """
    pings = [(each, each.get("resp") or each.get("timeout")) for each in found if each.keys() & {"resp", "timeout"}]
    hosts = list(dict.fromkeys(str(inner["host"]) for _, inner in pings if inner))
    if len(hosts) != 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(hosts[:3])}", where, "a log is one host's")
    answers: dict[int, tuple[float, float | None]] = {}
    numbers = []
    for each, inner in pings:
        numbers.append(number := whole(inner["seq"]))  # type: ignore[index]
        if "resp" in each:
            answers[number] = seconds_of(each["resp"]["rtt"], 1e3), None
    return joined([Run(answers, range(min(numbers), max(numbers) + 1), 1.0)], where)


def fping_hosts(hosts: Mapping[str, Any], where: str = "fping") -> PingLog | PathReport:
    """Read the text of `fping -J`: a list of round trips (`-C`), or counts (`-c`). Raises as `fping` does."""
    if len(hosts) != 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(list(hosts)[:3])}", where, "a log is one host's")
    host, each = next(iter(hosts.items()))
    if isinstance(each, list):
        answers = {number: (seconds_of(ms, 1e3), None) for number, ms in enumerate(each) if isinstance(ms, int | float)}
        return joined([Run(answers, range(len(each)), 1.0)], where)
    sent, received = whole(each["xmt"]), whole(each["rcv"])
    if not 0 < received <= sent:
        raise TraceError(f"{received} of {sent} pings were answered", where, "ping a host that answers")
    times = (seconds_of(each[name], 1e3) for name in ("min", "avg", "max"))
    return PathReport("fping", str(host), 0, sent, 1 - received / sent, *times)


def _hosts(found: Sequence[Any], where: str) -> PingLog | PathReport:
    return fping_hosts(found[0]["hosts"], where)


FORMATS = (
    json_format(lambda first: isinstance(first.get("hosts"), dict), _hosts),
    json_format(lambda first: bool(first.keys() & {"resp", "timeout"}), fping),
)
