"""Conditions of links that a program has overwritten: by Open vSwitch's queues, or by its own tc commands.

An interface has one queueing discipline at its root. What puts another one there, as `ovs-vsctl set port s1-eth1 qos=@q` does,
removes the netem that delays, without a word.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mininet.node import OVSSwitch

from slownet.links.conditions.oneway import OneWay
from slownet.model.errors import NetworkError
from slownet.net.compare_qdiscs import flat
from slownet.net.places import Place
from slownet.net.plan import Qdisc
from slownet.net.qdisc import DEFAULT
from slownet.net.shaping import Shaping

LIMITING = ("htb", "hfsc", "tbf", "cake", "cbq", "drr", "taprio")
FIX = "add netem below it with tc, or state the rate of the link itself (bw=)"
REPLY_S = 10


def lines(links: Iterable[Any], shaping: Shaping, stated: Mapping[Any, Place]) -> Iterator[str]:
    """Yield a line for each interface that no longer has a delay, a loss or a rate that its link states.

    stated: the places of links.
    """
    for link in links:
        for interface in (link.intf1, link.intf2):
            end = shaping.end(interface)
            if end.stated is None or not end.queues.applied or end.stated.condition.cut:
                continue
            try:
                shown = [each for each in shaping.programs.run(interface, []) if each["handle"] != DEFAULT]
            except NetworkError:  # the program has deleted the interface
                continue
            if lost := dropped(end.stated, shown):
                names = ", ".join(
                    filter(None, (f"link {link.intf1.node.name}-{link.intf2.node.name}", str(stated.get(link, ""))))
                )
                yield f"{interface.name} has lost its {' and '.join(lost)} to {_by(interface, shown)}, {names}: {FIX}"


def dropped(stated: OneWay, shown: Sequence[Qdisc]) -> list[str]:
    """Return as text what a condition states and queueing disciplines, as tc shows them, do not do at all."""
    does = {name for qdisc in shown if qdisc["kind"] == "netem" for name, value in flat(qdisc["options"]) if value}
    limited = "rate.rate" in does or any(qdisc["kind"] in LIMITING for qdisc in shown)
    lost = []
    if stated.delay and "delay.delay" not in does:
        lost.append(f"delay of {1000 * stated.delay:g} ms")
    if stated.loss and not any(name.startswith("loss") for name in does):
        lost.append("loss")
    if stated.rate and not limited:
        lost.append(f"rate of {stated.rate / 1e6:g} Mbit/s")
    return lost


def _by(interface: Any, shown: Sequence[Qdisc]) -> str:
    """Return what an interface has in place of its queueing disciplines."""
    names = ", ".join(f"{qdisc['kind']} {qdisc['handle']}" for qdisc in shown)
    if isinstance(interface.node, OVSSwitch):
        words = ["ovs-vsctl", "--if-exists", "get", "port", interface.name, "qos"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=REPLY_S)
        if done.stdout.strip() not in ("", "[]"):
            return f"Open vSwitch's qos ({names})" if names else "Open vSwitch's qos"
    return f"a tc command of the program ({names or 'no queueing discipline is left'})"
