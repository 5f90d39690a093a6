"""Settings of an interface apart from its queues: MTU and offloads."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from slownet.model.errors import NetworkError
from slownet.net import tc
from slownet.net.ethtool import MANY_SEGMENTS, ONE_SEGMENT

# With these on, loss, rate and queue would treat a super-packet of up to 64 KB as one packet.
OFFLOADS = {"tso": "tcp-segmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload"}
MOST_SEGMENTS = 65535  # linux/netdevice.h, GSO_MAX_SEGS


@dataclass
class State:
    """The state of an interface. mtu: as stated, in bytes; first_mtu: its MTU before the first change."""

    mtu: int | None = None
    first_mtu: int | None = None
    offloads: bool = False


def set_first_mtu(ends: Iterable[Any], mtu: int) -> None:
    """Set the MTU that interfaces have from the start, to which `set_mtu` restores them. Raises NetworkError."""
    for end in ends:
        _run(end, ["ip", "link", "set", "dev", end.name, "mtu", str(mtu)])


def set_mtu(interface: Any, mtu: int | None, state: State, programs: tc.Programs) -> None:
    """Set an interface's MTU in bytes; None restores its first one. Raises NetworkError."""
    if mtu == state.mtu:
        return
    if state.first_mtu is None:
        state.first_mtu = int(programs.ip(interface, [])["mtu"])
    wanted = state.first_mtu if mtu is None else mtu
    found = programs.ip(interface, [f"link set dev {interface.name} mtu {wanted}"])["mtu"]
    if found != wanted:
        raise NetworkError(f"the kernel has MTU {found} instead of the {wanted} asked for", where=_where(interface))
    state.mtu = mtu


def set_offloads(interface: Any, on: bool, state: State, programs: tc.Programs) -> None:
    """Turn segmentation offloads on or off; a network is built with them off (see netlink.End). Raises NetworkError."""
    if state.offloads == on:
        return
    word = "on" if on else "off"
    _run(interface, ["ethtool", "-K", interface.name, *(part for name in OFFLOADS for part in (name, word))])
    text = _run(interface, ["ethtool", "-k", interface.name])
    segments = MOST_SEGMENTS if on else 1
    _run(interface, ["ip", "link", "set", "dev", interface.name, "gso_max_segs", str(segments)])
    (shown,) = json.loads(_run(interface, ["ip", "-details", "-json", "link", "show", "dev", interface.name]))
    if shown["gso_max_segs"] != segments:
        raise NetworkError(
            f"the kernel has gso_max_segs {shown['gso_max_segs']} instead of {segments}", where=_where(interface)
        )
    for feature in OFFLOADS.values():
        if not re.search(rf"^{feature}: {word}\b", text, re.MULTILINE):
            raise NetworkError(f"the kernel does not turn {feature} {word}", where=_where(interface))
    programs.ip(interface, [f"link set dev {interface.name} gso_max_segs {MANY_SEGMENTS if on else ONE_SEGMENT}"])
    state.offloads = on


def _run(interface: Any, words: Sequence[str]) -> str:
    process = interface.node.popen(list(words))
    try:
        output, errors = (text.decode() for text in process.communicate(timeout=tc.DEADLINE_S))
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise tc.silent(" ".join(words), _where(interface)) from None
    if process.returncode:
        raise NetworkError(f"{' '.join(words)}: {errors.strip() or output.strip()}", where=_where(interface))
    return str(output)


def _where(interface: Any) -> str:
    return f"interface {interface.name} of {interface.node.name}"
