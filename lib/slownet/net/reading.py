"""What the kernel counts: interfaces and queueing disciplines of a namespace, each in one dump over netlink.

Layouts: linux/if_link.h, linux/pkt_sched.h, linux/gen_stats.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from slownet.net.netlink import IFLA_IFALIAS, IFLA_IFNAME, Route, attributes

RTM_GETLINK, RTM_GETQDISC = 18, 38
IFLA_STATS64 = 23
TCA_KIND, TCA_STATS2 = 1, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_PKT64 = 1, 3, 8
TC_H_ROOT = 0xFFFFFFFF


@dataclass(frozen=True)
class Interface:
    """One interface: what it has sent and received since it was made."""

    index: int
    name: str
    alias: str
    rx_packets: int
    tx_packets: int
    rx_bytes: int
    tx_bytes: int
    rx_dropped: int
    tx_dropped: int


@dataclass(frozen=True)
class Qdisc:
    """One queueing discipline of an interface (its number), as `tc -s qdisc` shows it."""

    interface: int
    kind: str
    handle: str
    root: bool
    packets: int
    bytes: int
    dropped: int
    overlimits: int
    requeues: int
    queued_packets: int
    queued_bytes: int


def interfaces(route: Route) -> list[Interface]:
    """The interfaces of the namespace that the socket was made in. Raises NetworkError."""
    return [_interface(each) for each in route.dump(RTM_GETLINK, bytes(16), "list the interfaces")]


def qdiscs(route: Route) -> list[Qdisc]:
    """The queueing disciplines of the namespace that the socket was made in. Raises NetworkError."""
    return [_qdisc(each) for each in route.dump(RTM_GETQDISC, bytes(20), "list the queueing disciplines")]


def _interface(message: bytes) -> Interface:
    (index,) = struct.unpack_from("=i", message, 4)
    found = attributes(message[16:])
    # rx and tx packets, bytes, errors, dropped
    counted = struct.unpack_from("=8Q", found.get(IFLA_STATS64, bytes(64)))
    name, alias = _text(found[IFLA_IFNAME]), _text(found.get(IFLA_IFALIAS, b""))
    return Interface(index, name, alias, *counted[:4], *counted[6:])


def _qdisc(message: bytes) -> Qdisc:
    index, handle, parent = struct.unpack_from("=iII", message, 4)
    found = attributes(message[20:])
    counted = attributes(found.get(TCA_STATS2, b""))
    octets, packets = struct.unpack_from("=QI", counted.get(TCA_STATS_BASIC, bytes(12)))
    if TCA_STATS_PKT64 in counted:
        (packets,) = struct.unpack_from("=Q", counted[TCA_STATS_PKT64])
    length, backlog, drops, requeues, overlimits = struct.unpack_from("=5I", counted.get(TCA_STATS_QUEUE, bytes(20)))
    return Qdisc(
        index, _text(found[TCA_KIND]), f"{handle >> 16:x}:", parent == TC_H_ROOT, packets, octets, drops, overlimits, requeues,
        length, backlog,
    )  # fmt: skip


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode(errors="replace")
