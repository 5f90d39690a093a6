"""What an interface itself is told, beside its queues: its MTU and its offloads."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from slownet.errors import NetworkError
from slownet.net import tc
from slownet.net.ethtool import MANY_SEGMENTS, ONE_SEGMENT

# Without them a "packet" of up to 64 KB would be one to loss, rate and queue.
OFFLOADS = {"tso": "tcp-segmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload"}
MOST_SEGMENTS = 65535  # linux/netdevice.h, GSO_MAX_SEGS


def set_mtu(interface: Any, mtu: int | None) -> None:
    """Sets an interface's MTU in bytes; None brings back the one that it had first. Raises NetworkError."""
    if mtu == getattr(interface, "slownet_mtu", None):
        return
    if not hasattr(interface, "slownet_first_mtu"):
        interface.slownet_first_mtu = tc.ip(interface, [])["mtu"]
    wanted = interface.slownet_first_mtu if mtu is None else mtu
    found = tc.ip(interface, [f"link set dev {interface.name} mtu {wanted}"])["mtu"]
    if found != wanted:
        raise NetworkError(f"the kernel has MTU {found} where {wanted} was stated", where=_where(interface))
    interface.slownet_mtu = mtu


def set_offloads(interface: Any, on: bool) -> None:
    """Turns segmentation and its undoing on or off; a network is built with them off (see netlink.End). Raises NetworkError."""
    if getattr(interface, "slownet_offloads", False) == on:
        return
    word = "on" if on else "off"
    _run(interface, ["ethtool", "-K", interface.name, *(part for name in OFFLOADS for part in (name, word))])
    text = _run(interface, ["ethtool", "-k", interface.name])
    segments = MOST_SEGMENTS if on else 1
    _run(interface, ["ip", "link", "set", "dev", interface.name, "gso_max_segs", str(segments)])
    (shown,) = json.loads(_run(interface, ["ip", "-details", "-json", "link", "show", "dev", interface.name]))
    if shown["gso_max_segs"] != segments:
        raise NetworkError(
            f"the kernel has packets of {shown['gso_max_segs']} segments where {segments} were stated", where=_where(interface)
        )
    for feature in OFFLOADS.values():
        if not re.search(rf"^{feature}: {word}\b", text, re.MULTILINE):
            raise NetworkError(f"the kernel does not turn {feature} {word}", where=_where(interface))
    tc.ip(interface, [f"link set dev {interface.name} gso_max_segs {MANY_SEGMENTS if on else ONE_SEGMENT}"])
    interface.slownet_offloads = on


def _run(interface: Any, words: Sequence[str]) -> str:
    output, errors, status = interface.node.pexec(list(words))
    if status:
        raise NetworkError(f"{' '.join(words)}: {errors.strip() or output.strip()}", where=_where(interface))
    return str(output)


def _where(interface: Any) -> str:
    return f"interface {interface.name} of {interface.node.name}"
