"""The kernel's counters of a namespace's interfaces and queueing disciplines, each in one netlink dump.

Layouts: linux/if_link.h, linux/pkt_sched.h, linux/gen_stats.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from slownet.net.netlink import IFLA_IFALIAS, IFLA_IFNAME, Route, attributes

RTM_GETLINK, RTM_GETQDISC, RTM_GETTCLASS = 18, 38, 42
IFLA_STATS64 = 23
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_HTB_PARMS, TCA_HTB_RATE64, TCA_HFSC_USC = 1, 6, 3
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_PKT64 = 1, 3, 8
TC_H_ROOT = 0xFFFFFFFF


@dataclass(frozen=True)
class Interface:
    """One interface, and what it has sent and received since it was made."""

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
    """One queueing discipline, as `tc -s qdisc` shows it. interface: its number; parent: the handle of the one above."""

    interface: int
    kind: str
    handle: str
    parent: str
    root: bool
    packets: int
    bytes: int
    dropped: int
    overlimits: int
    requeues: int
    queued_packets: int
    queued_bytes: int


def interfaces(route: Route) -> list[Interface]:
    """Return the interfaces of the socket's namespace. Raises NetworkError."""
    return [_interface(each) for each in route.dump(RTM_GETLINK, bytes(16), "list the interfaces")]


def qdiscs(route: Route) -> list[Qdisc]:
    """Return the queueing disciplines of the socket's namespace. Raises NetworkError."""
    return [_qdisc(each) for each in route.dump(RTM_GETQDISC, bytes(20), "list the queueing disciplines")]


def class_rates(route: Route, interface: int) -> dict[str, int]:
    """Return the rates of an interface's classes of htb and hfsc in bit/s, by handle: tc shows them as text only.

    interface: its number in the socket's namespace. Raises NetworkError.
    """
    request = struct.pack("=BxHiIII", 0, 0, interface, 0, 0, 0)
    return dict(filter(None, map(_rate, route.dump(RTM_GETTCLASS, request, "list the classes"))))


def _rate(message: bytes) -> tuple[str, int] | None:
    (handle,) = struct.unpack_from("=I", message, 8)
    found = attributes(message[20:])
    options = attributes(found.get(TCA_OPTIONS, b""))
    octets = None
    if TCA_HTB_RATE64 in options:
        (octets,) = struct.unpack("=Q", options[TCA_HTB_RATE64])
    elif _text(found[TCA_KIND]) == "htb" and TCA_HTB_PARMS in options:
        (octets,) = struct.unpack_from("=I", options[TCA_HTB_PARMS], 8)  # tc_htb_opt.rate.rate
    elif _text(found[TCA_KIND]) == "hfsc" and TCA_HFSC_USC in options:
        (octets,) = struct.unpack_from("=I", options[TCA_HFSC_USC], 8)  # tc_service_curve.m2
    return None if octets is None else (f"{handle >> 16:x}:{handle & 0xFFFF:x}", 8 * octets)


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
        index, _text(found[TCA_KIND]), f"{handle >> 16:x}:", f"{parent >> 16:x}:", parent == TC_H_ROOT, packets, octets, drops,
        overlimits, requeues, length, backlog,
    )  # fmt: skip


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode(errors="replace")
