"""The counters of a network's links, read with two netlink dumps per namespace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from slownet.lab.run.counters import Counters, Flow
from slownet.net import kernel_counters
from slownet.net.namespace import inside
from slownet.net.netlink import Route

OF_QDISCS = ("dropped", "overlimits", "requeues")
"""Counts that a replaced queueing discipline takes with it."""


def counters(
    cables: Iterable[Any], gone: Callable[[Any], Flow], between: Callable[[], None] = lambda: None
) -> dict[Any, Counters]:
    """Return what each of Mininet's links has carried so far; "up" is what its intf1 sent. Raises NetworkError.

    gone: returns the counts of an interface's replaced queueing disciplines. between: called after each node's interfaces, to
    do what cannot wait for all of them; it may change the links' conditions.
    """
    cables = list(cables)
    spaces: dict[Any, list[Any]] = {}  # all nodes in the machine's own namespace are one
    for cable in cables:
        for end in (cable.intf1, cable.intf2):
            spaces.setdefault(end.node if end.node.inNamespace else None, []).append(end)
    found: dict[Any, dict[str, Flow]] = {}
    replaced: dict[Any, Flow] = {}
    none = Flow()
    for space, ends in spaces.items():
        found[space] = _flows(ends[-1].node)
        replaced |= {end: gone(end) for end in ends}
        between()

    def of(end: Any) -> Flow:
        flow = found[end.node if end.node.inNamespace else None].get(end.name, none)
        before = replaced[end]
        return Flow(
            **flow.to_json() | {name: getattr(flow, name) + getattr(before, name) for name in OF_QDISCS},
            qdiscs=flow.qdiscs,
        )

    return {cable: Counters(of(cable.intf1), of(cable.intf2)) for cable in cables}


def _flows(node: Any) -> dict[str, Flow]:
    """Return what each interface of a node's namespace has sent, by its name."""
    with inside(node), Route() as route:
        interfaces = kernel_counters.interfaces(route)
        qdiscs = defaultdict(list)
        for each in kernel_counters.qdiscs(route):
            qdiscs[each.interface].append(each)
    return {each.name: flow(each, qdiscs[each.index]) for each in interfaces}


def flow(interface: kernel_counters.Interface, qdiscs: list[kernel_counters.Qdisc]) -> Flow:
    """Summarise an interface's chain of queueing disciplines as one.

    What the interface sent is what left the chain. Classful disciplines also count the drops of their children, so the root's
    drops are the chain's. Overlimits and requeues are not passed up, so they are summed.
    """
    root = next((each for each in qdiscs if each.root), None)
    return Flow(
        interface.tx_packets,
        interface.tx_bytes,
        (root.dropped if root else 0) + interface.tx_dropped,
        sum(each.overlimits for each in qdiscs),
        sum(each.requeues for each in qdiscs),
        root.queued_packets if root else 0,
        root.queued_bytes if root else 0,
        {f"{each.kind} {each.handle}": _own(each) for each in qdiscs},
    )


def _own(qdisc: kernel_counters.Qdisc) -> Flow:
    return Flow(
        qdisc.packets, qdisc.bytes, qdisc.dropped, qdisc.overlimits, qdisc.requeues, qdisc.queued_packets, qdisc.queued_bytes
    )
