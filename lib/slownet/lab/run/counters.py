"""Counters of the packets that a link has carried and dropped in each direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

BACKLOG = ("backlog_packets", "backlog_bytes")


@dataclass(frozen=True)
class Flow:
    """Counters of one end of a link, or of one of its queueing disciplines.

    Attributes
    ----------
    sent_packets, sent_bytes : int
        Packets as the kernel counts them (frames, unless offloads are on), and the bytes of their frames without checksum.
    dropped : int
        Packets that a full queue dropped or that the condition lost.
    overlimits : int
        How often a packet had to wait for a rate.
    requeues : int
        How often a packet was put back into a queue.
    backlog_packets, backlog_bytes : int
        What is waiting now.
    qdiscs : mapping of str to Flow
        For a link's end: its queueing disciplines by name, such as "netem 51:".
    """

    sent_packets: int = 0
    sent_bytes: int = 0
    dropped: int = 0
    overlimits: int = 0
    requeues: int = 0
    backlog_packets: int = 0
    backlog_bytes: int = 0
    qdiscs: Mapping[str, Flow] = field(default_factory=dict, hash=False)

    def __sub__(self, before: Flow) -> Flow:
        """Return what was counted since then. The backlog is not a sum and stays the present one."""
        counted = {name: getattr(self, name) - getattr(before, name) for name in _COUNTED}
        now = {name: getattr(self, name) for name in BACKLOG}
        return Flow(**counted, **now, qdiscs={name: _since(flow, before, name) for name, flow in self.qdiscs.items()})

    def to_json(self) -> dict[str, int]:
        """Return the numbers without those of the queueing disciplines, as in a record."""
        return {name: number for name, number in asdict(self).items() if name != "qdiscs"}


_COUNTED = tuple(each.name for each in fields(Flow) if each.name not in (*BACKLOG, "qdiscs"))


def _since(flow: Flow, before: Flow, name: str) -> Flow:
    """Return a queueing discipline's difference; one that was replaced meanwhile counts from 0."""
    difference = flow - before.qdiscs.get(name, Flow())
    return flow if any(getattr(difference, each) < 0 for each in _COUNTED) else difference


@dataclass(frozen=True)
class Counters:
    """Both directions of a link.

    Attributes
    ----------
    up, down : Flow
        What its first end and its second end have sent.
    """

    up: Flow
    down: Flow

    def __sub__(self, before: Counters) -> Counters:
        return Counters(self.up - before.up, self.down - before.down)

    @property
    def reversed(self) -> Counters:
        """The same link as seen from its other end."""
        return Counters(self.down, self.up)

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return {"up": {...}, "down": {...}}, as in a record."""
        return {"up": self.up.to_json(), "down": self.down.to_json()}


Record = Mapping[str, Mapping[str, Mapping[str, int]]]  # of a sample: link, direction, counter


def record(before: Mapping[str, Counters], after: Mapping[str, Counters]) -> dict[str, dict[str, dict[str, int]]]:
    """Return what each link carried in between, as in a sample."""
    return {name: (counters - before[name]).to_json() for name, counters in after.items() if name in before}


def total(records: list[Record]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the sum over samples; for a backlog, the largest one at the end of a sample."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for each in records:
        for link, ways in each.items():
            for way, flow in ways.items():
                sums = found.setdefault(link, {}).setdefault(way, dict.fromkeys(flow, 0))
                for name, number in flow.items():
                    sums[name] = max(sums.get(name, 0), number) if name in BACKLOG else sums.get(name, 0) + number
    return found
