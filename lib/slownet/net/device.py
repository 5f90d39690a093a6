"""Settings of an interface apart from its queues: MTU and offloads, by ethtool's ioctls without its process."""

from __future__ import annotations

import ctypes
import fcntl
import json
import re
import socket
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from slownet.model.errors import NetworkError
from slownet.net import tc

# Without offloads, packets on an emulated link have the size of packets on a real one.

# linux/ethtool.h, linux/sockios.h
SIOCETHTOOL = 0x8946
ETHTOOL_GLINK = 0x0A
ETHTOOL_GSTRINGS, ETHTOOL_GSSET_INFO, ETHTOOL_SFEATURES = 0x1B, 0x37, 0x3B
ETH_SS_FEATURES, ETH_GSTRING_LEN = 4, 32
# TCP gives super-packets to the queueing disciplines even with all offloads off (Linux 4.17 and newer: "tcp: switch to GSO
# being always on"), and they are only cut behind the queue. This limit of a device, gso_max_segs, prevents that.
ONE_SEGMENT, MANY_SEGMENTS = 1, 65535
# The kernel's names for ethtool's tso, gso and gro; new kernels add members to tso.
KERNEL_NAMES = {"tso": "tx-tcp*-segmentation", "gso": "tx-generic-segmentation", "gro": "rx-gro"}


def switch_off(name: str, features: Sequence[str]) -> None:
    """Switch "tso", "gso" or "gro" off on an interface of this thread's network namespace. Raises NetworkError."""
    if not features:
        return
    try:
        count, bits = _bits(tuple(features))
        blocks = [sum(1 << bit % 32 for bit in bits if bit // 32 == block) for block in range((count + 31) // 32)]
        words = [word for valid in blocks for word in (valid, 0)]
        _ethtool(name, struct.pack(f"=II{len(words)}I", ETHTOOL_SFEATURES, len(blocks), *words))
    except OSError as error:
        raise NetworkError(f"cannot switch {', '.join(features)} off: {error.strerror}", where=f"interface {name}") from error


def carrier(name: str) -> bool:
    """Return whether an interface of this thread's network namespace has a carrier. Raises NetworkError.

    The request makes the kernel complete a pending change of the carrier, which otherwise takes up to a second (linkwatch).
    Until then it drops packets, and an ARP request is only repeated after a second.
    """
    try:
        return bool(struct.unpack("=II", _ethtool(name, struct.pack("=II", ETHTOOL_GLINK, 0)))[1])
    except OSError as error:
        raise NetworkError(f"cannot ask for the carrier: {error.strerror}", where=f"interface {name}") from error


@cache
def _bits(features: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    """Return how many features the kernel has, and the numbers of these; they are the same for every interface."""
    names = _names()
    return len(names), tuple(
        bit for bit, known in enumerate(names) if any(fnmatchcase(known, KERNEL_NAMES[each]) for each in features)
    )


@cache
def _names() -> list[str]:
    """Return the names of the kernel's features, by number; asked of loopback, which every namespace has."""
    answer = _ethtool("lo", struct.pack("=IIQI", ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0))
    (count,) = struct.unpack_from("=I", answer, 16)
    request = struct.pack("=III", ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count) + bytes(count * ETH_GSTRING_LEN)
    strings = _ethtool("lo", request)[12:]
    return [
        strings[start : start + ETH_GSTRING_LEN].split(b"\0")[0].decode() for start in range(0, len(strings), ETH_GSTRING_LEN)
    ]


def _ethtool(name: str, request: bytes) -> bytes:
    value = ctypes.create_string_buffer(request, len(request))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP16x", name.encode(), ctypes.addressof(value)))
    return value.raw


# With these on, loss, rate and queue would treat a super-packet of up to 64 KB as one packet.
OFFLOADS = {"tso": "tcp-segmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload"}
MOST_SEGMENTS = 65535  # linux/netdevice.h, GSO_MAX_SEGS


@dataclass
class State:
    """The state of an interface. mtu: as configured, in bytes; first_mtu: its MTU before the first change."""

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
