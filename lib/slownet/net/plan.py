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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slownet.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.conditions.jitter import Table
from slownet.conditions.link import Condition
from slownet.conditions.queueing import AQM, Queue, Red
from slownet.net.correlated import threshold

# Packets on their way. A queue that is not the bottleneck must never drop: 1 Gbit/s at 500 ms is 42,000 frames.
TRAVELLING = 100_000
# The shortest delay: netem takes a delayed packet off its socket's account, so that TCP's small-queue
# limit (TSQ), meant for a machine's own card, does not keep a sender from filling the link's queue.
LEAST_DELAY_NS = 1
BURST_S = 0.001  # what a token bucket may make good after its timer fired late
ROOT = "51:"
BLACKHOLE = "55:"
HANDLES = {"bfifo": "61:", "pfifo": "62:", "fq_codel": "63:", "red": "64:", "pie": "65:"}


@dataclass(frozen=True)
class Layer:
    """One qdisc: where it hangs, what tc is told, and which options `tc -json` must show ("a.b" is b within a)."""

    parent: str
    handle: str
    kind: str
    words: tuple[str, ...]
    options: Mapping[str, float | str | bool] = field(default_factory=dict)

    def command(self, device: str) -> str:
        """The line for `tc -batch` that makes it, or changes it in place when it is there."""
        where = "root" if self.parent == "root" else f"parent {self.parent}"
        return " ".join(["qdisc replace dev", device, where, "handle", self.handle, self.kind, *self.words])


def layers(condition: Condition, way: str, *, child: bool = False) -> list[Layer]:
    """The qdiscs of the end that sends in this direction ("up" or "down"), the root first.

    child: whether a bottleneck is there from before; then it stays, without a rate if there is none.
    """
    rate = condition.rate_up if way == "up" else condition.rate_down
    cable = _cable(condition, way, rate is not None)
    if condition.cut:
        return [cable, Layer(ROOT, BLACKHOLE, "blackhole", ())]
    if rate is None:
        return [cable, _bottleneck(None, TRAVELLING)] if child else [cable]
    queue = condition.queue or Queue(1, "bdp")
    if condition.aqm == "cake":
        return [cable, _cake(rate)]
    if condition.aqm is None and condition.burst is None:
        return [cable, _bottleneck(rate, queue.packets(rate, condition.rtt, condition.frame))]
    burst = condition.burst or max(2 * condition.frame, round(rate / 8 * BURST_S))
    waiting = queue.bytes(rate, condition.rtt, condition.frame)
    return [cable, _bucket(rate, burst, waiting), _waiting(condition, queue, rate)]


def _cable(condition: Condition, way: str, limited: bool) -> Layer:
    seconds = condition.up if way == "up" else condition.down
    nanoseconds = max(round(seconds * 1e9), LEAST_DELAY_NS if limited else 0)
    limit = TRAVELLING
    if condition.queue is not None and not limited:
        limit = int(condition.queue.amount)  # without a rate only packets are allowed, and these are netem's own limit
    jitter = round((condition.jitter_up if way == "up" else condition.jitter_down) * 1e9)
    words = ["limit", f"{limit}", "delay", f"{nanoseconds}ns", f"{jitter}ns", _percent(condition.correlation)]
    if jitter:
        table = condition.distribution
        words += ["distribution", table.name if isinstance(table, Table) else table]
    options: dict[str, float | str | bool] = {
        "limit": limit, "delay.delay": nanoseconds / 1e9, "delay.jitter": jitter / 1e9,
        "delay.correlation": condition.correlation, "gap": condition.gap or int(condition.reorder is not None),
    }  # fmt: skip
    _add_loss(condition.loses(way), words, options)
    for name in ("duplicate", "reorder", "corrupt"):  # all of them each time: what tc is not told stays as it was
        chance = _told(getattr(condition, name) or Chance(0.0))
        words += [name, _percent(chance.probability), _percent(chance.correlation)]
        options |= {f"{name}.{name}": chance.probability, f"{name}.correlation": chance.correlation}
    words += ["gap", f"{condition.gap}"] if condition.gap else []
    if condition.seed is not None:
        seed = condition.seed + (way == "down")  # or both directions would lose the same packets
        words += ["seed", f"{seed}"]
        options["seed"] = seed
    return Layer("root", ROOT, "netem", tuple(words), options)


