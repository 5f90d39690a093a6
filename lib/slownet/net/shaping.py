"""What an interface was told last: each end of a cable has a condition of its own, of which it does what goes its way."""

from __future__ import annotations

import dataclasses
from typing import Any

from slownet.conditions.link import Condition
from slownet.errors import ConditionError
from slownet.net import device, qdisc

OneWay = tuple[Condition, str]  # a condition, and which way of it the interface sends: "up" or "down"


def tell(interface: Any, told: OneWay, *, queues_stay: bool = False) -> None:
    """Gives a Mininet interface all of a condition, and reads it back. Raises NetworkError.

    queues_stay: its qdiscs do already what they should.
    """
    condition, way = told
    device.set_mtu(interface, condition.mtu)
    device.set_offloads(interface, condition.offloads)
    if not queues_stay:
        qdisc.apply(interface, condition, way)
    interface.slownet_told = told


def last(interface: Any) -> OneWay:
    """What it was told last; of an interface that was told nothing, the delay that it has."""
    told: OneWay | None = getattr(interface, "slownet_told", None)
    return told or (Condition(up=qdisc.delay(interface)), "up")


def was_told(link: Any) -> bool:
    """Whether either end of one of Mininet's links was told anything."""
    return any(hasattr(end, "slownet_told") for end in (link.intf1, link.intf2))


def of(link: Any) -> Condition:
    """The condition of one of Mininet's links; `up` is what its intf1 sends. Raises ConditionError, see `together`."""
    return together(last(link.intf1), last(link.intf2))


def together(first: OneWay, second: OneWay) -> Condition:
    """The condition of a cable from those of its ends: `up` is what the first one sends.

    Raises ConditionError if they differ in what a condition has once for both directions.
    """
    here, there = _sends(first), _sends(second).reversed
    if here == there:
        return here
    fields: dict[str, Any] = {"up": here.up, "down": there.down, "loss": here.loss}
    for name in ("jitter", "rate", "loss"):
        fields |= {f"{name}_up": getattr(here, f"{name}_up"), f"{name}_down": getattr(there, f"{name}_down")}
    if here.loss != there.loss:
        fields |= {"loss": None, "loss_up": here.loses("up"), "loss_down": there.loses("down")}
    names = [field.name for field in dataclasses.fields(Condition) if field.name not in fields]
    apart = [name for name in names if getattr(here, name) != getattr(there, name)]
    if apart:
        raise ConditionError(
            f"its two directions differ in {', '.join(apart)}, which one condition cannot say",
            fix="set the link, or ask its ends",
        )
    return dataclasses.replace(here, **fields)


def _sends(told: OneWay) -> Condition:
    """The condition, turned so that `up` is what the interface sends."""
    condition, way = told
    return condition if way == "up" else condition.reversed
