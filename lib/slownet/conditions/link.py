"""A link's condition: what it does to packets now. The body of `Condition` is the table of its fields, a row each.

To add a field, add its row and with it its attribute; what a row says is in `slownet.conditions.row.Row`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slownet.conditions import bottleneck, columns, netem, queueing, reading, text
from slownet.conditions.impairment import Chance, Loss, correlates, draws
from slownet.conditions.jitter import Table
from slownet.conditions.queueing import AQM, Queue
from slownet.conditions.row import BUCKET, CABLE, CAKE, LINE, Added, Part, Row, Word, by_direction
from slownet.conditions.slot import Slot
from slownet.errors import ConditionError
from slownet.units import duration, percent, rate, size

MTU = 1500
ETHERNET = 14  # bytes of a frame's header, which the kernel's queueing counts too
_NO_CAKE = "take fq_codel for that"


@dataclass(frozen=True)
class Condition:
    """What a link does: `up` is what its first end sends, `down` what its second end sends, all else is each direction.
    `loss` too is each direction's; the directions have a loss of their own in its place.

    up, down: one-way delays in seconds. jitters: seconds, the half width of a uniform, a measured table's unit, and the
    standard deviation of any other distribution. rates: bit/s of whole Ethernet frames, None is as fast as the machine.
    overhead: bytes that each frame has more on the line. burst: bytes. mtu: bytes, None leaves it as it is. seed: the same
    loss pattern comes again. Build it with `parse`, which reads units and refuses what contradicts itself or what the kernel
    cannot do.
    """

    _delay = Row(
        "delay", duration, default=0.0, contrast="delay is one-way in each direction, rtt is what a round trip gains",
        words=(
            Word("delay", ("up", "down"), duration), Word("rtt", ("up", "down"), lambda value: duration(value) / 2),
            Word("delay_up", ("up",), duration), Word("delay_down", ("down",), duration),
        ),
        text=lambda one: text.delay(one.up, one.down), column=columns.milliseconds,
        tc={CABLE: lambda at: netem.delay(at.delay, at.limited)}, ping=lambda at, bits: Added(at.delay, at.delay),
        refuse=lambda one: [(max(one.up, one.down, one.jitter) > 2**31, "a delay of decades", "give a shorter one")],
    )  # fmt: skip
    up: float = _delay.up
    down: float = _delay.down
    _jitter = Row(
        "jitter", duration, default=0.0, part=Part.CHANCE, words=by_direction("jitter", duration), narrowed=True,
        contrast="jitter is each direction's", column=columns.milliseconds,
        text=lambda one: text.jitter(one.jitter_up, one.jitter_down, one.distribution, one.correlation),
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
        "correlation", percent, default=0.0, part=Part.OF_CHANCE, text=lambda one: (),  # its jitter says it
        tc={CABLE: lambda at: netem.correlation(at.condition.correlation)},
        refuse=lambda one: [
            (bool(one.correlation and not one.jitter), "correlation without jitter: nothing to correlate", "give a jitter"),
        ],
        seedless=lambda one: bool(one.correlation),
    ).each  # fmt: skip
    distribution: str | Table = Row(
        "distribution", reading.distribution, default="uniform", part=Part.OF_CHANCE, text=lambda one: (),  # its jitter says it
        tc={CABLE: lambda at: netem.distribution(at.condition.distribution, bool(at.jitter))},
        refuse=lambda one: [
            (one.distribution != "uniform" and not one.jitter, "a distribution without jitter", "give a jitter"),
        ],
    ).each  # fmt: skip
    _loss = Row(
        "loss", reading.loss, part=Part.CHANCE, column=columns.percentage,
        words=tuple(Word(name, (name,), reading.loss) for name in ("loss", "loss_up", "loss_down")),
        text=lambda one: text.loss(one.loss, one.loss_up, one.loss_down),
        tc={CABLE: lambda at: netem.loss(at.loss)}, ping=lambda at, bits: Added(lost=at.loss is not None),
        refuse=lambda one: [(
            bool(one.loss and (one.loss_up or one.loss_down)), "a condition takes loss or loss_up, not both",
            "loss is each direction's",
        )],
        draws=lambda one: draws(one.loses("up")) or draws(one.loses("down")),
        seedless=lambda one: correlates(one.loses("up")) or correlates(one.loses("down")),
    )  # fmt: skip
    loss: Loss | None = _loss.each
    loss_up: Loss | None = _loss.up
    loss_down: Loss | None = _loss.down
    duplicate: Chance | None = Row(
        "duplicate", reading.chance("duplicate"), part=Part.CHANCE, text=lambda one: text.said("doubles", one.duplicate),
        tc={CABLE: lambda at: netem.chance("duplicate", at.condition.duplicate)},
        draws=lambda one: draws(one.duplicate), seedless=lambda one: correlates(one.duplicate),
    ).each  # fmt: skip
    reorder: Chance | None = Row(
        "reorder", reading.chance("reorder"), part=Part.CHANCE, text=lambda one: text.said("reorders", one.reorder),
        tc={CABLE: lambda at: netem.chance("reorder", at.condition.reorder)},
        ping=lambda at, bits: Added(low=-at.delay if at.condition.reorder else 0.0),
        refuse=lambda one: [(
            bool(one.reorder and not min(one.up, one.down)), "reorder without delay: a packet overtakes only those that wait",
            "give a delay or an rtt",
        )],
        draws=lambda one: draws(one.reorder), seedless=lambda one: correlates(one.reorder),
    ).each  # fmt: skip
    gap: int = Row(
        "gap", reading.whole("gap", 1), default=0, part=Part.OF_CHANCE, text=lambda one: text.said("gap", one.gap or None),
        tc={CABLE: lambda at: netem.gap(at.condition.gap, at.condition.reorder is not None)},
        refuse=lambda one: [
            (bool(one.gap and not one.reorder), "gap without reorder: it says which packets may overtake", "give reorder"),
        ],
    ).each  # fmt: skip
    corrupt: Chance | None = Row(
        "corrupt", reading.chance("corrupt"), part=Part.CHANCE, text=lambda one: text.said("corrupts", one.corrupt),
        tc={CABLE: lambda at: netem.chance("corrupt", at.condition.corrupt)},
        ping=lambda at, bits: Added(lost=at.condition.corrupt is not None),
        draws=lambda one: draws(one.corrupt), seedless=lambda one: correlates(one.corrupt),
    ).each  # fmt: skip
    slot: Slot | None = Row(
        "slot", Slot.parse, part=Part.CHANCE, text=lambda one: text.said("slots every", one.slot), column=columns.slot,
        tc={CABLE: lambda at: netem.slot(at.condition.slot)},
        ping=lambda at, bits: Added(high=at.condition.slot.most if at.condition.slot else 0.0),
        refuse=lambda one: [(
            bool(one.slot and one.slot.varies and one.seed is not None),
            "slots of a length that varies with a seed: netem draws it from a random number of its own",
            "leave out one of them, or give slots of one length",
        )],
        draws=lambda one: bool(one.slot and one.slot.varies), seedless=lambda one: bool(one.slot and one.slot.varies),
    ).each  # fmt: skip
    _rate = Row(
        "rate", rate, words=by_direction("rate", rate), narrowed=True, contrast="rate is each direction's",
        text=lambda one: text.rate(one.rate_up, one.rate_down), column=columns.kilobits,
        tc={
            LINE: lambda at: bottleneck.rate(at.rate, "rate", "rate.rate"),
            BUCKET: lambda at: bottleneck.rate(at.rate, "rate", "rate"),
            CAKE: lambda at: bottleneck.rate(at.rate, "bandwidth", "bandwidth"),
            "red": lambda at: bottleneck.rate(at.rate, "bandwidth"),
        },
        ping=lambda at, bits: at.on_the_wire(bits),
        refuse=lambda one: [
            (any(each < 8 for each in one.rates), "the kernel knows no rate below 8 bit/s", "give a higher one"),
        ],
    )  # fmt: skip
    rate_up: float | None = _rate.up
    rate_down: float | None = _rate.down
    overhead: int | None = Row(
        "overhead", reading.octets("overhead", 2**15), text=lambda one: text.said("overhead", one.overhead, " B"),
        tc={
            LINE: lambda at: bottleneck.line_overhead(at.condition.overhead if at.limited else None),
            BUCKET: lambda at: bottleneck.bucket_overhead(at.condition.overhead),
        },
        ping=lambda at, bits: at.on_the_wire(8 * (at.condition.overhead or 0)), column=columns.octets,
        refuse=lambda one: [
            (bool(one.overhead and not one.rates), "overhead without rate: its bytes take their time at a rate", "give a rate"),
            (bool(one.overhead and one.aqm == "cake"), "an overhead with cake, which counts from IP's header", _NO_CAKE),
        ],
    ).each  # fmt: skip
    burst: int | None = Row(
        "burst", size, text=lambda one: text.said("burst", one.burst, " B"),
        tc={BUCKET: lambda at: bottleneck.burst(at.tokens, at.condition.overhead)},
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
        "queue", Queue.parse, text=lambda one: text.said("queue", one.queue), column=columns.queue,
        tc={
            CABLE: lambda at: netem.limit(at.condition.queue, at.limited),
            LINE: lambda at: bottleneck.limit(at.sizes.packets if at.limited else netem.TRAVELLING),
            BUCKET: lambda at: bottleneck.bucket_limit(at.sizes.octets, at.tokens),
            **dict.fromkeys(("pfifo", "fq_codel", "pie"), lambda at: bottleneck.limit(at.sizes.packets)),
            "bfifo": lambda at: bottleneck.limit(at.sizes.octets),
            "red": lambda at: bottleneck.red(at.sizes, at.condition.aqm),
        },
        refuse=lambda one: [
            (
                bool(one.queue and one.queue.unit != "packets" and not one.rates),
                f"a queue of {one.queue} without rate: a queue forms only where a rate limits",
                "give a rate, or a queue in packets",
            ),
            (bool(one.queue and one.aqm == "cake"), "a queue with cake, which sizes its queue itself", _NO_CAKE),
        ],
    ).each  # fmt: skip
    aqm: str | None = Row(
        "aqm", queueing.aqm, text=lambda one: text.aqm(one.aqm, one.ecn),
        refuse=lambda one: [
            (bool(one.aqm and not one.rates), f"{one.aqm} without rate: a queue forms only where a rate limits", "give a rate"),
        ],
        draws=lambda one: (one.aqm or "").startswith(("red", "pie")),
    ).each  # fmt: skip
    ecn: bool | None = Row(
        "ecn", reading.flag("ecn"), text=lambda one: (),  # its AQM says it
        tc=dict.fromkeys(("fq_codel", "pie", "red"), lambda at: bottleneck.ecn(at.manager, at.condition.ecn)),
        refuse=lambda one: [
            (one.ecn is not None and not one.aqm, "ecn without an AQM: a plain queue drops", f"aqm is one of {', '.join(AQM)}"),
            (one.ecn is False and one.aqm == "cake", "cake without ecn: it marks always", _NO_CAKE),
        ],
    ).each  # fmt: skip
    mtu: int | None = Row(
        "mtu", reading.whole("mtu", 68), text=lambda one: text.said("MTU", one.mtu),
        refuse=lambda one: [
            (one.mtu is not None and not 68 <= one.mtu <= 65535, f"no MTU of {one.mtu}", "IPv4 needs 68 to 65535 (RFC 791)"),
        ],
    ).each  # fmt: skip
    offloads: bool = Row(
        "offloads", reading.flag("offloads"), default=False, text=lambda one: ["offloads on"] if one.offloads else [],
    ).each  # fmt: skip
    seed: int | None = Row(
        "seed", reading.whole("seed", 0), part=Part.OF_CHANCE, text=lambda one: text.said("seed", one.seed),
        tc={CABLE: lambda at: netem.seed(at.condition.seed, at.way)},
        refuse=lambda one: [
            (
                one.seedless and one.seed is not None,
                "correlation with a seed: netem starts a correlated draw from a random number of its own",
                "leave out one of them",
            ),
            (one.seed is not None and not 0 <= one.seed < 2**63 - 1, f"no seed {one.seed}", "give 0 to 2^63 - 2"),
        ],
    ).each  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses what the kernel cannot do or does silently otherwise."""
        for row in ROWS:
            for applies, what, fix in row.refuse(self):
                if applies:
                    raise ConditionError(what, fix=fix)

    @classmethod
    def parse(cls, **fields: Any) -> Condition:
        """From texts with units, such as `parse(rtt="40ms", jitter="2ms", loss="1%", rate="2Mbit")`.

        delay: one-way, in each direction; rtt: what a round trip gains, half of it each way; delay_up, delay_down:
        one-way, in one direction. jitter, or jitter_up and jitter_down, with distribution (uniform, normal, pareto,
        paretonormal or a `conditions.jitter.Table`) and correlation ("25%"). loss, or loss_up and loss_down: "1%", "1% 25%"
        with correlation, "2% in bursts of 8", or netem's "gemodel ..." and "state ..."; with "100%" the link is cut, what
        is on its way is lost too. duplicate, reorder, corrupt: "1%" or "1% 25%"; gap: every gap-th packet may overtake.
        slot: packets leave together every "5ms", every "2ms 10ms" as chance decides, or "5ms 20 packets 30kB" at a time.
        rate, or rate_up and rate_down: "2Mbit"; overhead: "38B" that each frame has more on the line; burst: "3kB"; queue:
        "100 packets", "64kB", "50ms" or "bdp"; aqm: fq_codel, cake, pie, red or "red 30kB 35kB" (its thresholds), with ecn.
        mtu, offloads, seed. None is as good as not given. Raises UnitError, ConditionError.
        """
        return cls().but(**fields)

    def but(self, **fields: Any) -> Condition:
        """This condition with some fields stated anew, read as `parse` reads them; None takes a field back."""
        return dataclasses.replace(self, **read(fields))

    @property
    def rtt(self) -> float:
        """Seconds that a round trip over the link gains."""
        return self.up + self.down

    @property
    def jitter(self) -> float:
        """The larger one of the two jitters, in seconds."""
        return max(self.jitter_up, self.jitter_down)

    @property
    def rates(self) -> list[float]:
        """Those that are stated, in bit/s."""
        return [each for each in (self.rate_up, self.rate_down) if each is not None]

    @property
    def cut(self) -> bool:
        """Whether nothing at all gets across."""
        return self.loss == Chance(1.0)

    @property
    def frame(self) -> int:
        """Bytes of a full frame, as the kernel's queueing counts it."""
        return (self.mtu or MTU) + ETHERNET

    def loses(self, way: str) -> Loss | None:
        """What is lost in one direction, "up" or "down"."""
        return self.loss or (self.loss_up if way == "up" else self.loss_down)

    @property
    def lossy(self) -> bool:
        """Whether packets get lost in any direction."""
        return bool(self.loses("up") or self.loses("down"))

    @property
    def chancy(self) -> bool:
        """Whether a packet may fare otherwise than the one before it."""
        return any(getattr(self, name) != row.default for name, row in ATTRIBUTES.items() if row.part is Part.CHANCE)

    @property
    def random(self) -> bool:
        """Whether the kernel draws by chance what becomes of a packet: a certain loss is none, RED and PIE drop by chance."""
        return not self.cut and any(row.draws(self) for row in ROWS)

    @property
    def seedless(self) -> bool:
        """Whether netem draws from a random number of its own, which no seed changes, as it does where draws correlate."""
        return any(row.seedless(self) for row in ROWS)

    @property
    def steady(self) -> Condition:
        """The same without anything that chance decides: what a ping can verify."""
        if not self.chancy:
            return self
        taken = {name: row.default for name, row in ATTRIBUTES.items() if row.part is not Part.STEADY}
        return dataclasses.replace(self, **taken)

    @property
    def reversed(self) -> Condition:
        """The same link, looked at from its other end."""
        return dataclasses.replace(self, **{name: getattr(self, other) for name, other in OPPOSITE.items()})

    def __str__(self) -> str:
        return ", ".join(word for row in ROWS for word in row.text(self)) or "no condition"


def read(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A condition's own attributes from the fields that `parse` knows; None is a field's default.

    Raises UnitError, ConditionError.
    """
    return reading.fields(WORDS, fields)


_FIELDS = [(field.name, field.metadata["way"], field.metadata["row"]) for field in dataclasses.fields(Condition)]
ATTRIBUTES: Mapping[str, Row] = {name: row for name, _, row in _FIELDS}
"""The condition's attributes and their rows."""
ROWS = tuple(dict.fromkeys(ATTRIBUTES.values()))
"""All rows, in the order in which tc is told them."""
WORDS: Mapping[str, Row] = {word.name: row for row in ROWS for word in row.stated}
"""All that `parse` takes, and of which row each is."""
WAYS: Mapping[str, str] = {name: way for name, way, _ in _FIELDS if way}
"""The attributes that are of one direction, "up" or "down"."""
OPPOSITE: Mapping[str, str] = {
    name: other for name, way, row in _FIELDS for other, its, whose in _FIELDS if row is whose and way and its and way != its
}
"""Each of them and that of the other direction."""
