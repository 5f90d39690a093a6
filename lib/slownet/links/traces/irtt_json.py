"""The JSON of irtt 0.9 (`irtt client -o FILE`): times in ns; ``lost`` is "false", "true", "true_up" or "true_down"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slownet.links.traces.path_report import seconds_of, whole
from slownet.links.traces.ping_runs import Run
from slownet.links.traces.pinglog import PingLog, joined
from slownet.links.traces.trace_format import json_format


def irtt(found: Mapping[str, Any], where: str = "irtt") -> PingLog:
    """Read the JSON of irtt. Raises TraceError, and KeyError, TypeError or ValueError for other fields."""
    answers: dict[int, tuple[float, float | None]] = {}
    numbers = [whole(each["seqno"]) for each in found["round_trips"]]
    for number, each in zip(numbers, found["round_trips"], strict=True):
        if each["lost"] == "false":
            wall = each.get("timestamps", {}).get("client", {}).get("receive", {}).get("wall")
            answers[number] = seconds_of(each["delay"]["rtt"], 1e9), None if wall is None else seconds_of(wall, 1e9)
    pace = seconds_of(found["config"]["params"]["interval"], 1e9)
    return joined([Run(answers, range(min(numbers), max(numbers) + 1), pace)] if numbers else [], where)


def _read(found: Sequence[Any], where: str) -> PingLog:
    return irtt(found[0], where)


FORMATS = (json_format(lambda first: isinstance(first.get("round_trips"), list), _read),)
