"""The table of a condition's fields: one row per field.

To add a field, add its row and the attribute that the row defines; `slownet.links.conditions.field_row.Row` documents what a
row holds. Functions such as `ms_column` make a record's columns of a field's name and text: a number, with its unit in the
column's name, or a text where it is more than one number. They raise UnitError and ConditionError.
"""

from __future__ import annotations

from dataclasses import dataclass

from slownet.links.conditions import field_row, netem, phrases, queueing
from slownet.links.conditions.field_row import BUCKET, CABLE, CAKE, LINE, Added, Part, Row, Word, by_direction
from slownet.links.conditions.impairment import Chance, Loss, correlates, draws, loss
from slownet.links.conditions.jitter import Table
from slownet.links.conditions.queueing import AQM, Queue
from slownet.links.conditions.slot import Slot
from slownet.model.units import duration, percent, rate, size


def ms_column(name: str, text: str) -> dict[str, float | str]:
    """``("rtt", "10ms")`` gives ``{"rtt_ms": 10.0}``."""
    return {f"{name}_ms": round(duration(text) * 1000, 6)}


def kbit_column(name: str, text: str) -> dict[str, float | str]:
    """``("rate", "2Mbit")`` gives ``{"rate_kbit": 2000.0}``."""
    return {f"{name}_kbit": round(rate(text) / 1000, 6)}


def bytes_column(name: str, text: str) -> dict[str, float | str]:
    """``("overhead", "38B")`` gives ``{"overhead_bytes": 38}``."""
    return {f"{name}_bytes": size(text)}


def percent_column(name: str, text: str) -> dict[str, float | str]:
    """``("loss", "1%")`` gives ``{"loss_percent": 1.0}``; bursts and correlated losses stay a text."""
    model = loss(text)
    plain = isinstance(model, Chance) and not model.correlation
    return {f"{name}_percent": round(model.mean * 100, 9)} if plain else {name: text}


def queue_column(name: str, text: str) -> dict[str, float | str]:
    """``("queue", "100 packets")`` gives ``{"queue_packets": 100}``; other sizes stay a text."""
    read = Queue.parse(text)
    return {f"{name}_packets": int(read.amount)} if read.unit == "packets" else {name: str(read)}


def slot_column(name: str, text: str) -> dict[str, float | str]:
    """``("slot", "10ms")`` gives ``{"slot_ms": 10.0}``; slots of random length, or with limits, stay a text."""
    read = Slot.parse(text)
    return {f"{name}_ms": round(read.least * 1000, 6)} if read == Slot(read.least, read.least) else {name: str(read)}


_NO_CAKE = "use fq_codel instead"


