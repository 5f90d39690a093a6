"""Changes the queueing disciplines of an interface in place through tc, and reads them back."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.lab.run.counters import Flow
from slownet.links.conditions.jitter import Table
from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import NetworkError
from slownet.net import kernel_counters, shaper, tc
from slownet.net.compare_qdiscs import Deviation, deviations
from slownet.net.namespace import inside
from slownet.net.netlink import Route
from slownet.net.plan import BLACKHOLE, ROOT, Layer, Qdisc, layers
from slownet.net.shaper import TCEnd

DEFAULT = "0:"  # the handle of an interface's default qdisc
DRAIN_S = 120.0
POLL_S = 0.005
LIMITLESS = 100_000_000_000  # bit/s
# Commands that lift a bottleneck's limit, so that its queue drains, by kind of qdisc.
_UNLIMITED = {
    "netem": "qdisc replace dev {device} parent {parent} handle {handle} netem limit 100000 rate 0bit",
    "tbf": "qdisc replace dev {device} parent {parent} handle {handle} tbf rate 100gbit burst 10mb limit 100mb",
    "cake": "qdisc replace dev {device} parent {parent} handle {handle} cake unlimited",
}


@dataclass
class State:
    """The known state of an interface's qdiscs."""

    shown: list[Qdisc] | None = None
    """As tc showed them after the last change; None to read them before the next one."""
    gone: Flow = field(default_factory=Flow)
    """Counts of replaced qdiscs."""
    root: str = ROOT
    """The handle of the root that slownet made last."""
    applied: bool = False
    """True if the kernel was given a condition: those of a switch's ports wait until it starts."""


def apply(interface: Any, stated: OneWay, state: State, programs: tc.Programs) -> None:
    """Apply a condition to what an interface sends, and read it back.

    A netem at the root is never removed, because that would drop packets in flight; without a condition it does nothing. So
    packets in flight and in queues survive every change except a cut, which loses them. Between the layouts of a condition and
    of a TCLink, and between two of a TCLink's, the queues drain first. Raises NetworkError if the kernel refuses the change or
    has other values afterwards.
    """
    condition = stated.condition
    shown = state.shown
    if shown is None:
        shown = _first_look(interface, state, programs)
    if isinstance(stated, TCEnd):
        _apply_shaper(interface, stated, shown, state, programs)
        return
    if state.root != ROOT:
        shown = _cleared(interface, shown, state, programs, drains=not condition.cut)
    state.root = ROOT
    has_child = any(qdisc.get("parent", "").startswith(ROOT) for qdisc in shown)
    planned = layers(condition, stated.way, child=has_child)
    if isinstance(condition.distribution, Table):
        tc.provide(condition.distribution)
    if not condition.cut:
        _drain(interface, planned, shown, state, programs)
    found = programs.run(interface, [layer.command(interface.name) for layer in planned])
    state.shown = found
    state.applied = True
    _check(interface, deviations(planned, found))


def _check(interface: Any, found: Iterable[Deviation]) -> None:
    for option, stated, value in found:
        raise NetworkError(f"the kernel has {option} {value} instead of the {stated} asked for", where=_where(interface))


def _apply_shaper(
    interface: Any, end: TCEnd, shown: list[Qdisc], state: State, programs: tc.Programs
) -> None:  # fmt: skip
    """Apply a TCLink's parameters."""
    if shaper.structure(shown) != shaper.planned_structure(shaper.layers(end)):
        shown = _cleared(interface, shown, state, programs, drains=not end.condition.cut)
    state.root = end.root or ROOT
    state.shown = programs.run(interface, shaper.commands(end, interface.name, shown))
    state.applied = True
    _check(interface, _differences(interface, end, state.shown))


def _differences(interface: Any, end: TCEnd, shown: Sequence[Qdisc]) -> Iterable[Deviation]:
    yield from deviations(shaper.layers(end), shown, end.root)
    if end.shaper in shaper.CLASSFUL:
        bits = class_rates(interface).get(shaper.CLASS, 0)
        if bits // 8 != round(end.rate or 0) // 8:
            yield f"class {shaper.CLASS} rate", end.rate, bits


def class_rates(interface: Any) -> dict[str, int]:
    """Return the rates of an interface's classes in bit/s, by handle. Raises NetworkError."""
    with inside(interface.node), Route() as route:
        return kernel_counters.class_rates(route, socket.if_nametoindex(interface.name))


def changed(interface: Any, stated: OneWay, shown: Sequence[Qdisc]) -> bool:
    """Return whether another program has changed an interface's qdiscs since it was given this condition.

    shown: as tc shows them now.
    """
    if isinstance(stated, TCEnd):
        return shaper.structure(shown) != shaper.planned_structure(shaper.layers(stated)) or any(
            _differences(interface, stated, shown)
        )
    child = any(qdisc.get("parent", "").startswith(ROOT) for qdisc in shown)
    planned = layers(stated.condition, stated.way, child=child)
    return any(True for _ in deviations(planned, shown))


