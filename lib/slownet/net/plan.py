"""From a condition to queueing disciplines: what tc is told, and what it must answer. Nothing here runs anything.

    root 51: netem      delay, jitter, loss, duplication, reordering, corruption: the cable
       └─ 52: netem     rate and queue: the bottleneck. Or, with an AQM or a burst:
       └─ 53: tbf       the rate, over a queue of the AQM's; or 54: cake, which paces by itself
            └─ 6x:      fq_codel, red, pie, bfifo or pfifo
       └─ 55: blackhole where a link is cut: what was on its way is lost too

The cable and its bottleneck are two qdiscs because netem has one queue: in one, a packet that travels would fill the
place of one that waits, and a queue of 20 packets would drop what 100 ms of delay holds.

Measured in the lab (virtual clock, TDF inf; 1 to 40 MB against rate * payload / frame, 200 kbit to 100 Mbit): netem's
rate is exact to 0.1 %, and a packet on an idle link takes its own length / rate, as on a real line. A token bucket
(tbf, htb) lets whatever fits into its bucket pass without that wait, so a request on an idle 200 kbit link would
cross for nothing. It is used where netem cannot: netem sends by its own timetable and leaves no queue to an AQM.

Which disciplines there are is decided here; what each is told of a field is in the field's row, see `slownet.conditions.row`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from slownet.conditions.link import ROWS, Condition
from slownet.conditions.oneway import OneWay
from slownet.conditions.row import BUCKET, CABLE, CAKE, LINE, Shown

ROOT = "51:"
BLACKHOLE = "55:"
_TOLD = {name: [row.tc[name] for row in ROWS if name in row.tc] for name in {name for row in ROWS for name in row.tc}}
HANDLES = {"bfifo": "61:", "pfifo": "62:", "fq_codel": "63:", "red": "64:", "pie": "65:"}


@dataclass(frozen=True)
class Layer:
    """One qdisc: where it hangs, what tc is told, and which options `tc -json` must show ("a.b" is b within a)."""

    parent: str
    handle: str
    kind: str
    words: tuple[str, ...]
    options: Mapping[str, Shown] = field(default_factory=dict)

    def command(self, device: str) -> str:
        """The line for `tc -batch` that makes it, or changes it in place when it is there."""
        where = "root" if self.parent == "root" else f"parent {self.parent}"
        return " ".join(["qdisc replace dev", device, where, "handle", self.handle, self.kind, *self.words])


def layers(condition: Condition, way: str, *, child: bool = False) -> list[Layer]:
    """The qdiscs of the end that sends in this direction ("up" or "down"), the root first.

    child: whether a bottleneck is there from before; then it stays, without a rate if there is none.
    """
    return list(_layers(OneWay(condition, way), child))


@lru_cache(maxsize=16)  # a schedule's step asks for the one before it and for itself, and then for itself again
def _layers(at: OneWay, child: bool) -> Sequence[Layer]:
    condition = at.condition
    cable = _layer(at, CABLE, "root", ROOT, "netem")
    if condition.cut:
        return [cable, Layer(ROOT, BLACKHOLE, "blackhole", ())]
    if not at.limited and not child:
        return [cable]
    if at.limited and condition.aqm == "cake":
        return [cable, _layer(at, CAKE, ROOT, "54:", "cake", "besteffort")]
    if not at.limited or (condition.aqm is None and condition.burst is None):
        return [cable, _layer(at, LINE, ROOT, "52:", "netem")]
    bucket = _layer(at, BUCKET, ROOT, "53:", "tbf")
    return [cable, bucket, _layer(at, at.manager, "53:1", HANDLES[at.manager], at.manager)]


def _layer(at: OneWay, discipline: str, parent: str, handle: str, kind: str, *always: str) -> Layer:
    """One qdisc with what the rows have it told, and words that it is always told."""
    told = [tell(at) for tell in _TOLD[discipline]]
    options = sorted((option for option in told if option is not None), key=lambda option: not option.first)
    shown = {name: expected for option in options for name, expected in option.shown.items()}
    return Layer(parent, handle, kind, tuple(word for option in options for word in option.words) + always, shown)
