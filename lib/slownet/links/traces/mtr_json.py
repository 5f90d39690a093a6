"""The JSON of mtr 0.95 (`--json`): the hubs of the path, times in ms; the last one is the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slownet.links.traces.path_report import PathReport, seconds_of, whole
from slownet.links.traces.trace_format import json_format
from slownet.model.errors import TraceError


def mtr(report: Mapping[str, Any], where: str = "mtr") -> PathReport:
    """Read the report of `mtr --json`: of the last hub, which is the host if it answers.

    Raises TraceError, and KeyError, TypeError or ValueError for other fields.
    """
    hubs = report["hubs"]
    if not hubs or not hubs[-1]["Snt"] or hubs[-1]["Loss%"] >= 100:
        raise TraceError(f"{report['mtr']['dst']} did not answer", where, "trace a path to a host that answers")
    last = hubs[-1]
    times = (seconds_of(last[name], 1e3) for name in ("Best", "Avg", "Wrst"))
    loss = seconds_of(last["Loss%"], 100)
    return PathReport("mtr", str(report["mtr"]["dst"]), whole(last["count"]), whole(last["Snt"]), loss, *times)


def _is_mtr(first: Mapping[str, Any]) -> bool:
    return isinstance(first.get("report"), dict) and "hubs" in first["report"]


def _read(found: Sequence[Any], where: str) -> PathReport:
    return mtr(found[0]["report"], where)


FORMATS = (json_format(_is_mtr, _read),)
