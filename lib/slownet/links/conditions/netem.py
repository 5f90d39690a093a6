"""netem's options for a cable: each field's words for tc, and what `tc -json` shows for them.

Each function takes the field's value in one direction. tc leaves an option that it is not given as it was, so every option is
given each time.
"""

from __future__ import annotations

from functools import cache

from slownet.links.conditions.field_row import Option, Refusal, Shown, same_time, same_whole
from slownet.links.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.links.conditions.jitter import Table
from slownet.links.conditions.queueing import Queue
from slownet.links.conditions.slot import Slot
from slownet.model.units import show_duration

# Packets in flight. A queue that is not the bottleneck must never drop: 1 Gbit/s at 500 ms is 42,000 frames.
TRAVELLING = 100_000
# The shortest delay: netem removes a delayed packet from its socket's account, so that TCP's small-queue
# limit (TSQ), meant for a machine's own card, does not keep a sender from filling the link's queue.
LEAST_DELAY_NS = 1
# Numbers drawn to find a correlated loss's probability.
DRAWS = 4_000_000
_MARKOV = ("p13", "p31", "p32", "p23", "p14")


def limit(queue: Queue | None, limited: bool) -> Option:
    """Return how many packets may be in flight. limited: whether a bottleneck below holds the queue."""
    # Without a rate a queue is stated in packets, and they are netem's own limit.
    packets = TRAVELLING if queue is None or limited else int(queue.amount)
    return Option(("limit", f"{packets}"), {"limit": Shown(packets)}, first=True)


def delay(seconds: float, limited: bool) -> Option:
    """Return the delay; jitter, correlation and distribution must follow it in this order. limited: as for `limit`."""
    nanoseconds = max(round(seconds * 1e9), LEAST_DELAY_NS if limited else 0)
    return Option(("delay", f"{nanoseconds}ns"), {"delay.delay": Shown(nanoseconds / 1e9, same_time)})


def jitter(seconds: float) -> Option:
    """Return the jitter, which directly follows the delay."""
    nanoseconds = round(seconds * 1e9)
    return Option((f"{nanoseconds}ns",), {"delay.jitter": Shown(nanoseconds / 1e9, same_time)})


def jitter_refusals(delay: float, jitter: float, distribution: str | Table) -> list[Refusal]:
    """Refuse jitters that netem cannot do; times in seconds. Its own bell curves may be cut at 0, as real delays are."""
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
    """Return how much of a jitter draw carries over to the next; directly follows the jitter."""
    return Option((percent(part),), {"delay.correlation": Shown(part, same_time)})


def distribution(name: str | Table, jittered: bool) -> Option | None:
    """Return the distribution, if there is a jitter: tc refuses it without one."""
    return Option(("distribution", name.name if isinstance(name, Table) else name)) if jittered else None


def loss(model: Loss | None) -> Option:
    """Return the loss. The options of the other models must be shown as 0."""
    # netem has one model of three at a time. The others' options are compared, too: as 0, or an earlier condition has stayed.
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
    """Return a probability with its correlation, such as "duplicate"'s."""
    adjusted = hit(value or Chance(0.0))
    shown = {f"{name}.{name}": Shown(adjusted.probability), f"{name}.correlation": Shown(adjusted.correlation)}
    return Option((name, percent(adjusted.probability), percent(adjusted.correlation)), shown)


def gap(number: int, reorders: bool) -> Option:
    """Return which packets may overtake; without a gap, netem considers every one."""
    # Without the word, a netem that reorders has a gap of 1, and one that does not has 0: tc fills it in, and shows it.
    return Option(("gap", f"{number}") if number else (), {"gap": Shown(number or int(reorders))})


def slot(value: Slot | None) -> Option:
    """Return the slot: its two times, and how much it lets go."""
    least, most = (round(each * 1e9) for each in ((value.least, value.most) if value else (0.0, 0.0)))
    packets, octets = (value.packets or 0, value.octets or 0) if value else (0, 0)
    words = ("slot", f"{least}ns", *((f"{most}ns",) if most > least else ()))
    words += ("packets", f"{packets}") if packets else ()
    words += ("bytes", f"{octets}") if octets else ()
    times = {"slot.min-delay": Shown(least / 1e9, same_time), "slot.max-delay": Shown(most / 1e9, same_time)}
    return Option(words, times | {"slot.packets": Shown(packets), "slot.bytes": Shown(octets)})


def seed(number: int | None, way: str) -> Option | None:
    """Return the seed; "down" gets the next number, or both directions would lose the same packets."""
    if number is None:
        return None
    own = number + (way == "down")
    return Option(("seed", f"{own}"), {"seed": Shown(own, same_whole)})


def hit(value: Chance) -> Chance:
    """Return the probability to give netem so that the given share of packets is hit."""
    return Chance(threshold(value.probability, value.correlation), value.correlation)


def percent(part: float) -> str:
    """Write a share as tc reads it: 0.025 gives "2.5%"."""
    return f"{part * 100:.9f}".rstrip("0").rstrip(".") + "%"


@cache
def threshold(probability: float, correlation: float) -> float:
    """Return the probability that makes netem hit the share `probability` of the packets, to about 1 % of that share.

    netem draws `x = (1 - c) * u + c * x_before`, u uniform, and hits a packet when x is below the probability. Such an average
    of uniform numbers stays near the middle: with "5 % 50 %" netem lost none of 2,000 packets here. The probability that hits
    5 % is the 5 % quantile of x.
    """
    if not correlation or probability in (0.0, 1.0):
        return probability
    import numpy as np  # takes a second in the lab, and only correlated losses need it
    from scipy.signal import lfilter

    uniform = np.random.default_rng(1).random(DRAWS)
    drawn, _ = lfilter([1 - correlation], [1, -correlation], uniform, zi=[0.5 * correlation])
    return float(np.quantile(drawn[DRAWS // 100 :], probability))
