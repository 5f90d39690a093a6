"""Options of the netem that is a cable: what tc is told of each field, and what `tc -json` shows of it.

Each takes the field's value in one direction. What tc is not told stays as it was, so each option is there each time.
"""

from __future__ import annotations

from slownet.conditions.correlated import threshold
from slownet.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.conditions.jitter import Table
from slownet.conditions.queueing import Queue
from slownet.conditions.row import Option, Refusal, Shown, same_time, same_whole
from slownet.conditions.slot import Slot
from slownet.units import show_duration

# Packets on their way. A queue that is not the bottleneck must never drop: 1 Gbit/s at 500 ms is 42,000 frames.
TRAVELLING = 100_000
# The shortest delay: netem takes a delayed packet off its socket's account, so that TCP's small-queue
# limit (TSQ), meant for a machine's own card, does not keep a sender from filling the link's queue.
LEAST_DELAY_NS = 1
_MARKOV = ("p13", "p31", "p32", "p23", "p14")


def limit(queue: Queue | None, limited: bool) -> Option:
    """How many packets travel. limited: whether a bottleneck below has the queue."""
    # Without a rate only packets are allowed, and these are netem's own limit.
    packets = TRAVELLING if queue is None or limited else int(queue.amount)
    return Option(("limit", f"{packets}"), {"limit": Shown(packets)}, first=True)


def delay(seconds: float, limited: bool) -> Option:
    """The delay, after which netem takes jitter, correlation and distribution, in this order. limited: as for `limit`."""
    nanoseconds = max(round(seconds * 1e9), LEAST_DELAY_NS if limited else 0)
    return Option(("delay", f"{nanoseconds}ns"), {"delay.delay": Shown(nanoseconds / 1e9, same_time)})


def jitter(seconds: float) -> Option:
    """The jitter, right after the delay."""
    nanoseconds = round(seconds * 1e9)
    return Option((f"{nanoseconds}ns",), {"delay.jitter": Shown(nanoseconds / 1e9, same_time)})


def jitter_refusals(delay: float, jitter: float, distribution: str | Table) -> list[Refusal]:
    """What netem cannot do with a jitter; seconds. netem's own bells are cut at 0, as everybody's are."""
    reach = round(distribution.reach * jitter, 9) if isinstance(distribution, Table) else jitter * (distribution == "uniform")
    return [
        (
            bool(jitter and not delay),
            "jitter without delay: packets cannot come before they were sent",
            "give a delay or an rtt",
        ),
        (
            reach > delay,
            f"jitter of {show_duration(jitter)} around a delay of {show_duration(delay)}: the kernel would cut it at 0",
            f"give a delay of at least {show_duration(reach)}",
        ),
    ]


def correlation(part: float) -> Option:
    """How much a draw of the jitter takes over from the one before, right after the jitter."""
    return Option((percent(part),), {"delay.correlation": Shown(part, same_time)})


def distribution(name: str | Table, jittered: bool) -> Option | None:
    """Only where there is a jitter: tc refuses a distribution without one."""
    return Option(("distribution", name.name if isinstance(name, Table) else name)) if jittered else None


def loss(model: Loss | None) -> Option:
    """Whatever the model, nothing of another one may be there."""
    model = model or Chance(0.0)
    chance_of_one = hit(model) if isinstance(model, Chance) else Chance(0.0)
    elliott = (model.p, model.r, model.bad, model.good) if isinstance(model, GilbertElliott) else (0.0,) * 4
    chain = tuple(getattr(model, name) for name in _MARKOV) if isinstance(model, Markov) else (0.0,) * 5
    shown = {
        "loss-random.loss": chance_of_one.probability,
        "loss-random.correlation": chance_of_one.correlation,
        **{f"loss-gemodel.{name}": part for name, part in zip(("p", "r", "1-h", "1-k"), elliott, strict=True)},
        **{f"loss-state.{name}": part for name, part in zip(_MARKOV, chain, strict=True)},
    }
    words = [percent(chance_of_one.probability), percent(chance_of_one.correlation)]
    if isinstance(model, GilbertElliott):
        words = ["gemodel", *map(percent, elliott)]
    elif isinstance(model, Markov):
        words = ["state", *map(percent, chain)]
    return Option(("loss", *words), {name: Shown(part) for name, part in shown.items()})


def chance(name: str, value: Chance | None) -> Option:
    """Such as "duplicate", with its correlation."""
    told = hit(value or Chance(0.0))
    shown = {f"{name}.{name}": Shown(told.probability), f"{name}.correlation": Shown(told.correlation)}
    return Option((name, percent(told.probability), percent(told.correlation)), shown)


def gap(number: int, reorders: bool) -> Option:
    """Which packets may overtake; netem takes every one where none is said."""
    return Option(("gap", f"{number}") if number else (), {"gap": Shown(number or int(reorders))})


def slot(value: Slot | None) -> Option:
    """Two times, and how much a slot lets go."""
    least, most = (round(each * 1e9) for each in ((value.least, value.most) if value else (0.0, 0.0)))
    packets, octets = (value.packets or 0, value.octets or 0) if value else (0, 0)
    words = ("slot", f"{least}ns", *((f"{most}ns",) if most > least else ()))
    words += ("packets", f"{packets}") if packets else ()
    words += ("bytes", f"{octets}") if octets else ()
    times = {"slot.min-delay": Shown(least / 1e9, same_time), "slot.max-delay": Shown(most / 1e9, same_time)}
    return Option(words, times | {"slot.packets": Shown(packets), "slot.bytes": Shown(octets)})


def seed(number: int | None, way: str) -> Option | None:
    """The direction "down" takes the next one, or both would lose the same packets."""
    if number is None:
        return None
    told = number + (way == "down")
    return Option(("seed", f"{told}"), {"seed": Shown(told, same_whole)})


def hit(value: Chance) -> Chance:
    """What netem must be told so that the stated part of the packets is hit."""
    return Chance(threshold(value.probability, value.correlation), value.correlation)


def percent(part: float) -> str:
    """As tc reads it: 0.025 gives "2.5%"."""
    return f"{part * 100:.9f}".rstrip("0").rstrip(".") + "%"
