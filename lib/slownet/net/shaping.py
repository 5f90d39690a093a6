"""The state of a network's interfaces and cables, and how conditions are applied to them.

Each end of a cable has its own condition and applies its own direction.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from slownet.lab.run.counters import Flow
from slownet.links.conditions.field_row import Fields
from slownet.links.conditions.link import WAYS, Condition
from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import ConditionError
from slownet.net import device, qdisc, shaper, tc
from slownet.net.seeds import ConditionLog


@dataclass
class End:
    """The state of one interface."""

    stated: OneWay | None = None
    """The condition that it was given last; None if it never was."""
    device: device.State = dataclasses.field(default_factory=device.State)
    queues: qdisc.State = dataclasses.field(default_factory=qdisc.State)


class Shaping:
    """The conditions of one network's interfaces, and the programs that apply them.

    programs: the network's `tc` and `ip`. conditions: of its cables. playing: the cables on which a schedule is playing.
    own: what the topology states of its cables, which a change keeps unless it names it. introduced: those whose two sides have
    permanent neighbour entries for each other. parts: the hosts that reach each other, if not all do. Interfaces and cables are
    Mininet's Intf and Link.
    """

    def __init__(self) -> None:
        self.programs = tc.Programs()
        self.conditions = ConditionLog()
        self.playing: WeakSet[Any] = WeakSet()
        self.introduced: WeakSet[Any] = WeakSet()
        self.own: WeakKeyDictionary[Any, Condition] = WeakKeyDictionary()
        self.parts: list[frozenset[Any]] = []
        self._ends: WeakKeyDictionary[Any, End] = WeakKeyDictionary()

    def end(self, interface: Any) -> End:
        """Return the state of an interface."""
        return self._ends.setdefault(interface, End())

    def set(self, interface: Any, stated: OneWay, *, queues_stay: bool = False) -> None:
        """Apply a whole condition to an interface, and read it back. Raises NetworkError.

        queues_stay: whether its qdiscs are right already.
        """
        end = self.end(interface)
        device.set_mtu(interface, stated.condition.mtu, end.device, self.programs)
        device.set_offloads(interface, stated.condition.offloads, end.device, self.programs)
        if not queues_stay:
            qdisc.apply(interface, stated, end.queues, self.programs)
        end.stated = stated

    def set_again(self, interface: Any) -> None:
        """Apply an interface's last condition again after something, such as Open vSwitch, removed its qdiscs."""
        end = self.end(interface)
        end.queues.shown = None
        if end.stated is not None:
            self.set(interface, end.stated)

    def last(self, interface: Any) -> OneWay:
        """Return the interface's last condition, or one read from its present netem delay."""
        stated = self.end(interface).stated
        return stated or OneWay(Condition(up=qdisc.delay(self.programs.run(interface, []))))

    def now(self, interface: Any) -> OneWay:
        """Return the condition that an interface was given last, or what another program has made of it since.

        Raises ConditionError if no condition can state that.
        """
        stated = self.end(interface).stated
        if stated is None or not self.end(interface).queues.applied:
            return self.last(interface)
        shown = self.programs.run(interface, [])
        if not qdisc.changed(interface, stated, shown):
            return stated
        try:
            return qdisc.observed(interface, shown)
        except ConditionError as error:
            raise ConditionError(error.what, f"interface {interface.name}", error.fix) from error

    def of_topology(self, cable: Any) -> Condition | None:
        """Return what the topology states of a cable, None if nothing. Raises ConditionError, see `merge_directions`."""
        ends = [self.last(end) for end in (cable.intf1, cable.intf2)]
        if cable not in self.own and any(isinstance(end, shaper.TCEnd) for end in ends):
            self.own[cable] = merge_directions(*map(shaper.own, ends))
        return self.own.get(cable)

    def present(self, interface: Any) -> OneWay:
        """Return what `now` does, or where no condition can state it, the one that was given last."""
        try:
            return self.now(interface)
        except ConditionError:
            return self.last(interface)

    def is_set(self, cable: Any) -> bool:
        """Return whether either end of a cable was given a condition."""
        return any(self.end(end).stated is not None for end in (cable.intf1, cable.intf2))

    def of(self, cable: Any) -> Condition:
        """Return the condition of a cable as it is now; `up` is what its intf1 sends. Raises ConditionError, see `now`."""
        try:
            return merge_directions(self.now(cable.intf1), self.now(cable.intf2))
        except ConditionError as error:
            ends = f"link {cable.intf1.node.name}-{cable.intf2.node.name}"
            raise ConditionError(error.what, error.where or ends, error.fix) from None

    def look_again(self, cable: Any) -> None:
        """Read the queueing disciplines of a cable's ends before the next change: a program may have changed them."""
        for end in (cable.intf1, cable.intf2):
            self.end(end).queues.shown = None

    def note_changes(self) -> dict[Any, str]:
        """Log what other programs have made of cables that were given a condition; return those that none can state, as text.

        Raises NetworkError.
        """
        unstated = {}
        for cable in [each for each in self.conditions if each not in self.playing]:
            try:
                found = self.of(cable)
            except ConditionError as error:
                if any(self.is_changed(end) for end in (cable.intf1, cable.intf2)):
                    unstated[cable] = error.what
                continue
            if found != self.conditions[cable]:
                self.conditions[cable] = found
        return unstated

    def is_changed(self, interface: Any) -> bool:
        """Return whether another program has changed the queueing disciplines that an interface was given last."""
        stated = self.end(interface).stated
        if stated is None or not self.end(interface).queues.applied:
            return False
        return qdisc.changed(interface, stated, self.programs.run(interface, []))

    def gone(self, interface: Any) -> Flow:
        """Return the counts of an interface's replaced queueing disciplines."""
        return self.end(interface).queues.gone


def merge_directions(first: OneWay, second: OneWay) -> Condition:
    """Return the condition of a cable from those of its ends; `up` is what the first one sends.

    Raises ConditionError if they differ in a field that a condition has once for both directions.
    """
    here, there = first.sent, second.sent.reversed
    if here == there:
        return here
    fields: Fields = {name: getattr(here if way == "up" else there, name) for name, way in WAYS.items()}
    fields["loss"] = here.loss
    if here.loss != there.loss:
        fields |= {"loss": None, "loss_up": here.loses("up"), "loss_down": there.loses("down")}
    names = [field.name for field in dataclasses.fields(Condition) if field.name not in fields]
    apart = [name for name in names if getattr(here, name) != getattr(there, name)]
    if apart:
        raise ConditionError(
            f"its two directions differ in {', '.join(apart)}, which one condition cannot express",
            fix="set the link, or look at its ends",
        )
    return dataclasses.replace(here, **fields)
