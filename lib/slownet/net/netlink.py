"""The rtnetlink messages that build a network: a system call each instead of a process each.

They are packed by hand, because importing pyroute2 takes half a second in a lab, longer than making fifty hosts.
Numbers and layouts: linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h, linux/pkt_sched.h, linux/pkt_cls.h,
linux/tc_act/tc_mirred.h.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from slownet.model.errors import NetworkError

RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE = 16, 17, 20, 21, 24
RTM_GETADDR, RTM_NEWNEIGH, RTM_DELNEIGH, RTM_GETNEIGH = 22, 28, 29, 30
RTM_NEWQDISC, RTM_DELQDISC, RTM_NEWTFILTER, RTM_DELTFILTER = 36, 37, 44, 45
RTM_NEWLINKPROP = 108
NLM_F_REQUEST, NLM_F_ACK, NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x100, 0x200, 0x400
NLM_F_DUMP, NLM_F_DUMP_INTR = 0x300, 0x10
NLMSG_ERROR, NLMSG_DONE = 2, 3
IFLA_ADDRESS, IFLA_IFNAME, IFLA_LINKINFO, IFLA_IFALIAS, IFLA_GROUP = 1, 3, 18, 20, 27
IFLA_NET_NS_FD, IFLA_GSO_MAX_SEGS = 28, 40
IFLA_LINK, IFLA_PROP_LIST, IFLA_ALT_IFNAME, IFLA_MACVLAN_MODE = 5, 52, 53, 1
MACVLAN_BRIDGE, NLA_F_NESTED = 4, 0x8000
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFA_ADDRESS, IFA_LOCAL, IFA_BROADCAST = 1, 2, 4
RTA_DST, RTA_OIF, RTA_GATEWAY = 1, 4, 5
RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RT_SCOPE_LINK, RTN_UNICAST = 254, 3, 0, 253, 1
NDA_DST, NDA_LLADDR = 1, 2
NUD_STALE, NUD_PERMANENT = 0x04, 0x80
IFF_UP = 1
TCA_KIND, TCA_OPTIONS, TCA_MATCHALL_ACT, TCA_ACT_KIND, TCA_ACT_OPTIONS, TCA_MIRRED_PARMS = 1, 2, 2, 1, 2, 2
TC_H_CLSACT, CLSACT_HANDLE, CLSACT_EGRESS = 0xFFFFFFF1, 0xFFFF0000, 0xFFFFFFF3
TC_ACT_UNSPEC, TCA_EGRESS_MIRROR, ETH_P_ALL = -1, 2, 3
SOL_NETLINK, NETLINK_EXT_ACK, NLMSGERR_ATTR_MSG = 270, 11, 1
NAME_LENGTH = 15
HEAD = struct.Struct("=IHHII")
"""struct nlmsghdr: length, kind, flags, number, port."""
_UNREACHED = "give it a gateway in the subnet of one of its own addresses"


class Route:
    """A netlink socket in the network namespace of the thread that makes it."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()

    def veth(self, ends: tuple[End, End], group: int) -> None:
        """Make a cable between two namespaces, both ends down. Raises NetworkError naming both ends.

        group: the ends' group for `delete_group`.
        """
        first, second = ends
        peer = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + second.attributes(group)
        info = _text(IFLA_INFO_KIND, "veth") + _attribute(IFLA_INFO_DATA, _attribute(VETH_INFO_PEER, peer))
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + first.attributes(group) + _attribute(IFLA_LINKINFO, info)
        self._ask(RTM_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL, f"make the cable {first.name}-{second.name}")

    def up(self, name: str) -> None:
        """Set an interface up. Raises NetworkError."""
        body = struct.pack("=BxHiII", 0, 0, 0, IFF_UP, IFF_UP) + _text(IFLA_IFNAME, name)
        self._ask(RTM_NEWLINK, body, 0, f"set {name} up")

    def set_mac(self, name: str, mac: str) -> None:
        """Set an interface's hardware address. Raises NetworkError."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _text(IFLA_IFNAME, name) + _attribute(IFLA_ADDRESS, _mac(mac))
        self._ask(RTM_NEWLINK, body, 0, f"give {name} the address {mac}")

    def set_alias(self, name: str, text: str) -> None:
        """Set an interface's alias, which `ip link` shows."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _text(IFLA_IFNAME, name) + _attribute(IFLA_IFALIAS, text.encode())
        self._ask(RTM_NEWLINK, body, 0, f"mark {name}")

    def set_other_name(self, name: str, other: str) -> None:
        """Make an interface known by another name, too (``ip link property add ... altname``). Raises NetworkError."""
        head = struct.pack("=BxHiII", 0, 0, socket.if_nametoindex(name), 0, 0)
        body = head + _attribute(IFLA_PROP_LIST | NLA_F_NESTED, _text(IFLA_ALT_IFNAME, other))
        self._ask(RTM_NEWLINKPROP, body, NLM_F_CREATE, f"name {name} {other}, too", tolerated=(errno.EEXIST,))

    def macvlan(self, name: str, below: str, mac: str) -> None:
        """Make a second interface on the cable of another one, up, with a hardware address of its own. Raises NetworkError."""
        mode = _attribute(IFLA_MACVLAN_MODE, struct.pack("=I", MACVLAN_BRIDGE))
        info = _text(IFLA_INFO_KIND, "macvlan") + _attribute(IFLA_INFO_DATA, mode)
        body = struct.pack("=BxHiII", 0, 0, 0, IFF_UP, IFF_UP) + _text(IFLA_IFNAME, name)
        body += _attribute(IFLA_LINK, struct.pack("=i", socket.if_nametoindex(below)))
        body += _attribute(IFLA_ADDRESS, _mac(mac)) + _attribute(IFLA_LINKINFO, info)
        self._ask(RTM_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL, f"make the interface {name} on {below}")

    def dummy(self, name: str) -> None:
        """Make an interface, down, whose packets go nowhere. Raises NetworkError."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _text(IFLA_IFNAME, name)
        body += _attribute(IFLA_LINKINFO, _text(IFLA_INFO_KIND, "dummy"))
        self._ask(RTM_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL, f"make the interface {name}")

    def add_clsact(self, name: str) -> bool:
        """Give an interface the filters of clsact, and return whether their place was free. Raises NetworkError."""
        body = _queueing(name, CLSACT_HANDLE, TC_H_CLSACT) + _text(TCA_KIND, "clsact")
        what = f"give {name} a clsact"
        return not self._ask(RTM_NEWQDISC, body, NLM_F_CREATE | NLM_F_EXCL, what, tolerated=(errno.EEXIST,))

    def delete_clsact(self, name: str) -> None:
        """Remove an interface's clsact, with its filters. Raises NetworkError."""
        body = _queueing(name, CLSACT_HANDLE, TC_H_CLSACT) + _text(TCA_KIND, "clsact")
        self._ask(RTM_DELQDISC, body, 0, f"remove the clsact of {name}")

    def mirror(self, name: str, to: str, preference: int) -> None:
        """Mirror what an interface with a clsact sends to another one, and let the next filter have it. Raises NetworkError."""
        mirred = struct.pack("=IIiiiiI", 0, 0, TC_ACT_UNSPEC, 0, 0, TCA_EGRESS_MIRROR, socket.if_nametoindex(to))
        options = _attribute(TCA_ACT_OPTIONS | NLA_F_NESTED, _attribute(TCA_MIRRED_PARMS, mirred))
        action = _attribute(1 | NLA_F_NESTED, _text(TCA_ACT_KIND, "mirred") + options)
        body = _queueing(name, 0, CLSACT_EGRESS, _place_of_filter(preference)) + _text(TCA_KIND, "matchall")
        body += _attribute(TCA_OPTIONS | NLA_F_NESTED, _attribute(TCA_MATCHALL_ACT | NLA_F_NESTED, action))
        self._ask(RTM_NEWTFILTER, body, NLM_F_CREATE | NLM_F_EXCL, f"mirror what {name} sends")

    def stop_mirror(self, name: str, preference: int) -> None:
        """Remove the filter of `mirror`. Raises NetworkError."""
        body = _queueing(name, 0, CLSACT_EGRESS, _place_of_filter(preference)) + _text(TCA_KIND, "matchall")
        self._ask(RTM_DELTFILTER, body, 0, f"stop mirroring what {name} sends")

    def addresses(self) -> list[tuple[int, str]]:
        """Return all addresses of this namespace, each with the index of its interface. Raises NetworkError."""
        found = []
        for each in self.dump(RTM_GETADDR, struct.pack("=BBBBi", socket.AF_UNSPEC, 0, 0, 0, 0), "list addresses"):
            family, _, _, _, index = struct.unpack_from("=BBBBi", each)
            known = attributes(each[8:])
            if family in (socket.AF_INET, socket.AF_INET6) and (packed := known.get(IFA_LOCAL, known.get(IFA_ADDRESS))):
                found.append((index, socket.inet_ntop(family, packed)))
        return found

    def delete(self, name: str) -> None:
        """Delete an interface. Raises NetworkError."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _text(IFLA_IFNAME, name)
        self._ask(RTM_DELLINK, body, 0, f"delete {name}")

    def delete_group(self, group: int) -> None:
        """Delete all interfaces of this namespace in the group at once; it is not an error if none exist."""
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + _attribute(IFLA_GROUP, struct.pack("=I", group))
        self._ask(RTM_DELLINK, body, 0, "delete the cables", tolerated=(errno.ENODEV,))

    def add_address(self, name: str, address: str, prefix: str) -> None:
        """Add an IPv4 address; it is not an error if it exists already. Raises NetworkError."""
        body = _address(name, address, prefix)
        self._ask(RTM_NEWADDR, body, NLM_F_CREATE | NLM_F_REPLACE, f"give {name} the address {address}/{prefix}")

    def delete_address(self, name: str, address: str, prefix: str) -> None:
        """Remove an IPv4 address; it is not an error if it is not there. Raises NetworkError."""
        body = _address(name, address, prefix)
        self._ask(RTM_DELADDR, body, 0, f"take {address}/{prefix} from {name}", tolerated=(errno.EADDRNOTAVAIL,))

    def add_route(self, *, to: str = "0.0.0.0/0", via: str = "", device: str = "") -> None:
        """Add an IPv4 route, replacing one to the same addresses. Raises NetworkError."""
        network, _, prefix = to.partition("/")
        attributes = _attribute(RTA_DST, _ipv4(network, to)) if prefix != "0" else b""
        if via:
            attributes += _attribute(RTA_GATEWAY, _ipv4(via, to))
        if device:
            attributes += _attribute(RTA_OIF, struct.pack("=i", socket.if_nametoindex(device)))
        scope = RT_SCOPE_UNIVERSE if via else RT_SCOPE_LINK
        head = (socket.AF_INET, int(prefix or 32), 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, scope, RTN_UNICAST, 0)
        body = struct.pack("=8BI", *head) + attributes
        what = f"add the {f'route to {to}' if prefix != '0' else 'default route'}{f' via {via}' if via else ''}"
        self._ask(RTM_NEWROUTE, body, NLM_F_CREATE | NLM_F_REPLACE, what, fix=_UNREACHED if via else "")

    def neighbour(self, name: str, address: str) -> int:
        """Return the state (NUD_...) of a neighbour's entry; 0 if none exists."""
        self._number += 1
        body = _neighbour(name, address, 0)
        self._socket.send(request(RTM_GETNEIGH, 0, self._number, body))
        answer = self._socket.recv(65536)
        _, kind = struct.unpack_from("=IH", answer)
        return int(struct.unpack_from("=H", answer, 16 + 8)[0]) if kind == RTM_NEWNEIGH else 0

    def set_neighbour(self, name: str, address: str, mac: str, state: int) -> None:
        """Set a neighbour's hardware address, as ARP would. Raises NetworkError."""
        body = _neighbour(name, address, state) + _attribute(NDA_LLADDR, _mac(mac))
        self._ask(RTM_NEWNEIGH, body, NLM_F_CREATE | NLM_F_REPLACE, f"set the neighbour {address} of {name} to {mac}")

    def forget_neighbour(self, name: str, address: str) -> None:
        """Delete a neighbour's entry; it is not an error if none exists. Raises NetworkError."""
        self._ask(RTM_DELNEIGH, _neighbour(name, address, 0), 0, f"forget {address}", tolerated=(errno.ENOENT,))

    def dump(self, kind: int, body: bytes, what: str) -> list[bytes]:
        """Return all messages of a kind, without their headers. Raises NetworkError."""
        self._number += 1
        return dumped(self._socket, kind, body, what, self._number)

    def _ask(  # fix: how to correct it
        self, kind: int, body: bytes, flags: int, what: str, tolerated: tuple[int, ...] = (), fix: str = ""
    ) -> int:
        """Return the kernel's error if it is tolerated, 0 if it did what was asked."""
        self._number += 1
        self._socket.send(request(kind, NLM_F_ACK | flags, self._number, body))
        answer = self._socket.recv(65536)
        length, _, answer_flags, _, _ = HEAD.unpack_from(answer)
        (code,) = struct.unpack_from("=i", answer, 16)
        if code and -code not in tolerated:
            raise NetworkError(f"cannot {what}: {_reason(answer[:length], answer_flags) or os.strerror(-code)}", fix=fix)
        return -int(code)


