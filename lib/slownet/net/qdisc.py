"""Changes the queueing disciplines of an interface in place through tc, and reads them back."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.conditions.jitter import Table
from slownet.conditions.oneway import OneWay
from slownet.counters import Flow
from slownet.errors import NetworkError
from slownet.net import tc
from slownet.net.plan import BLACKHOLE, ROOT, Layer, layers
from slownet.net.readback import deviations

DEFAULT = "0:"  # the handle of an interface's default qdisc
DRAIN_S = 120.0
POLL_S = 0.005
# Commands that lift a bottleneck's limit, so that its queue drains, by kind of qdisc.
_UNLIMITED = {
    "netem": "qdisc replace dev {device} parent {parent} handle {handle} netem limit 100000 rate 0bit",
    "tbf": "qdisc replace dev {device} parent {parent} handle {handle} tbf rate 100gbit burst 10mb limit 100mb",
    "cake": "qdisc replace dev {device} parent {parent} handle {handle} cake unlimited",
}


@dataclass
class State:
    """The known state of an interface's qdiscs."""

    shown: list[dict[str, Any]] | None = None
    """As tc showed them after the last change; None to read them before the next one."""
    gone: Flow = field(default_factory=Flow)
    """Counts of replaced qdiscs."""


def apply(interface: Any, stated: OneWay, state: State, programs: tc.Programs) -> None:
    """Apply a condition to what an interface sends, and read it back.

    A netem at the root is never removed, because that would drop packets in flight; without a condition it does nothing. So
    packets in flight and in queues survive every change except a cut, which loses them. Raises NetworkError if the kernel
    refuses the change or has other values afterwards.
    """
    condition = stated.condition
    shown = state.shown
    if shown is None:
        shown = _first_look(interface, programs)
    has_child = any(qdisc.get("parent", "").startswith(ROOT) for qdisc in shown)
    planned = layers(condition, stated.way, child=has_child)
    if isinstance(condition.distribution, Table):
        tc.provide(condition.distribution)
    if not condition.cut:
        _drain(interface, planned, shown, state, programs)
    found = programs.run(interface, [layer.command(interface.name) for layer in planned])
    state.shown = found
    for option, stated, value in deviations(planned, found):
        raise NetworkError(f"the kernel has {option} {value} instead of the stated {stated}", where=_where(interface))


def delay(shown: Iterable[Mapping[str, Any]]) -> float:
    """Return the delay in seconds of the netem in an interface's qdiscs as tc shows them; 0 without netem."""
    for qdisc in shown:
        if qdisc["kind"] == "netem" and qdisc.get("root"):
            return float(qdisc["options"].get("delay", {}).get("delay", 0.0))
    return 0.0


def _first_look(interface: Any, programs: tc.Programs) -> list[dict[str, Any]]:
    """Read an interface's qdiscs for the first time. Raises NetworkError if another program shapes it."""
    shown = programs.run(interface, [])
    for qdisc in shown:
        if qdisc.get("root") and qdisc["handle"] not in (ROOT, DEFAULT):
            raise NetworkError(
                f"somebody else's {qdisc['kind']} {qdisc['handle']} shapes what it sends",
                where=_where(interface),
                fix="build the link without TCLink's parameters, and give it a condition",
            )
    return shown


def _drain(
    interface: Any, planned: Sequence[Layer], shown: Sequence[dict[str, Any]], state: State, programs: tc.Programs
) -> None:
    """Drain qdiscs that another kind will replace, because the kernel would drop the packets in their queues."""
    handles = {layer.handle for layer in planned}
    old = next((qdisc for qdisc in shown if qdisc.get("parent", "").startswith(ROOT)), None)
    leaf = [qdisc for qdisc in shown if old and qdisc.get("parent", "").startswith(old["handle"])]
    if old is None or old["handle"] == BLACKHOLE or all(qdisc["handle"] in handles for qdisc in [old, *leaf]):
        return
    place = {"device": interface.name, "parent": ROOT, "handle": old["handle"]}
    found = programs.run(interface, [_UNLIMITED[old["kind"]].format(**place)])
    deadline = time.monotonic() + DRAIN_S
    while any(qdisc["handle"] == old["handle"] and qdisc["backlog"] for qdisc in found):
        if time.monotonic() > deadline:
            raise NetworkError(f"{old['kind']} still holds packets after {DRAIN_S:g} s", where=_where(interface))
        time.sleep(POLL_S)
        found = programs.run(interface, [])
    going = [qdisc for qdisc in found if qdisc["handle"] in {each["handle"] for each in [old, *leaf]}]
    state.gone = Flow(
        overlimits=state.gone.overlimits + sum(qdisc["overlimits"] for qdisc in going),
        requeues=state.gone.requeues + sum(qdisc["requeues"] for qdisc in going),
    )  # their own counters are lost when they are replaced


def _where(interface: Any) -> str:
    return f"interface {interface.name} of {interface.node.name}"