@dataclass(frozen=True)
class Fields:
    """The attributes of a `slownet.links.conditions.link.Condition`, each with its row."""

    _delay = Row(
        "delay", duration, default=0.0, contrast="delay is one-way in each direction, rtt is what a round trip gains",
        words=(
            Word("delay", ("up", "down"), duration), Word("rtt", ("up", "down"), lambda value: duration(value) / 2),
            Word("delay_up", ("up",), duration), Word("delay_down", ("down",), duration),
        ),
        text=lambda one: phrases.delay(one.up, one.down), column=ms_column,
        tc={CABLE: lambda at: netem.delay(at.delay, at.limited)}, ping=lambda at, bits: Added(at.delay, at.delay),
        refuse=lambda one: [(max(one.up, one.down, one.jitter) > 2**31, "a delay of decades", "give one below 2^31 s")],
    )  # fmt: skip
    up: float = _delay.up
    down: float = _delay.down
    _jitter = Row(
        "jitter", duration, default=0.0, part=Part.CHANCE, words=by_direction("jitter", duration), narrowed=True,
        contrast="jitter holds for both directions", column=ms_column,
        text=lambda one: phrases.jitter(one.jitter_up, one.jitter_down, one.distribution, one.correlation),
        tc={CABLE: lambda at: netem.jitter(at.jitter)}, ping=lambda at, bits: Added(-at.spread, at.spread),
        refuse=lambda one: [
            *netem.jitter_refusals(one.up, one.jitter_up, one.distribution),
            *netem.jitter_refusals(one.down, one.jitter_down, one.distribution),
        ],
        draws=lambda one: bool(one.jitter),
    )  # fmt: skip
    jitter_up: float = _jitter.up
    jitter_down: float = _jitter.down
    correlation: float = Row(
        "correlation", percent, default=0.0, part=Part.OF_CHANCE, text=lambda one: (),  # in the jitter's text
        tc={CABLE: lambda at: netem.correlation(at.condition.correlation)},
        refuse=lambda one: [
            (bool(one.correlation and not one.jitter), "correlation without jitter: nothing to correlate", "give a jitter"),
        ],
        seedless=lambda one: bool(one.correlation),
    ).each  # fmt: skip
    distribution: str | Table = Row(
        "distribution", field_row.distribution, default="uniform", part=Part.OF_CHANCE, text=lambda one: (),  # in the jitter's
        tc={CABLE: lambda at: netem.distribution(at.condition.distribution, bool(at.jitter))},
        refuse=lambda one: [
            (one.distribution != "uniform" and not one.jitter, "a distribution without jitter", "give a jitter"),
        ],
    ).each  # fmt: skip
    _loss = Row(
        "loss", field_row.loss, part=Part.CHANCE, column=percent_column,
        words=tuple(Word(name, (name,), field_row.loss) for name in ("loss", "loss_up", "loss_down")),
        text=lambda one: phrases.loss(one.loss, one.loss_up, one.loss_down),
        tc={CABLE: lambda at: netem.loss(at.loss)}, ping=lambda at, bits: Added(lost=at.loss is not None),
        refuse=lambda one: [(
            bool(one.loss and (one.loss_up or one.loss_down)), "a condition takes loss or loss_up, not both",
            "loss holds for both directions",
        )],
        draws=lambda one: draws(one.loses("up")) or draws(one.loses("down")),
        seedless=lambda one: correlates(one.loses("up")) or correlates(one.loses("down")),
    )  # fmt: skip
    loss: Loss | None = _loss.each
    loss_up: Loss | None = _loss.up
    loss_down: Loss | None = _loss.down
    duplicate: Chance | None = Row(
        "duplicate", field_row.chance("duplicate"), part=Part.CHANCE, text=lambda one: phrases.said("doubles", one.duplicate),
        tc={CABLE: lambda at: netem.chance("duplicate", at.condition.duplicate)},
        draws=lambda one: draws(one.duplicate), seedless=lambda one: correlates(one.duplicate),
    ).each  # fmt: skip
    reorder: Chance | None = Row(
        "reorder", field_row.chance("reorder"), part=Part.CHANCE, text=lambda one: phrases.said("reorders", one.reorder),
        tc={CABLE: lambda at: netem.chance("reorder", at.condition.reorder)},
        ping=lambda at, bits: Added(low=-at.delay if at.condition.reorder else 0.0),
        refuse=lambda one: [(
            bool(one.reorder and not min(one.up, one.down)), "reorder without delay: a packet overtakes only those that wait",
            "give a delay or an rtt",
        )],
        draws=lambda one: draws(one.reorder), seedless=lambda one: correlates(one.reorder),
    ).each  # fmt: skip
    gap: int = Row(
        "gap", field_row.whole("gap", 1), default=0, part=Part.OF_CHANCE, text=lambda one: phrases.said("gap", one.gap or None),
        tc={CABLE: lambda at: netem.gap(at.condition.gap, at.condition.reorder is not None)},
        refuse=lambda one: [
            (bool(one.gap and not one.reorder), "gap without reorder: it says which packets may overtake", "give reorder"),
        ],
    ).each  # fmt: skip
    corrupt: Chance | None = Row(
        "corrupt", field_row.chance("corrupt"), part=Part.CHANCE, text=lambda one: phrases.said("corrupts", one.corrupt),
        tc={CABLE: lambda at: netem.chance("corrupt", at.condition.corrupt)},
        ping=lambda at, bits: Added(lost=at.condition.corrupt is not None),
        draws=lambda one: draws(one.corrupt), seedless=lambda one: correlates(one.corrupt),
    ).each  # fmt: skip
    slot: Slot | None = Row(
        "slot", Slot.parse, part=Part.CHANCE, text=lambda one: phrases.said("slots every", one.slot), column=slot_column,
        tc={CABLE: lambda at: netem.slot(at.condition.slot)},
        ping=lambda at, bits: Added(high=at.condition.slot.most if at.condition.slot else 0.0),
        refuse=lambda one: [(
            bool(one.slot and one.slot.varies and one.seed is not None),
            "slots of random length with a seed: netem does not draw their lengths from the seed",
            "leave one of them out, or give slots of one length",
        )],
        draws=lambda one: bool(one.slot and one.slot.varies), seedless=lambda one: bool(one.slot and one.slot.varies),
    ).each  # fmt: skip
    _rate = Row(
        "rate", rate, words=by_direction("rate", rate), narrowed=True, contrast="rate holds for both directions",
        text=lambda one: phrases.rate(one.rate_up, one.rate_down), column=kbit_column,
        tc={
            LINE: lambda at: queueing.rate(at.rate, "rate", "rate.rate"),
            BUCKET: lambda at: queueing.rate(at.rate, "rate", "rate"),
            CAKE: lambda at: queueing.rate(at.rate, "bandwidth", "bandwidth"),
            "red": lambda at: queueing.rate(at.rate, "bandwidth"),
        },
        ping=lambda at, bits: at.on_the_wire(bits),
        refuse=lambda one: [
            (any(each < 8 for each in one.rates), "the kernel has no rate below 8 bit/s", "give a higher one"),
        ],
    )  # fmt: skip
    rate_up: float | None = _rate.up
    rate_down: float | None = _rate.down
    overhead: int | None = Row(
        "overhead", field_row.octets("overhead", 2**15), text=lambda one: phrases.said("overhead", one.overhead, " B"),
        tc={
            LINE: lambda at: queueing.line_overhead(at.condition.overhead if at.limited else None),
            BUCKET: lambda at: queueing.bucket_overhead(at.condition.overhead),
        },
        ping=lambda at, bits: at.on_the_wire(8 * (at.condition.overhead or 0)), column=bytes_column,
        refuse=lambda one: [
            (bool(one.overhead and not one.rates), "overhead without rate: its bytes only count against a rate", "give a rate"),
            (bool(one.overhead and one.aqm == "cake"), "an overhead with cake, which counts from the IP header on", _NO_CAKE),
        ],
    ).each  # fmt: skip
    burst: int | None = Row(
        "burst", size, text=lambda one: phrases.said("burst", one.burst, " B"),
        tc={BUCKET: lambda at: queueing.burst(at.tokens, at.condition.overhead)},
        refuse=lambda one: [
            (bool(one.burst and not one.rates), "burst without rate", "give a rate"),
            (bool(one.burst and one.aqm == "cake"), "a burst with cake, which paces every packet", _NO_CAKE),
            (
                one.burst is not None and one.burst < one.frame, f"a burst of {one.burst} B lets no full frame through",
                f"give {one.frame}B or more",
            ),
        ],
    ).each  # fmt: skip
    queue: Queue | None = Row(
        "queue", Queue.parse, text=lambda one: phrases.said("queue", one.queue), column=queue_column,
        tc={
            CABLE: lambda at: netem.limit(at.condition.queue, at.limited),
            LINE: lambda at: queueing.limit(at.sizes.packets if at.limited else netem.TRAVELLING),
            BUCKET: lambda at: queueing.bucket_limit(at.sizes.octets, at.tokens),
            **dict.fromkeys(("pfifo", "fq_codel", "pie"), lambda at: queueing.limit(at.sizes.packets)),
            "bfifo": lambda at: queueing.limit(at.sizes.octets),
            "red": lambda at: queueing.red(at.sizes, at.condition.aqm),
        },
        refuse=lambda one: [
            (
                bool(one.queue and one.queue.unit != "packets" and not one.rates),
                f"a queue of {one.queue} without rate: a queue forms only in front of a rate limit",
                "give a rate, or a queue in packets",
            ),
            (bool(one.queue and one.aqm == "cake"), "a queue with cake, which sizes its queue itself", _NO_CAKE),
        ],
    ).each  # fmt: skip
    aqm: str | None = Row(
        "aqm", queueing.aqm, text=lambda one: phrases.aqm(one.aqm, one.ecn),
        refuse=lambda one: [
            (bool(one.aqm and not one.rates), f"{one.aqm} without rate: a queue forms only in front of it", "give a rate"),
        ],
        draws=lambda one: (one.aqm or "").startswith(("red", "pie", "fq_codel", "cake")),  # the last two the key of a hash
    ).each  # fmt: skip
    ecn: bool | None = Row(
        "ecn", field_row.flag("ecn"), text=lambda one: (),  # in the AQM's text
        tc=dict.fromkeys(("fq_codel", "pie", "red"), lambda at: queueing.ecn(at.manager, at.condition.ecn)),
        refuse=lambda one: [
            (one.ecn is not None and not one.aqm, "ecn without an AQM: a plain queue drops", f"aqm is one of {', '.join(AQM)}"),
            (one.ecn is False and one.aqm == "cake", "cake without ecn: it always marks", _NO_CAKE),
        ],
    ).each  # fmt: skip
    mtu: int | None = Row(
        "mtu", field_row.whole("mtu", 68), text=lambda one: phrases.said("MTU", one.mtu),
        refuse=lambda one: [
            (one.mtu is not None and not 68 <= one.mtu <= 65535, f"no MTU of {one.mtu}", "IPv4 allows 68 to 65535 (RFC 791)"),
        ],
    ).each  # fmt: skip
    offloads: bool = Row(
        "offloads", field_row.flag("offloads"), default=False, text=lambda one: ["offloads on"] if one.offloads else [],
    ).each  # fmt: skip
    seed: int | None = Row(
        "seed", field_row.whole("seed", 0), part=Part.OF_CHANCE, text=lambda one: phrases.said("seed", one.seed),
        tc={CABLE: lambda at: netem.seed(at.condition.seed, at.way)},
        refuse=lambda one: [
            (
                one.seedless and one.seed is not None,
                "correlation with a seed: netem does not start correlated draws from the seed",
                "leave one of them out",
            ),
            (one.seed is not None and not 0 <= one.seed < 2**63 - 1, f"seed {one.seed} is out of range", "give 0 to 2^63 - 2"),
        ],
    ).each  # fmt: skip
