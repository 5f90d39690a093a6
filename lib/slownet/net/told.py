"""What an interface was told last: each end of a cable has a condition of its own, of which it does what goes its way."""

from __future__ import annotations

import dataclasses
from typing import Any

from slownet.errors import ConditionError
from slownet.link import Condition
from slownet.net import device, qdisc

Told = tuple[Condition, str]  # a condition, and which way of it the interface sends: "up" or "down"


def tell(interface: Any, told: Told) -> None:
    """Gives a Mininet interface all of a condition, and reads it back. Raises NetworkError."""
    condition, way = told
    device.set_mtu(interface, condition.mtu)
    device.set_offloads(interface, condition.offloads)
    qdisc.apply(interface, condition, way)
    interface.slownet_told = told


def last(interface: Any) -> Told:
    """What it was told last; of an interface that was told nothing, the delay that it has."""
    told: Told | None = getattr(interface, "slownet_told", None)
    return told or (Condition(up=qdisc.delay(interface)), "up")


def was_told(link: Any) -> bool:
    """Whether either end of one of Mininet's links was told anything."""
    return any(hasattr(end, "slownet_told") for end in (link.intf1, link.intf2))


def of(link: Any) -> Condition:
    """The condition of one of Mininet's links; `up` is what its intf1 sends. Raises ConditionError, see `together`."""
    return together(last(link.intf1), last(link.intf2))


def together(first: Told, second: Told) -> Condition:
    """The condition of a cable from those of its ends: `up` is what the first one sends.

    Raises ConditionError if they differ in what a condition has once for both directions.
    """
    here, there = _sends(first), _sends(second).reversed
    both = dataclasses.replace(here, down=there.down, rate_down=there.rate_down)
    if both != dataclasses.replace(there, up=here.up, rate_up=here.rate_up):
        names = [
            field.name for field in dataclasses.fields(Condition) if field.name not in ("up", "down", "rate_up", "rate_down")
        ]
        apart = [name for name in names if getattr(here, name) != getattr(there, name)]
        raise ConditionError(
            f"its two directions differ in {', '.join(apart)}, which one condition cannot say",
            fix="set the link, or ask its ends",
        )
    return both


def _sends(told: Told) -> Condition:
    """The condition, turned so that `up` is what the interface sends."""
    condition, way = told
    return condition if way == "up" else condition.reversed
