"""Queueing disciplines of one interface through tc, and what the kernel says they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from slownet.errors import NetworkError

# netem drops what does not fit into its queue, 1000 packets unless told: too few for a fast, long link.
# With delay alone nothing else may drop, so the queue is larger than any window here.
LIMIT = 10_000


def set_delay(interface: Any, seconds: float) -> None:
    """Gives an interface's outgoing packets a delay; 0 takes it away. In place: no packet is lost by the change.

    interface: a Mininet Intf. Raises NetworkError when the kernel says no, or does something else.
    """
    root = _root(interface)
    if seconds:
        nanoseconds = round(seconds * 1e9)
        _tc(
            interface,
            ["qdisc", "replace", "dev", interface.name, "root", "netem", "delay", f"{nanoseconds}ns", "limit", str(LIMIT)],
        )
    elif root == "netem":
        _tc(interface, ["qdisc", "del", "dev", interface.name, "root"])
    found = delay(interface)
    if abs(found - seconds) > 1e-6:
        raise NetworkError(
            f"the kernel delays by {found * 1e3:g} ms instead of {seconds * 1e3:g} ms", where=f"interface {interface.name}"
        )


def delay(interface: Any) -> float:
    """Seconds by which netem delays what the interface sends, as the kernel reports it; 0 without netem."""
    for qdisc in _show(interface):
        if qdisc["kind"] == "netem" and qdisc.get("root"):
            return float(qdisc["options"].get("delay", {}).get("delay", 0.0))
    return 0.0


def _root(interface: Any) -> str:
    return next((str(qdisc["kind"]) for qdisc in _show(interface) if qdisc.get("root")), "")


def _show(interface: Any) -> list[dict[str, Any]]:
    return list(json.loads(_tc(interface, ["-json", "qdisc", "show", "dev", interface.name]) or "[]"))


def _tc(interface: Any, words: Sequence[str]) -> str:
    output, errors, status = interface.node.pexec(["tc", *words])
    if status:
        raise NetworkError(
            f"tc {' '.join(words)}: {errors.strip()}", where=f"interface {interface.name} of {interface.node.name}"
        )
    return str(output)
