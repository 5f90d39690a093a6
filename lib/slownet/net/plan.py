"""The queueing disciplines for a condition: tc's commands, and the values to read back. Nothing here runs a program.

    root 51: netem      delay, jitter, loss, duplication, reordering, corruption: the cable
       └─ 52: netem     rate and queue: the bottleneck. Or, with an AQM or a burst:
       └─ 53: tbf       the rate, over the AQM's queue; or 54: cake, which paces by itself
            └─ 6x:      fq_codel, red, pie, bfifo or pfifo
       └─ 55: blackhole when a link is cut: packets in flight are lost, too

The cable and its bottleneck are two qdiscs because a netem has one queue: in a single one, packets in flight would take the
place of waiting ones, and a queue of 20 packets would drop what 100 ms of delay holds.

Measured in the lab (virtual clock, TDF inf; 1 to 40 MB against rate * payload / frame, 200 kbit to 100 Mbit): netem's
rate is exact to 0.1 %, and a packet on an idle link takes its own length / rate, as on a real line. A token bucket
(tbf, htb) lets everything that fits into its bucket pass at once, so a request would cross an idle 200 kbit link in no
time. It is only used for what netem cannot do: netem schedules packets itself and leaves no queue to an AQM.

This module chooses the disciplines; the options for each field are in the field's row, see
`slownet.links.conditions.field_row`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Required, TypedDict

from slownet.links.conditions.field_row import BUCKET, CABLE, CAKE, LINE, Shown
from slownet.links.conditions.link import ROWS, Condition
from slownet.links.conditions.oneway import OneWay
from slownet.model.shapes import Json

Options = Mapping[str, Json]
"""A discipline's options, nested as tc prints them, or flat: ``"delay.jitter"``."""
ROOT = "51:"
BLACKHOLE = "55:"
_OPTIONS = {name: [row.tc[name] for row in ROWS if name in row.tc] for name in {name for row in ROWS for name in row.tc}}
HANDLES = {"bfifo": "61:", "pfifo": "62:", "fq_codel": "63:", "red": "64:", "pie": "65:"}


class Qdisc(TypedDict, total=False):
    """A queueing discipline as ``tc -json -s qdisc show`` prints it; options and counters that it does not have are missing."""

    kind: Required[str]
    handle: Required[str]
    options: Required[Options]
    root: bool
    parent: str
    backlog: int
    drops: int
    overlimits: int
    requeues: int


@dataclass(frozen=True)
class Layer:
    """One qdisc: its place, its words for tc, and the options that `tc -json` must show ("a.b" is b within a)."""

    parent: str
    handle: str
    kind: str
    words: tuple[str, ...]
    options: Mapping[str, Shown] = field(default_factory=dict)

    def command(self, device: str) -> str:
        """Return the line for `tc -batch` that makes it, or changes it in place if it exists."""
        where = "root" if self.parent == "root" else f"parent {self.parent}"
        return " ".join(["qdisc replace dev", device, where, "handle", self.handle, self.kind, *self.words])


def layers(condition: Condition, way: str, *, child: bool = False) -> list[Layer]:
    """Return the qdiscs of the end that sends in this direction ("up" or "down"), the root first.

    child: whether there is a bottleneck already; it then stays, with an unlimited rate if the condition has none.
    """
    return list(_layers(OneWay(condition, way), child))


@lru_cache(maxsize=16)  # a schedule's step needs those of its predecessor and, twice, its own
def _layers(at: OneWay, child: bool) -> Sequence[Layer]:
    condition = at.condition
    cable = layer(at, CABLE, "root", ROOT, "netem")
    if condition.cut:
        return [cable, Layer(ROOT, BLACKHOLE, "blackhole", ())]
    if not at.limited and not child:
        return [cable]
    if at.limited and condition.aqm == "cake":
        return [cable, layer(at, CAKE, ROOT, "54:", "cake", "besteffort")]
    if not at.limited or (condition.aqm is None and condition.burst is None):
        return [cable, layer(at, LINE, ROOT, "52:", "netem")]
    bucket = layer(at, BUCKET, ROOT, "53:", "tbf")
    return [cable, bucket, layer(at, at.manager, "53:1", HANDLES[at.manager], at.manager)]


def layer(at: OneWay, discipline: str, parent: str, handle: str, kind: str, *always: str) -> Layer:
    """Return one qdisc of a discipline's options, those of all rows, and words that it always gets."""
    found = [option(at) for option in _OPTIONS[discipline]]
    options = sorted((option for option in found if option is not None), key=lambda option: not option.first)
    shown = {name: expected for option in options for name, expected in option.shown.items()}
    return Layer(parent, handle, kind, tuple(word for option in options for word in option.words) + always, shown)
