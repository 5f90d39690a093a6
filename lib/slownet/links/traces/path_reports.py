"""JSON of programs that measure a path: of irtt and of fping each round trip, of mtr and of fping's counts a summary.

irtt 0.9 (`irtt client -o FILE`): times in ns; ``lost`` is "false", "true", "true_up" or "true_down". fping (`-J`): a line for
each ping, or one text with the hosts. mtr 0.95 (`--json`): the hubs of the path, times in ms; the last one is the host.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.links.conditions.impairment import Chance
from slownet.links.conditions.link import Condition
from slownet.links.traces.ping_runs import Run
from slownet.links.traces.pinglog import PingLog, each_way, joined
from slownet.model import userfile
from slownet.model.errors import TraceError

HOW = "give the program's whole output"


@dataclass(frozen=True)
class PathReport:
    """What a program summarized of a path to a host: its hops, or 0 if it does not count them, pings, and times in seconds."""

    program: str
    host: str
    hops: int
    sent: int
    loss: float
    best: float
    mean: float
    worst: float

    def condition(self) -> Condition:
        """Return a condition with the mean round trip and the loss of round trips, divided between the directions."""
        loss = each_way(self.loss)
        return Condition(up=self.mean / 2, down=self.mean / 2, loss=Chance(loss) if loss else None)


def objects(text: str, where: str) -> list[Any]:
    """Return the JSON of a text, or of each of its lines; the last line may be cut off. Raises TraceError."""
    try:
        return [userfile.json(text)]
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        found = []
        for number, line in lines:
            try:
                found.append(userfile.json(line))
            except ValueError:
                if not found or number != lines[-1][0]:
                    raise TraceError(f"it is no JSON: {str(error)[:80]}", f"{where} line {number}", HOW) from error
        return found


def read(found: Sequence[Any], where: str) -> PingLog | PathReport | None:
    """Return what irtt, fping or mtr measured; None if the objects are another program's. Raises TraceError."""
    first = found[0] if isinstance(found[0], dict) else {}
    try:
        if isinstance(first.get("round_trips"), list):
            return irtt(first, where)
        if isinstance(first.get("report"), dict) and "hubs" in first["report"]:
            return mtr(first["report"], where)
        if isinstance(first.get("hosts"), dict):
            return fping_hosts(first["hosts"], where)
        if first.keys() & {"resp", "timeout"}:
            return fping(found, where)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise TraceError(f"a field is missing or of another kind ({str(error)[:80]})", where, HOW) from error
    return None


def irtt(found: Mapping[str, Any], where: str = "irtt") -> PingLog:
    """Read the JSON of irtt. Raises TraceError, and KeyError, TypeError or ValueError for other fields."""
    answers: dict[int, tuple[float, float | None]] = {}
    numbers = [_whole(each["seqno"]) for each in found["round_trips"]]
    for number, each in zip(numbers, found["round_trips"], strict=True):
        if each["lost"] == "false":
            wall = each.get("timestamps", {}).get("client", {}).get("receive", {}).get("wall")
            answers[number] = _seconds(each["delay"]["rtt"], 1e9), None if wall is None else _seconds(wall, 1e9)
    pace = _seconds(found["config"]["params"]["interval"], 1e9)
    return joined([Run(answers, range(min(numbers), max(numbers) + 1), pace)] if numbers else [], where)


def fping(found: Sequence[Mapping[str, Any]], where: str = "fping") -> PingLog:
    """Read the lines of `fping -J`: pings by the number of their host. Raises as `irtt` does."""
    pings = [(each, each.get("resp") or each.get("timeout")) for each in found if each.keys() & {"resp", "timeout"}]
    hosts = list(dict.fromkeys(str(inner["host"]) for _, inner in pings if inner))
    if len(hosts) != 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(hosts[:3])}", where, "a log is one host's")
    answers: dict[int, tuple[float, float | None]] = {}
    numbers = []
    for each, inner in pings:
        numbers.append(number := _whole(inner["seq"]))  # type: ignore[index]
        if "resp" in each:
            answers[number] = _seconds(each["resp"]["rtt"], 1e3), None
    return joined([Run(answers, range(min(numbers), max(numbers) + 1), 1.0)], where)


def fping_hosts(hosts: Mapping[str, Any], where: str = "fping") -> PingLog | PathReport:
    """Read the text of `fping -J`: a list of round trips (`-C`), or counts (`-c`). Raises as `irtt` does."""
    if len(hosts) != 1:
        raise TraceError(f"{len(hosts)} hosts, {', '.join(list(hosts)[:3])}", where, "a log is one host's")
    host, each = next(iter(hosts.items()))
    if isinstance(each, list):
        answers = {number: (_seconds(ms, 1e3), None) for number, ms in enumerate(each) if isinstance(ms, int | float)}
        return joined([Run(answers, range(len(each)), 1.0)], where)
    sent, received = _whole(each["xmt"]), _whole(each["rcv"])
    if not 0 < received <= sent:
        raise TraceError(f"{received} of {sent} pings were answered", where, "ping a host that answers")
    times = (_seconds(each[name], 1e3) for name in ("min", "avg", "max"))
    return PathReport("fping", str(host), 0, sent, 1 - received / sent, *times)


def mtr(report: Mapping[str, Any], where: str = "mtr") -> PathReport:
    """Read the report of `mtr --json`: of the last hub, which is the host if it answers. Raises as `irtt` does."""
    hubs = report["hubs"]
    if not hubs or not hubs[-1]["Snt"] or hubs[-1]["Loss%"] >= 100:
        raise TraceError(f"{report['mtr']['dst']} did not answer", where, "trace a path to a host that answers")
    last = hubs[-1]
    times = (_seconds(last[name], 1e3) for name in ("Best", "Avg", "Wrst"))
    loss = _seconds(last["Loss%"], 100)
    return PathReport("mtr", str(report["mtr"]["dst"]), _whole(last["count"]), _whole(last["Snt"]), loss, *times)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise ValueError(f"{json.dumps(value)[:40]} is not a number of pings")
    return value


def _seconds(value: Any, unit: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{json.dumps(value)[:40]} is not a time")
    return value / unit
