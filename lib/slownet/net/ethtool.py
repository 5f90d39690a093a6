"""ethtool's ioctls without its process: switching offloads off, and asking for the carrier.

Without offloads, packets on an emulated link have the size of packets on a real one.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from slownet.model.errors import NetworkError

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
