"""Takes one measurement: runs a tool on a network and records its result and conditions in a sample."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

from slownet.lab.run import counters
from slownet.lab.run.charge import charged_s, charged_since
from slownet.model.errors import NetworkError
from slownet.model.sample import Sample
from slownet.net import backlog, senders
from slownet.net.layout import given
from slownet.net.network import Network
from slownet.net.tool import accompanied

Keep = Callable[[str, str | bytes], str]
"""Stores raw output under a file name and returns its path in the run directory."""
R = TypeVar("R")


def new_sample(experiment: str, cell: Mapping[str, str], condition: Mapping[str, object], index: int) -> Sample:
    """Return a sample before its measurement; for the fields see `slownet.judge.records.samples`."""
    return {
        "experiment": experiment, "cell": dict(cell), "condition": dict(condition), "index": index, "tool": None,
        "status": "ok", "error": None, "metrics": {}, "facts": {}, "verified_rtt_ms": None, "unverified": [], "raw": [],
        "captures": [], "links": {}, "counters": {}, "wall_s": None,
    }  # fmt: skip


class Measurements:
    """Takes measurements on one network.

    Each one keeps the pings and schedules since the previous one, because a test sets its links before it measures.
    """

    def __init__(self, net: Network, keep: Keep | None = None, queues: bool = True) -> None:
        """keep: stores raw output; if None, nothing is stored and links are not counted. queues: whether to watch those."""
        self._net = net
        self._keep = keep
        self._queues = queues and keep is not None
        self._kept = {"ping": 0, "schedule": 0}  # entries of the network's log that were kept

    def take(self, sample: Sample, call: Callable[[], R], during: AbstractContextManager[Any] | None = None) -> R:
        """Call `call`, which runs a tool, and complete the sample; return the tool's record.

        during: active during the call, such as captures. Raises what `call` and `during` raise, after recording it.
        """
        before = self._counters()
        past = {id(each) for each in self._net.played if each.is_over}
        waited: list[backlog.Backlog] = []
        ended: list[senders.Sender] = []
        self._net.condition_log.begin()
        began, charged = time.monotonic(), charged_s()
        try:
            with ExitStack() as stack:
                if during:
                    stack.enter_context(during)
                if self._queues:
                    links, shaping = self._net.mininet.links, self._net.shaping
                    stack.enter_context(accompanied(lambda: backlog.watched(links, shaping, waited)))
                    stack.enter_context(senders.watched(self._net.hosts, ended))
                record = call()
                _spent(sample, began, charged)
                self._note(sample, record)
            return record
        except Exception as error:
            sample |= {"status": "failed", "error": str(error)}
            if raw := getattr(error, "raw", ""):
                self._store(sample, "failed.txt", raw)
            raise
        finally:
            if "virtual_s" not in sample:
                _spent(sample, began, charged)
            unstated = self._net.shaping.note_changes()
            conditions = self._net.condition_log
            sample |= {"rate_bit_s": conditions.highest_rate, "random": conditions.random, "seeds": conditions.seeds}
            links = self._net.mininet.links
            if found := senders.limited(ended):
                sample["limited"] = found
            sample["links"] = given(links, conditions.given, unstated) if self._keep else {}
            sample["counters"] = counters.record(before, self._counters())
            for ping in self._new("ping", self._net.verified):
                self._store(sample, "ping.txt", transcript(ping))
            self._note_schedules(sample, past)
            if queued := backlog.of_the_longest(waited):  # a ping that verified a link was watched, too
                self._store(sample, "queue.json", json.dumps(queued.to_json()))

    def _note_schedules(self, sample: Sample, past: Collection[int]) -> None:
        """Store the schedules since the last sample, and note whether one of them was not over before this one began."""
        if any(id(each) not in past for each in self._net.played):
            sample["played"] = True
        for played in self._new("schedule", self._net.played):
            self._store(sample, "schedule.json", json.dumps(played.to_json()))

    def _note(self, sample: Sample, record: Any) -> None:
        sample["tool"] = tool = type(record).__name__.lower()
        sample["metrics"] = dict(record.metrics())
        sample["facts"] = dict(getattr(record, "facts", dict)())
        self._store(sample, f"{tool}.txt", transcript(record))
        for name, content in getattr(record, "files", {}).items():
            self._store(sample, f"{tool}.{name}", content)

    def _store(self, sample: Sample, name: str, content: str | bytes) -> None:
        if self._keep:
            sample["raw"].append(self._keep(f"{sample['index']:03}-{name}", content))

    def _counters(self) -> dict[str, counters.Counters]:
        """Return the links' counters; an empty dict if nothing is stored, or if a test has removed a node."""
        try:
            return self._net.counters() if self._keep else {}
        except (NetworkError, OSError):
            return {}

    def _new(self, kind: str, log: list[Any]) -> list[Any]:
        """Return the new entries of a network's log; all of them if it was cleared since the last call."""
        known, self._kept[kind] = self._kept[kind], len(log)
        return log[known if known <= len(log) else 0 :]


def _spent(sample: Sample, began: float, charged: float | None) -> None:
    """Add the seconds on the network's clock, and the CPU seconds that it charged."""
    sample["virtual_s"], sample["charged_s"] = time.monotonic() - began, charged_since(charged)


def transcript(record: Any) -> str:
    """Return a tool's command line and output."""
    return f"$ {shlex.join(record.command)}\n{record.raw}"
