"""The queueing disciplines of a TCLink, with Mininet's kinds and handles, so that a program's own tc commands find them.

    root 5: htb          the rate, in its class 5:1; or hfsc with that class, or tbf
       └─ 6: red         with enable_ecn or enable_red
       └─ 10: netem      delay, jitter, loss and the queue; at the root without a rate, absent if none of these is stated

A condition that `Link.set` applies has the layout of `slownet.net.plan` instead, whose rate is exact for single packets: a
token bucket lets everything that fits into it pass at once, 15 KiB here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.links.conditions import netem, tclink
from slownet.links.conditions.field_row import CABLE, Shown, same_burst
from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.links.conditions.queueing import Queue
from slownet.model.errors import ConditionError, SlownetError
from slownet.model.mininets import Parameters
from slownet.net.compare_qdiscs import flat
from slownet.net.plan import Layer, Options, Qdisc, layer

ROOT, CLASS, RED, NETEM = "5:", "5:1", "6:", "10:"
CLASSFUL = ("htb", "hfsc")
HTB_BURST = 15 * 1024  # bytes: tc's 15k
PACKETS = 1000
"""The queue of netem, and of a class without netem, unless max_queue_size states another one."""


@dataclass(frozen=True)
class TCEnd(OneWay):
    """The condition of an interface with TCLink's parameters.

    `condition` has what Mininet's disciplines add; stated: the condition without that. shaper: "htb", "hfsc", "tbf" or "".
    netem: whether there is one. limit: its packets, None for as many as are in flight.
    """

    stated: Condition = field(default_factory=Condition)
    shaper: str = ""
    netem: bool = False
    limit: int | None = None

    @classmethod
    def of(cls, parameters: Parameters) -> TCEnd:
        """Return what the parameters of Mininet's TCIntf state. Raises UnitError, ConditionError."""
        stated = tclink.condition(**parameters)
        shaper = tclink.shaper(**parameters)
        has_netem = any(parameters.get(name) is not None for name in ("delay", "jitter", "max_queue_size"))
        has_netem = has_netem or bool(stated.loss)
        if not shaper:
            packets = int(stated.queue.amount) if stated.queue else None
            return cls(stated, stated=stated, netem=has_netem, limit=packets)
        if parameters.get("max_queue_size") is not None:
            limit = tclink.packets(parameters["max_queue_size"])
        else:  # as Mininet, unless a fast and long link needs more for what is in flight
            flying = math.ceil((stated.rate_up or 0.0) * stated.up / 8 / stated.frame)
            limit = max(PACKETS, 3 * flying)
        added: dict[str, Any] = {}
        if shaper in CLASSFUL:
            added["burst"] = HTB_BURST if shaper == "htb" else stated.frame
        if not stated.aqm and (has_netem or shaper in CLASSFUL):
            added["queue"] = Queue(limit if has_netem else PACKETS, "packets")
        return cls(dataclasses.replace(stated, **added), stated=stated, shaper=shaper, netem=has_netem, limit=limit)

    @property
    def root(self) -> str:
        """The handle of its root; "" if it has no queueing discipline."""
        return ROOT if self.shaper else NETEM if self.netem else ""


def own(end: OneWay) -> OneWay:
    """Return what an end states by itself, without what Mininet's disciplines add."""
    return OneWay(end.stated) if isinstance(end, TCEnd) else end


def layers(end: TCEnd) -> list[Layer]:
    """Return the queueing disciplines, the root first."""
    made = []
    parent = "root"
    if end.shaper:
        made.append(_shaper(end))
        parent = CLASS
    if end.condition.aqm:
        made.append(layer(end, "red", parent, RED, "red"))
        parent = RED
    if end.netem:
        flying = dataclasses.replace(
            end.condition, rate_up=None, rate_down=None, burst=None, aqm=None, ecn=None,
            queue=None if end.limit is None else Queue(end.limit, "packets"),
        )  # fmt: skip
        made.append(layer(OneWay(flying), CABLE, parent, NETEM, "netem"))
    return made


