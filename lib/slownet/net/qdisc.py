"""Queueing disciplines of one interface: changed in place through tc, and what the kernel says they are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from slownet.conditions.jitter import Table
from slownet.conditions.link import Condition
from slownet.counters import Flow
from slownet.errors import NetworkError
from slownet.net import tc
from slownet.net.plan import BLACKHOLE, ROOT, Layer, layers
from slownet.net.readback import deviations

UNASKED = "0:"  # the handle of what a kernel gives an interface by itself
DRAIN_S = 120.0
POLL_S = 0.005
# A bottleneck that opens wide lets go of what waits in it: what hangs there, and how to open it.
_OPEN = {
    "netem": "qdisc replace dev {device} parent {parent} handle {handle} netem limit 100000 rate 0bit",
    "tbf": "qdisc replace dev {device} parent {parent} handle {handle} tbf rate 100gbit burst 10mb limit 100mb",
    "cake": "qdisc replace dev {device} parent {parent} handle {handle} cake unlimited",
}


def apply(interface: Any, condition: Condition, way: str) -> None:
    """Gives what an interface sends a condition, and reads it back.

    The netem at the root stays once it is there, empty when there is no condition: to take it away would drop what is
    on its way. So the packets that travel and those that wait outlive every change but a cut, which loses them. way: "up"
    or "down". Raises NetworkError when the kernel says no, or does something else.
    """
    shown = getattr(interface, "slownet_qdiscs", None)
    if shown is None:
        shown = _claim(interface)
    has_child = any(qdisc.get("parent", "").startswith(ROOT) for qdisc in shown)
    planned = layers(condition, way, child=has_child)
    if isinstance(condition.distribution, Table):
        tc.provide(condition.distribution)
    if not condition.cut:
        _make_room(interface, planned, shown)
    found = tc.run(interface, [layer.command(interface.name) for layer in planned])
    interface.slownet_qdiscs = found
    for field, stated, value in deviations(planned, found):
        raise NetworkError(f"the kernel has {field} {value} where {stated} was stated", where=_where(interface))


def delay(interface: Any) -> float:
    """Seconds by which netem delays what the interface sends, as the kernel reports it; 0 without netem."""
    for qdisc in show(interface):
        if qdisc["kind"] == "netem" and qdisc.get("root"):
            return float(qdisc["options"].get("delay", {}).get("delay", 0.0))
    return 0.0


def forget(interface: Any) -> None:
    """Looks at the interface again before the next change: somebody took its qdiscs away, as Open vSwitch does."""
    interface.slownet_qdiscs = None


def show(interface: Any) -> list[dict[str, Any]]:
    """The interface's qdiscs with their counters, as `tc -json -s` prints them."""
    return tc.run(interface, [])


def _claim(interface: Any) -> list[dict[str, Any]]:
    """Looks at an interface for the first time. Raises NetworkError if somebody else shapes it."""
    shown = show(interface)
    for qdisc in shown:
        if qdisc.get("root") and qdisc["handle"] not in (ROOT, UNASKED):
            raise NetworkError(
                f"somebody else's {qdisc['kind']} {qdisc['handle']} shapes what it sends",
                where=_where(interface),
                fix="build the link without TCLink's parameters, and give it a condition",
            )
    return shown


def _make_room(interface: Any, planned: Sequence[Layer], shown: Sequence[dict[str, Any]]) -> None:
    """Empties what another kind of qdisc is going to replace: with it, the kernel drops what waits in it."""
    handles = {layer.handle for layer in planned}
    old = next((qdisc for qdisc in shown if qdisc.get("parent", "").startswith(ROOT)), None)
    leaf = [qdisc for qdisc in shown if old and qdisc.get("parent", "").startswith(old["handle"])]
    if old is None or old["handle"] == BLACKHOLE or all(qdisc["handle"] in handles for qdisc in [old, *leaf]):
        return
    place = {"device": interface.name, "parent": ROOT, "handle": old["handle"]}
    found = tc.run(interface, [_OPEN[old["kind"]].format(**place)])
    deadline = time.monotonic() + DRAIN_S
    while any(qdisc["handle"] == old["handle"] and qdisc["backlog"] for qdisc in found):
        if time.monotonic() > deadline:
            raise NetworkError(f"{old['kind']} still holds packets after {DRAIN_S:g} s", where=_where(interface))
        time.sleep(POLL_S)
        found = show(interface)
    going = [qdisc for qdisc in found if qdisc["handle"] in {each["handle"] for each in [old, *leaf]}]
    gone = getattr(interface, "slownet_gone", Flow())
    interface.slownet_gone = Flow(
        overlimits=gone.overlimits + sum(qdisc["overlimits"] for qdisc in going),
        requeues=gone.requeues + sum(qdisc["requeues"] for qdisc in going),
    )  # what they counted goes with them


def _where(interface: Any) -> str:
    return f"interface {interface.name} of {interface.node.name}"
