"""A link's condition: what it does to packets now."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slownet.conditions import impairment
from slownet.conditions.impairment import Chance, Loss
from slownet.conditions.jitter import Table
from slownet.conditions.queueing import AQM, Queue, aqm
from slownet.errors import ConditionError, nearest
from slownet.units import duration, percent, rate, show_duration, show_percent, show_rate, size

DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")
MTU = 1500
ETHERNET = 14  # bytes of a frame's header, which the kernel's queueing counts too


@dataclass(frozen=True)
class Condition:
    """What a link does: `up` is what its first end sends, `down` what its second end sends, all else is each direction.
    `loss` too is each direction's; the directions have a loss of their own in its place.

    up, down: one-way delays in seconds. jitters: seconds, the half width of a uniform, a measured table's unit, and the
    standard deviation of any other distribution. rates: bit/s of whole Ethernet frames, None is as fast as the machine.
    mtu: None leaves it as it is. seed: the same loss pattern comes again. Build it with `parse`, which reads units and
    refuses what contradicts itself or what the kernel cannot do.
    """

    up: float = 0.0
    down: float = 0.0
    jitter_up: float = 0.0
    jitter_down: float = 0.0
    distribution: str | Table = "uniform"
    correlation: float = 0.0
    loss: Loss | None = None
    loss_up: Loss | None = None
    loss_down: Loss | None = None
    duplicate: Chance | None = None
    reorder: Chance | None = None
    gap: int = 0
    corrupt: Chance | None = None
    rate_up: float | None = None
    rate_down: float | None = None
    burst: int | None = None
    queue: Queue | None = None
    aqm: str | None = None
    ecn: bool | None = None
    mtu: int | None = None
    offloads: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def parse(cls, **fields: Any) -> Condition:
        """From texts with units, such as `parse(rtt="40ms", jitter="2ms", loss="1%", rate="2Mbit")`.

        delay: one-way, in each direction; rtt: what a round trip gains, half of it each way; delay_up, delay_down:
        one-way, in one direction. jitter, or jitter_up and jitter_down, with distribution (uniform, normal, pareto,
        paretonormal or a `conditions.jitter.Table`) and correlation ("25%"). loss, or loss_up and loss_down: "1%", "1% 25%"
        with correlation, "2% in bursts of 8", or netem's "gemodel ..." and "state ..."; with "100%" the link is cut, what
        is on its way is lost too. duplicate, reorder, corrupt: "1%" or "1% 25%"; gap: every gap-th packet may overtake.
        rate, or rate_up and rate_down: "2Mbit"; burst: "3kB"; queue: "100 packets", "64kB", "50ms" or "bdp"; aqm:
        fq_codel, cake, pie, red or "red 30kB 35kB" (its thresholds), with ecn. mtu, offloads, seed. None is as good as not
        given. Raises UnitError, ConditionError.
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
        return bool(self.jitter or self.lossy or self.duplicate or self.reorder or self.corrupt)

    @property
    def random(self) -> bool:
        """Whether the kernel draws by chance what becomes of a packet: a certain loss is none, RED and PIE drop by chance."""
        drawn = self.jitter or any(impairment.draws(each) for each in _chances(self))
        return not self.cut and bool(drawn or (self.aqm or "").startswith(("red", "pie")))

    @property
    def correlated(self) -> bool:
        """Whether a draw takes over from the one before, for which netem takes no seed."""
        return bool(self.correlation or any(isinstance(each, Chance) and each.correlation for each in _chances(self)))

    @property
    def steady(self) -> Condition:
        """The same without anything that chance decides: what a ping can verify."""
        fields = dict.fromkeys(
            (
                "jitter",
                "distribution",
                "correlation",
                "loss",
                "loss_up",
                "loss_down",
                "duplicate",
                "reorder",
                "gap",
                "corrupt",
                "seed",
            )
        )
        return self.but(**fields) if self.chancy else self

    @property
    def reversed(self) -> Condition:
        """The same link, looked at from its other end."""
        swapped = {
            f"{name}{way}": getattr(self, f"{name}{other}")
            for name in ("", "jitter_", "loss_", "rate_")
            for way, other in (("up", "down"), ("down", "up"))
        }
        return dataclasses.replace(self, **swapped)

    def __str__(self) -> str:
        return ", ".join(_words(self)) or "no condition"


