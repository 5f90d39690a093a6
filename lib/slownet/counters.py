"""What a link has carried and dropped: counters of both directions, and their differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

BACKLOG = ("backlog_packets", "backlog_bytes")


@dataclass(frozen=True)
class Flow:
    """What one end of a link, or one of its queueing disciplines, has sent.

    Packets are what the kernel counts as one: frames, unless offloads are on. Bytes are those of frames without their
    checksum. A dropped packet is one that a queue had no room for or that was lost on purpose; all that waits now is the
    backlog. Overlimits: how often a packet had to wait for a rate; requeues: how often one had to be put back.
    """

    sent_packets: int = 0
    sent_bytes: int = 0
    dropped: int = 0
    overlimits: int = 0
    requeues: int = 0
    backlog_packets: int = 0
    backlog_bytes: int = 0
    qdiscs: Mapping[str, Flow] = field(default_factory=dict, hash=False)
    """Of a link's end: each of its queueing disciplines, such as "netem 51:"."""

    def __sub__(self, before: Flow) -> Flow:
        """What came since then. The backlog is no sum and stays what it is now."""
        counted = {name: getattr(self, name) - getattr(before, name) for name in _COUNTED}
        now = {name: getattr(self, name) for name in BACKLOG}
        return Flow(**counted, **now, qdiscs={name: _since(flow, before, name) for name, flow in self.qdiscs.items()})

    def to_json(self) -> dict[str, int]:
        """The numbers of the whole, as a record holds them."""
        return {name: number for name, number in asdict(self).items() if name != "qdiscs"}


_COUNTED = tuple(each.name for each in fields(Flow) if each.name not in (*BACKLOG, "qdiscs"))


def _since(flow: Flow, before: Flow, name: str) -> Flow:
    """A queueing discipline that was replaced has begun to count anew."""
    difference = flow - before.qdiscs.get(name, Flow())
    return flow if any(getattr(difference, each) < 0 for each in _COUNTED) else difference


@dataclass(frozen=True)
class Counters:
    """Both directions of a link: `up` is what its first end has sent."""

    up: Flow
    down: Flow

    def __sub__(self, before: Counters) -> Counters:
        return Counters(self.up - before.up, self.down - before.down)

    @property
    def reversed(self) -> Counters:
        """The same link, looked at from its other end."""
        return Counters(self.down, self.up)

    def to_json(self) -> dict[str, dict[str, int]]:
        return {"up": self.up.to_json(), "down": self.down.to_json()}


Record = Mapping[str, Mapping[str, Mapping[str, int]]]  # a sample's: link, direction, counter


def record(before: Mapping[str, Counters], after: Mapping[str, Counters]) -> dict[str, Any]:
    """What each link carried in between, as a sample holds it."""
    return {name: (counters - before[name]).to_json() for name, counters in after.items() if name in before}


def total(records: list[Record]) -> dict[str, dict[str, dict[str, int]]]:
    """The sum over samples; of a backlog, the most that a sample ended with."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for each in records:
        for link, ways in each.items():
            for way, flow in ways.items():
                sums = found.setdefault(link, {}).setdefault(way, dict.fromkeys(flow, 0))
                for name, number in flow.items():
                    sums[name] = max(sums.get(name, 0), number) if name in BACKLOG else sums.get(name, 0) + number
    return found
