"""What the interfaces and cables of a network have been told, in one place, and how they are told.

Each end of a cable has a condition of its own, of which it does what goes its way.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from slownet.conditions.link import WAYS, Condition
from slownet.conditions.oneway import OneWay
from slownet.counters import Flow
from slownet.errors import ConditionError
from slownet.net import device, qdisc, tc
from slownet.net.condition_log import ConditionLog


@dataclass
class End:
    """What is known of one interface."""

    told: OneWay | None = None
    """What it was told last; None if it never was."""
    device: device.State = dataclasses.field(default_factory=device.State)
    queues: qdisc.State = dataclasses.field(default_factory=qdisc.State)


class Shaping:
    """The interfaces of one network, what each was told, and the programs that tell them; see the module.

    programs: the network's `tc` and `ip`. conditions: of its cables. playing: the cables on which a schedule plays.
    introduced: those whose two sides know each other's hardware addresses for good. Interfaces and cables are Mininet's Intf
    and Link.
    """

    def __init__(self) -> None:
        self.programs = tc.Programs()
        self.conditions = ConditionLog()
        self.playing: WeakSet[Any] = WeakSet()
        self.introduced: WeakSet[Any] = WeakSet()
        self._ends: WeakKeyDictionary[Any, End] = WeakKeyDictionary()

    def end(self, interface: Any) -> End:
        """What is known of an interface."""
        return self._ends.setdefault(interface, End())

    def tell(self, interface: Any, told: OneWay, *, queues_stay: bool = False) -> None:
        """Gives an interface all of a condition, and reads it back. Raises NetworkError.

        queues_stay: its qdiscs do already what they should.
        """
        end = self.end(interface)
        device.set_mtu(interface, told.condition.mtu, end.device, self.programs)
        device.set_offloads(interface, told.condition.offloads, end.device, self.programs)
        if not queues_stay:
            qdisc.apply(interface, told, end.queues, self.programs)
        end.told = told

    def tell_again(self, interface: Any) -> None:
        """Tells an interface what it was told last: somebody took its qdiscs away, as Open vSwitch does."""
        end = self.end(interface)
        end.queues.shown = None
        if end.told is not None:
            self.tell(interface, end.told)

    def last(self, interface: Any) -> OneWay:
        """What it was told last; of an interface that was told nothing, the delay that it has."""
        told = self.end(interface).told
        return told or OneWay(Condition(up=qdisc.delay(self.programs.run(interface, []))))

    def was_told(self, cable: Any) -> bool:
        """Whether either end of a cable was told anything."""
        return any(self.end(end).told is not None for end in (cable.intf1, cable.intf2))

    def of(self, cable: Any) -> Condition:
        """The condition of a cable; `up` is what its intf1 sends. Raises ConditionError, see `together`."""
        return together(self.last(cable.intf1), self.last(cable.intf2))

    def gone(self, interface: Any) -> Flow:
        """What the queueing disciplines have counted that were replaced since."""
        return self.end(interface).queues.gone


def together(first: OneWay, second: OneWay) -> Condition:
    """The condition of a cable from those of its ends: `up` is what the first one sends.

    Raises ConditionError if they differ in what a condition has once for both directions.
    """
    here, there = first.sent, second.sent.reversed
    if here == there:
        return here
    fields: dict[str, Any] = {name: getattr(here if way == "up" else there, name) for name, way in WAYS.items()}
    fields["loss"] = here.loss
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