def read(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A condition's own fields from those that `parse` knows; None is a field's default. Raises UnitError, ConditionError."""
    known = {*_READERS, *_DELAYS, *_PAIRS}
    for name in fields:
        if name not in known:
            raise ConditionError(f"a condition has no field '{name}'", fix=nearest(name, known))
    given = {name: value for name, value in fields.items() if value is not None}
    defaults: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Condition)}
    values: dict[str, Any] = {name: defaults[name] for name in fields if name in defaults}
    values |= {name: reader(given[name]) for name, reader in _READERS.items() if name in given}
    for name, reader in _PAIRS.items():
        values |= _pair(fields, name, reader, defaults[f"{name}_up"])
    return values | _delays(fields)


def _words(condition: Condition) -> list[str]:
    words = []
    if condition.rtt:
        apart = condition.up != condition.down
        ways = f" ({show_duration(condition.up)} up, {show_duration(condition.down)} down)" if apart else ""
        words.append(f"+{show_duration(condition.rtt)} RTT{ways}")
    if condition.jitter:
        related = f" correlated by {show_percent(condition.correlation)}" if condition.correlation else ""
        one_way = {condition.jitter_up: " up", condition.jitter_down: " down"}.get(condition.jitter, "")
        if condition.jitter_up and condition.jitter_down:
            one_way = ""
        table = condition.distribution
        size = condition.jitter * (table.deviation if isinstance(table, Table) else 1)
        words.append(f"{table} jitter {show_duration(size)}{one_way}{related}")
    for name, verb in (("loss", "loses"), ("duplicate", "doubles"), ("reorder", "reorders"), ("corrupt", "corrupts")):
        if getattr(condition, name) is not None:
            words.append(f"{verb} {getattr(condition, name)}")
    for way in ("up", "down"):
        if getattr(condition, f"loss_{way}") is not None:
            words.append(f"loses {getattr(condition, f'loss_{way}')} {way}")
    for name, way in (("rate_up", "up"), ("rate_down", "down")):
        if getattr(condition, name) is not None:
            same = condition.rate_up == condition.rate_down
            words.append(show_rate(getattr(condition, name)) + ("" if same else f" {way}"))
            if same:
                break
    words += [f"queue {condition.queue}"] if condition.queue else []
    words += [condition.aqm + {None: "", True: " with ECN", False: " without ECN"}[condition.ecn]] if condition.aqm else []
    words += [f"MTU {condition.mtu}"] if condition.mtu else []
    return words + (["offloads on"] if condition.offloads else [])


def _check(condition: Condition) -> None:
    """Refuses what the kernel cannot do or does silently otherwise."""
    for broken, what, fix in _rules(condition):
        if broken:
            raise ConditionError(what, fix=fix)


def _rules(one: Condition) -> list[tuple[bool, str, str]]:
    """(broken, what is wrong, how to put it right): all that is refused."""
    delay = min(one.up, one.down)
    shaken = [(wait, jitter) for wait, jitter in ((one.up, one.jitter_up), (one.down, one.jitter_down)) if jitter]
    cut_at_0 = [(wait, jitter) for wait, jitter in shaken if _reach(one.distribution, jitter) > wait]
    give_delay = "give a delay or an rtt"
    return [
        (
            bool(one.loss and (one.loss_up or one.loss_down)),
            "a condition takes loss or loss_up, not both",
            "loss is each direction's",
        ),
        (
            not all(wait for wait, _ in shaken),
            "jitter without delay: packets cannot come before they were sent",
            give_delay,
        ),
        *(
            (
                True,
                f"jitter of {show_duration(jitter)} around a delay of {show_duration(wait)}: the kernel would cut it at 0",
                f"give a delay of at least {show_duration(_reach(one.distribution, jitter))}",
            )
            for wait, jitter in cut_at_0
        ),
        (bool(one.correlation and not one.jitter), "correlation without jitter: nothing to correlate", "give a jitter"),
        (one.distribution != "uniform" and not one.jitter, "a distribution without jitter", "give a jitter"),
        (bool(one.reorder and not delay), "reorder without delay: a packet overtakes only those that wait", give_delay),
        (bool(one.gap and not one.reorder), "gap without reorder: it says which packets may overtake", "give reorder"),
        (
            one.correlated and one.seed is not None,
            "correlation with a seed: netem starts a correlated draw from a random number of its own",
            "leave out one of them",
        ),
        (one.mtu is not None and not 68 <= one.mtu <= 65535, f"no MTU of {one.mtu}", "IPv4 needs 68 to 65535 (RFC 791)"),
        (one.seed is not None and not 0 <= one.seed < 2**63 - 1, f"no seed {one.seed}", "give 0 to 2^63 - 2"),
        (max(one.up, one.down, one.jitter) > 2**31, "a delay of decades", "give a shorter one"),
        *_rate_rules(one),
    ]


def _reach(distribution: str | Table, jitter: float) -> float:
    """How far below the delay a jitter goes, in seconds; netem's own bells are cut at 0, as everybody's are."""
    if isinstance(distribution, Table):
        return round(distribution.reach * jitter, 9)
    return jitter if distribution == "uniform" else 0.0


def _rate_rules(one: Condition) -> list[tuple[bool, str, str]]:
    rates = [each for each in (one.rate_up, one.rate_down) if each is not None]
    cake = one.aqm == "cake"
    fq_codel = "take fq_codel for that"
    return [
        (any(each < 8 for each in rates), "the kernel knows no rate below 8 bit/s", "give a higher one"),
        (bool(one.burst and not rates), "burst without rate", "give a rate"),
        (bool(one.aqm and not rates), f"{one.aqm} without rate: a queue forms only where a rate limits", "give a rate"),
        (
            bool(one.queue and one.queue.unit != "packets" and not rates),
            f"a queue of {one.queue} without rate: a queue forms only where a rate limits",
            "give a rate, or a queue in packets",
        ),
        (bool(one.queue and cake), "a queue with cake, which sizes its queue itself", fq_codel),
        (bool(one.burst and cake), "a burst with cake, which paces every packet", fq_codel),
        (
            one.burst is not None and one.burst < one.frame,
            f"a burst of {one.burst} B lets no full frame through",
            f"give {one.frame}B or more",
        ),
        (one.ecn is not None and not one.aqm, "ecn without an AQM: a plain queue drops", f"aqm is one of {', '.join(AQM)}"),
        (one.ecn is False and cake, "cake without ecn: it marks always", fq_codel),
    ]


def _chances(condition: Condition) -> tuple[Any, ...]:
    return condition.loses("up"), condition.loses("down"), condition.duplicate, condition.reorder, condition.corrupt


def _chance(name: str) -> Callable[[Any], Chance | None]:
    return lambda value: _or_none(value if isinstance(value, Chance) else impairment.chance(value, name))


def _or_none(value: Any) -> Any:
    """0 % is none, or a link would be called lossy that loses nothing."""
    return None if isinstance(value, Chance) and not value.probability else value


def _whole(name: str, least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not str(value).isdecimal() or int(value) < least:
            raise ConditionError(f"{name} {value!r} is no whole number from {least} on")
        return int(value)

    return read


def _flag(name: str) -> Callable[[Any], bool]:
    def read(value: Any) -> bool:
        if value in (True, "on", False, "off"):
            return value in (True, "on")
        raise ConditionError(f"{name} {value!r} is neither on nor off", fix="give True or False")

    return read


def _distribution(name: str | Table) -> str | Table:
    if isinstance(name, Table):
        return name
    if name not in DISTRIBUTIONS:
        raise ConditionError(f"no distribution '{name}'", fix=nearest(str(name), DISTRIBUTIONS))
    return name


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "jitter_up": duration, "jitter_down": duration, "distribution": _distribution, "correlation": percent,
    **dict.fromkeys(("loss", "loss_up", "loss_down"), lambda value: _or_none(impairment.loss(value))),
    "duplicate": _chance("duplicate"), "reorder": _chance("reorder"), "gap": _whole("gap", 1), "corrupt": _chance("corrupt"),
    "rate_up": rate, "rate_down": rate, "burst": size, "queue": Queue.parse, "aqm": aqm,
    "ecn": _flag("ecn"), "mtu": _whole("mtu", 68), "offloads": _flag("offloads"), "seed": _whole("seed", 0),
}  # fmt: skip
_DELAYS = ("delay", "rtt", "delay_up", "delay_down")
_PAIRS: Mapping[str, Callable[[Any], Any]] = {"jitter": duration, "rate": rate}  # both directions' in one word


def _delays(fields: Mapping[str, Any]) -> dict[str, float]:
    """`up` and `down`, of which only those that the fields speak of."""
    stated = [name for name in _DELAYS if fields.get(name) is not None]
    if len(stated) > 1 and stated != ["delay_up", "delay_down"]:
        raise ConditionError(
            f"a condition takes {stated[0]} or {stated[1]}, not both",
            fix="delay is one-way in each direction, rtt is what a round trip gains",
        )
    ways: dict[str, float] = {}
    for name in sorted((name for name in _DELAYS if name in fields), key=stated.__contains__):  # what takes back goes first
        seconds = duration(fields[name]) if name in stated else 0.0
        one_way = seconds / 2 if name == "rtt" else seconds
        ways |= {way: one_way for way in ("up", "down") if name in ("delay", "rtt", f"delay_{way}")}
    return ways


def _pair(fields: Mapping[str, Any], name: str, reader: Callable[[Any], Any], default: Any) -> dict[str, Any]:
    """`name` is both directions; beside name_up or name_down it would contradict."""
    ways = (f"{name}_up", f"{name}_down")
    if fields.get(name) is None:
        return dict.fromkeys(ways, default) if name in fields and not set(ways) & set(fields) else {}
    other = next((way for way in ways if fields.get(way) is not None), None)
    if other:
        raise ConditionError(f"a condition takes {name} or {other}, not both", fix=f"{name} is each direction's")
    return dict.fromkeys(ways, reader(fields[name]))