def _add_loss(loss: Loss | None, words: list[str], options: dict[str, float | str | bool]) -> None:
    model = loss or Chance(0.0)
    chance = _told(model if isinstance(model, Chance) else Chance(0.0))
    options |= {"loss-random.loss": chance.probability, "loss-random.correlation": chance.correlation}
    elliott = (model.p, model.r, model.bad, model.good) if isinstance(model, GilbertElliott) else (0.0,) * 4
    options |= {f"loss-gemodel.{key}": part for key, part in zip(("p", "r", "1-h", "1-k"), elliott, strict=True)}
    names = ("p13", "p31", "p32", "p23", "p14")
    chain = tuple(getattr(model, name) for name in names) if isinstance(model, Markov) else (0.0,) * 5
    options |= {f"loss-state.{name}": part for name, part in zip(names, chain, strict=True)}
    if isinstance(model, GilbertElliott):
        words += ["loss", "gemodel", *map(_percent, elliott)]
    elif isinstance(model, Markov):
        words += ["loss", "state", *map(_percent, chain)]
    else:
        words += ["loss", _percent(chance.probability), _percent(chance.correlation)]


def _told(chance: Chance) -> Chance:
    return Chance(threshold(chance.probability, chance.correlation), chance.correlation)


def _bottleneck(rate: float | None, limit: int) -> Layer:
    words = ("limit", f"{limit}", "rate", f"{round(rate or 0)}bit")
    return Layer(ROOT, "52:", "netem", words, {"limit": limit, "rate.rate": round(rate or 0) // 8})


def _bucket(rate: float, burst: int, limit: int) -> Layer:
    words = ("rate", f"{round(rate)}bit", "burst", f"{burst}b", "limit", f"{max(limit, burst)}b")
    return Layer(ROOT, "53:", "tbf", words, {"rate": round(rate) // 8, "burst": burst})


def _cake(rate: float) -> Layer:
    return Layer(ROOT, "54:", "cake", ("bandwidth", f"{round(rate)}bit", "besteffort"), {"bandwidth": round(rate) // 8})


def _waiting(condition: Condition, queue: Queue, rate: float) -> Layer:
    """What waits for a token."""
    frame = condition.frame
    size = queue.bytes(rate, condition.rtt, frame)
    packets = queue.packets(rate, condition.rtt, frame)
    kind = condition.aqm.split()[0] if condition.aqm else "pfifo" if queue.unit == "packets" else "bfifo"
    marks = condition.ecn if condition.ecn is not None else AQM.get(kind, False)
    options: dict[str, float | str | bool]
    if kind == "red":
        own = Red.parse(condition.aqm or kind)
        # Floyd's advice (tc-red(8)): the upper threshold twice the lower or more, room for a burst above it.
        upper = own.most if own else max(size // 2, 6 * frame)
        lower = own.least if own else max(upper // 3, frame)
        limit = max(size, upper + 4 * frame)
        bursts = (2 * lower + upper) // (3 * frame) + 1
        words = [f"limit {limit} min {lower} max {upper} avpkt {frame} burst {bursts}", f"bandwidth {round(rate)}bit"]
        options = {"limit": limit, "min": lower, "max": upper, "ecn": marks}
        words += ["probability 1"] if own else []
        words += ["ecn"] if marks else []
    elif kind in ("fq_codel", "pie"):
        words = ["limit", f"{packets}", "ecn" if marks else "noecn"]
        options = {"limit": packets, "ecn": marks}
    else:
        limit = packets if kind == "pfifo" else size
        words, options = ["limit", f"{limit}"], {"limit": limit}
    return Layer("53:1", HANDLES[kind], kind, tuple(words), options)


def _percent(part: float) -> str:
    return f"{part * 100:.9f}".rstrip("0").rstrip(".") + "%"