def dumped(asking: socket.socket, kind: int, body: bytes, what: str, number: int = 1) -> list[bytes]:
    """Return all messages of a kind, without their headers, as they were at one moment. Raises NetworkError.

    what: what the caller does, for the error's text. number: that of the request.
    """
    while True:
        asking.send(request(kind, NLM_F_DUMP, number, body))
        found, whole = _rest_of_dump(asking, what)
        if whole:
            return found


def _rest_of_dump(asking: socket.socket, what: str) -> tuple[list[bytes], bool]:
    """Return the messages, and whether they are consistent (no change during the dump)."""
    found: list[bytes] = []
    whole = True
    while True:
        for kind, flags, _, body in messages(asking.recv(1 << 18)):
            whole &= not flags & NLM_F_DUMP_INTR
            if kind == NLMSG_DONE:
                return found, whole
            if kind == NLMSG_ERROR:
                (code,) = struct.unpack_from("=i", body)
                raise NetworkError(f"cannot {what}: {os.strerror(-code)}")
            found.append(body)


class End:
    """One end of a cable to be made: its interface's name, its namespace and its hardware address.

    segments: TCP segments per packet at most; None is the kernel's default. Since Linux 4.17 TCP makes packets of several
    segments even with all offloads off; they are cut behind the queues, which count each as one packet.
    """

    def __init__(self, name: str, namespace: int, mac: str | None, segments: int | None = None) -> None:
        self.name = name
        self.namespace = namespace  # a descriptor
        self.mac = mac
        self.segments = segments

    def attributes(self, group: int) -> bytes:
        """Return the netlink attributes of the new interface. Raises NetworkError for a wrong name or address."""
        if not 0 < len(self.name.encode()) <= NAME_LENGTH:
            raise NetworkError(f"'{self.name}' is not an interface name", fix=f"give 1 to {NAME_LENGTH} characters")
        return (
            _text(IFLA_IFNAME, self.name)
            + _attribute(IFLA_NET_NS_FD, struct.pack("=i", self.namespace))
            + _attribute(IFLA_GROUP, struct.pack("=I", group))
            + (_attribute(IFLA_ADDRESS, _mac(self.mac)) if self.mac else b"")
            + (_attribute(IFLA_GSO_MAX_SEGS, struct.pack("=I", self.segments)) if self.segments else b"")
        )