def observed(interface: Any, shown: Sequence[Qdisc]) -> OneWay:
    """Return what an interface's qdiscs do now, whatever made them. Raises ConditionError if no condition can state it."""
    return OneWay(shaper.observed(shown, class_rates(interface)))


def _cleared(
    interface: Any, shown: list[Qdisc], state: State, programs: tc.Programs, *, drains: bool
) -> list[Qdisc]:  # fmt: skip
    """Delete an interface's qdiscs when they have sent what they hold; return what tc shows then."""
    mine = [qdisc for qdisc in shown if qdisc["handle"] != DEFAULT]
    if not mine:
        return shown
    found = shown
    if drains:
        # Without limit and delay what is held leaves at once; deleting the root before would drop it.
        found = programs.run(interface, [line for qdisc in mine for line in _unlimited(interface, qdisc)])
        found = _drained(interface, next((each["handle"] for each in mine if each.get("root")), ROOT), found, programs)
    gone = [qdisc for qdisc in found if qdisc["handle"] != DEFAULT]
    state.gone = dataclasses.replace(
        state.gone, dropped=state.gone.dropped + sum(each["drops"] for each in gone if each.get("root"))
    )
    _count(gone, state)
    return programs.run(interface, [f"qdisc del dev {interface.name} root"])


def _unlimited(interface: Any, qdisc: Qdisc) -> list[str]:
    """Return tc's lines that make a qdisc of a chain let everything through at once."""
    kind, handle = qdisc["kind"], qdisc["handle"]
    if kind in shaper.CLASSFUL:
        return [shaper.class_command(interface.name, kind, each, LIMITLESS) for each in class_rates(interface)]
    where = "root" if qdisc.get("root") else f"parent {qdisc['parent']}"
    if kind == "netem":
        return [f"qdisc replace dev {interface.name} {where} handle {handle} netem limit 100000 delay 0ns rate 0bit"]
    template = _UNLIMITED.get(kind)
    return [template.format(device=interface.name, parent=where.removeprefix("parent "), handle=handle)] if template else []


def _drained(interface: Any, handle: str, found: list[Qdisc], programs: tc.Programs) -> list[Qdisc]:
    """Wait until a qdisc holds nothing, and return what tc shows then."""
    deadline = time.monotonic() + DRAIN_S
    while held := [qdisc for qdisc in found if qdisc["handle"] == handle and qdisc["backlog"]]:
        if time.monotonic() > deadline:
            what = f"{held[0]['kind']} still holds packets after {DRAIN_S:g} s"
            raise NetworkError(what, _where(interface), "something keeps sending: end it before the link is set")
        time.sleep(POLL_S)  # in which packets leave: the virtual clock moves while all processes sleep
        found = programs.run(interface, [])
    return found


def _count(going: Iterable[Qdisc], state: State) -> None:
    """Keep the counts of qdiscs that are replaced, which the kernel forgets."""
    going = list(going)
    state.gone = dataclasses.replace(
        state.gone,
        overlimits=state.gone.overlimits + sum(qdisc["overlimits"] for qdisc in going),
        requeues=state.gone.requeues + sum(qdisc["requeues"] for qdisc in going),
    )


def delay(shown: Iterable[Qdisc]) -> float:
    """Return the delay in seconds of the netem in an interface's qdiscs as tc shows them; 0 without netem."""
    for qdisc in shown:
        if qdisc["kind"] == "netem" and qdisc.get("root"):
            return float(qdisc["options"].get("delay", {}).get("delay", 0.0))
    return 0.0


def _first_look(interface: Any, state: State, programs: tc.Programs) -> list[Qdisc]:
    """Read an interface's qdiscs. Raises NetworkError if another program shapes it."""
    shown = programs.run(interface, [])
    for qdisc in shown:
        if qdisc.get("root") and qdisc["handle"] not in (state.root, DEFAULT):
            raise NetworkError(
                f"another program's {qdisc['kind']} {qdisc['handle']} shapes what it sends",
                where=_where(interface),
                fix=f"remove it with tc qdisc del dev {interface.name} root, then set the link",
            )
    return shown


def _drain(interface: Any, planned: Sequence[Layer], shown: Sequence[Qdisc], state: State, programs: tc.Programs) -> None:
    """Drain qdiscs that another kind will replace, because the kernel would drop the packets in their queues."""
    handles = {layer.handle for layer in planned}
    old = next((qdisc for qdisc in shown if qdisc.get("parent", "").startswith(ROOT)), None)
    leaf = [qdisc for qdisc in shown if old and qdisc.get("parent", "").startswith(old["handle"])]
    if old is None or old["handle"] == BLACKHOLE or all(qdisc["handle"] in handles for qdisc in [old, *leaf]):
        return
    place = {"device": interface.name, "parent": ROOT, "handle": old["handle"]}
    found = programs.run(interface, [_UNLIMITED[old["kind"]].format(**place)])
    found = _drained(interface, old["handle"], found, programs)
    _count([qdisc for qdisc in found if qdisc["handle"] in {each["handle"] for each in [old, *leaf]}], state)


def _where(interface: Any) -> str:
    return f"interface {interface.name} of {interface.node.name}"