def _shaper(end: TCEnd) -> Layer:
    bits = round(end.rate or 0)
    if end.shaper == "tbf":
        burst, waits = end.condition.burst or 0, end.stated.queue
        size = waits.bytes(bits, 0.0, end.condition.frame) if waits else 0
        words = ("rate", f"{bits}bit", "burst", f"{burst}b", "limit", f"{size + burst}b")
        return Layer("root", ROOT, "tbf", words, {"rate": Shown(bits // 8), "burst": Shown(burst, same_burst)})
    shown = {"default": Shown("0x1")} if end.shaper == "htb" else {}
    return Layer("root", ROOT, end.shaper, ("default", "1"), shown)


def commands(end: TCEnd, device: str, shown: Sequence[Qdisc]) -> list[str]:
    """Return tc's lines that make the disciplines, or change them in place where `shown` has them already."""
    lines = []
    for each in layers(end):
        there = any(qdisc["handle"] == each.handle and qdisc["kind"] == each.kind for qdisc in shown)
        if each.kind not in CLASSFUL:
            lines.append(each.command(device))
            continue
        if not there:  # the kernel does not change an htb
            lines.append(each.command(device))
        lines.append(class_command(device, each.kind, CLASS, round(end.rate or 0)))
    return lines


def class_command(device: str, kind: str, handle: str, bits: int) -> str:
    """Return tc's line that gives a class of htb or hfsc this rate in bit/s."""
    parent = handle.partition(":")[0] + ":"
    rate = f"rate {bits}bit burst 15k" if kind == "htb" else f"sc rate {bits}bit ul rate {bits}bit"
    return f"class replace dev {device} parent {parent} classid {handle} {kind} {rate}"


def structure(shown: Iterable[Qdisc]) -> dict[str, str]:
    """Return the kinds of queueing disciplines as tc shows them, by handle, without an interface's default one."""
    return {qdisc["handle"]: qdisc["kind"] for qdisc in shown if qdisc["handle"] != "0:"}


def planned_structure(planned: Iterable[Layer]) -> dict[str, str]:
    """Return the kinds of planned queueing disciplines by handle."""
    return {each.handle: each.kind for each in planned}


# netem's options in `tc -json` that a condition states, and those that have no effect.
_READ = {"limit", "delay.delay", "delay.jitter", "delay.correlation", "loss-random.loss", "rate.rate", "rate.packetoverhead"}
_HARMLESS = {"ecn", "gap", "seed", "rate.cellsize", "rate.celloverhead", "loss-random.correlation"}


def observed(shown: Sequence[Qdisc], rates: Mapping[str, int]) -> Condition:
    """Return the condition of queueing disciplines that another program made.

    shown: as `tc -json` shows them. rates: of the classes, in bit/s by handle. Raises ConditionError if it
    cannot be stated.
    """
    chain = [qdisc for qdisc in shown if qdisc["kind"] not in ("noqueue", "ingress", "clsact") and qdisc["handle"] != "0:"]
    fields: dict[str, str] = {}
    try:
        for qdisc in chain:
            _observe(qdisc, rates, dict(flat(qdisc["options"])), fields)
        return Condition.parse(**fields)
    except (SlownetError, _UnstatableError) as error:
        names = ", ".join(f"{qdisc['kind']} {qdisc['handle']}" for qdisc in chain)
        raise ConditionError(
            f"another program has changed what it does to packets: {names}", fix="set the link, or read it with tc qdisc show"
        ) from error


class _UnstatableError(Exception):
    """Parameters for which conditions have no field."""


def _observe(qdisc: Qdisc, rates: Mapping[str, int], options: Options, fields: dict[str, str]) -> None:
    """Add what one discipline does to the fields of a condition. Raises _UnstatableError if a condition has no field for it."""
    kind = qdisc["kind"]
    if kind == "netem":
        _observe_netem(options, fields)
    elif kind in CLASSFUL:
        own = [bits for handle, bits in rates.items() if handle.startswith(qdisc["handle"])]
        if len(own) != 1:
            raise _UnstatableError("more than one class")
        _limited(fields, own[0])
        fields["burst"] = f"{HTB_BURST}B"
    elif kind == "tbf":
        _limited(fields, 8 * options["rate"])
        fields["burst"] = f"{max(options['burst'], 1514):.0f}B"
    elif kind in ("pfifo", "bfifo"):
        fields["queue"] = f"{options['limit']} packets" if kind == "pfifo" else f"{options['limit']}B"
    else:
        raise _UnstatableError(kind)


def _observe_netem(options: Options, fields: dict[str, str]) -> None:
    stated = {name: value for name, value in options.items() if value and name not in _HARMLESS}
    if set(stated) - _READ or "delay" in fields:
        raise _UnstatableError("a second netem")
    fields["delay"] = f"{stated.get('delay.delay', 0.0) * 1e9:.0f}ns"
    if jitter := stated.get("delay.jitter"):
        fields["jitter"] = f"{jitter * 1e9:.0f}ns"
        fields["distribution"] = "normal"  # the table is not shown: the one that cuts nothing off
    if lost := stated.get("loss-random.loss"):
        fields["loss"] = f"{lost * 100:.7f}%"
    if octets := stated.get("rate.rate"):
        _limited(fields, 8 * octets)
    if int(options.get("limit", 0)) < (netem.TRAVELLING if "rate" in fields else PACKETS):  # tc's own limit is no queue
        fields["queue"] = f"{options['limit']} packets"


def _limited(fields: dict[str, str], bits: float) -> None:
    if "rate" in fields:
        raise _UnstatableError("two rates")
    fields["rate"] = f"{bits:.0f}bit"