def _address(name: str, address: str, prefix: str) -> bytes:
    """Return the body of a message about an address of an interface."""
    if not prefix.isdigit() or int(prefix) > 32:
        raise NetworkError(f"'{prefix}' is not a prefix length", where=f"interface {name}", fix="give 0 to 32")
    packed = _ipv4(address, f"interface {name}")
    host_bits = (1 << (32 - int(prefix))) - 1
    broadcast = (int.from_bytes(packed, "big") | host_bits).to_bytes(4, "big")
    attributes = _attribute(IFA_LOCAL, packed) + _attribute(IFA_ADDRESS, packed)
    if int(prefix) < 31:
        attributes += _attribute(IFA_BROADCAST, broadcast)
    return struct.pack("=BBBBi", socket.AF_INET, int(prefix), 0, 0, socket.if_nametoindex(name)) + attributes


def _queueing(name: str, handle: int, parent: int, info: int = 0) -> bytes:
    """Return the head of a message about a queueing discipline or filter: struct tcmsg."""
    return struct.pack("=BxxxiIII", socket.AF_UNSPEC, socket.if_nametoindex(name), handle, parent, info)


def _place_of_filter(preference: int) -> int:
    """Return the place of a filter for packets of every protocol: tcm_info."""
    return preference << 16 | socket.htons(ETH_P_ALL)


