"""What ethtool does with an interface, without its process: offloads off, and whether there is a carrier.

Without offloads a packet on the cable is what a packet on a real cable would be.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from slownet.errors import NetworkError

# linux/ethtool.h, linux/sockios.h
SIOCETHTOOL = 0x8946
ETHTOOL_GLINK = 0x0A
ETHTOOL_GSTRINGS, ETHTOOL_GSSET_INFO, ETHTOOL_SFEATURES = 0x1B, 0x37, 0x3B
ETH_SS_FEATURES, ETH_GSTRING_LEN = 4, 32
# TCP hands super-packets to the queueing disciplines even where every offload is off (Linux 4.17 and newer: "tcp: switch
# to GSO being always on"), and they are cut only behind the queue. This limit of a device, gso_max_segs, ends that.
ONE_SEGMENT, MANY_SEGMENTS = 1, 65535
# The kernel's names of what ethtool calls tso, gso and gro; tso has a new member now and then.
KERNEL_NAMES = {"tso": "tx-tcp*-segmentation", "gso": "tx-generic-segmentation", "gro": "rx-gro"}


def switch_off(name: str, features: Sequence[str]) -> None:
    """Switches "tso", "gso", "gro" of an interface of this thread's network namespace off. Raises NetworkError."""
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
    """Whether an interface of this thread's network namespace has a carrier. Raises NetworkError.

    Asking makes the kernel finish a change of the carrier that it else gets round to within a second (linkwatch); until
    then it drops what is sent, and who sent an ARP request waits for a second.
    """
    try:
        return bool(struct.unpack("=II", _ethtool(name, struct.pack("=II", ETHTOOL_GLINK, 0)))[1])
    except OSError as error:
        raise NetworkError(f"cannot ask for the carrier: {error.strerror}", where=f"interface {name}") from error


@cache
def _bits(features: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    """How many features the kernel knows and the numbers of these; the same for every interface."""
    names = _names()
    return len(names), tuple(
        bit for bit, known in enumerate(names) if any(fnmatchcase(known, KERNEL_NAMES[each]) for each in features)
    )


@cache
def _names() -> list[str]:
    """The kernel's features, by number. Every namespace has a loopback interface to ask."""
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