def _neighbour(name: str, address: str, state: int) -> bytes:
    """Return the body of a message about a neighbour: struct ndmsg and its address."""
    family, packed = (
        (socket.AF_INET6, socket.inet_pton(socket.AF_INET6, address))
        if ":" in address
        else (socket.AF_INET, _ipv4(address, f"interface {name}"))
    )
    return struct.pack("=BBHiHBB", family, 0, 0, socket.if_nametoindex(name), state, 0, 0) + _attribute(NDA_DST, packed)


def request(kind: int, flags: int, number: int, body: bytes) -> bytes:
    """Return a message that asks the kernel for something."""
    return HEAD.pack(HEAD.size + len(body), kind, NLM_F_REQUEST | flags, number, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield the kind, the flags, the number and the body of each message of a datagram."""
    at = 0
    while at + HEAD.size <= len(data):
        length, kind, flags, number, _ = HEAD.unpack_from(data, at)
        yield kind, flags, number, data[at + HEAD.size : at + length]
        at += max(HEAD.size, length + -length % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    """Return the attributes by kind; nested ones are left unparsed."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]  # the upper bits mark nested attributes
        data = data[max(4, length + -length % 4) :]
    return found


def _attribute(kind: int, data: bytes) -> bytes:
    length = 4 + len(data)
    return struct.pack("=HH", length, kind) + data + b"\0" * (-length % 4)


def _text(kind: int, text: str) -> bytes:
    return _attribute(kind, text.encode() + b"\0")


def _mac(text: str) -> bytes:
    try:
        packed = bytes.fromhex(text.replace(":", ""))
    except ValueError:
        packed = b""
    if len(packed) != 6:
        raise NetworkError(f"'{text}' is not an Ethernet address", fix="give six hexadecimal bytes, such as 00:00:00:00:00:01")
    return packed


def _ipv4(text: str, where: str) -> bytes:
    try:
        return socket.inet_pton(socket.AF_INET, text)
    except OSError:
        raise NetworkError(f"'{text}' is not an IPv4 address", where=where, fix="give one such as 10.0.0.1") from None


def _reason(answer: bytes, flags: int) -> str:
    """Return the kernel's text about an error, if there is one (NETLINK_EXT_ACK)."""
    capped, has_attributes = flags & 0x100, flags & 0x200
    if not has_attributes:
        return ""
    (echoed,) = struct.unpack_from("=I", answer, 20)
    offset = 20 + (16 if capped else echoed + -echoed % 4)
    while offset + 4 <= len(answer):
        length, kind = struct.unpack_from("=HH", answer, offset)
        if kind == NLMSGERR_ATTR_MSG:
            return answer[offset + 4 : offset + length].rstrip(b"\0").decode(errors="replace").rstrip(".")
        offset += max(4, length + -length % 4)
    return ""
