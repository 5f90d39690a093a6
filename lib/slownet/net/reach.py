"""Waits until hosts reach each other: many ICMP echo requests over one raw socket, instead of one ping after another.

Over IPv4, and over IPv6 where hosts have it.
"""

from __future__ import annotations

import ipaddress
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from slownet.links.ip import ECHO, ECHO_HEADER, IP, IPV4, IPV6
from slownet.model.errors import NetworkError
from slownet.net.namespace import inside

AT_ONCE = 64  # requests at a time; their answers fit into a socket's buffer
APART_S, ROUTED_S = 3.0, 10.0
"""The time for which optional hosts are asked: of a user's class, and those of Mininet's in another subnet."""
PATIENCE_S = (0.05, 0.2, 1.0)  # to wait for answers in each round; the last one also in later rounds


def wait(first: Any, others: Sequence[Any], deadline_s: float, where: str, ipv6: Callable[[str], str] | None = None) -> None:
    """Wait until every other host has answered the first. Raises NetworkError naming one that does not.

    ipv6: returns the IPv6 address that belongs to an IPv4 address, to ask over IPv6.
    """
    _answers(first, others, others, deadline_s, where, ipv6)


def parts(hosts: Sequence[Any], deadline_s: float, where: str) -> list[list[Any]]:
    """Wait until hosts reach each other, and return which do: all in one list, unless some are meant to be apart.

    Hosts of Mininet's classes in one subnet, on links that lead from one to the other, must reach each other, and each of them
    another host. A class of a user's own may have put its host into a VLAN. Raises NetworkError.
    """
    found, rest = [], list(hosts)
    while rest:
        first, *others = rest
        linked = _linked(first)
        others = [each for each in others if each in linked]
        plain = [each for each in others if is_plain(each) and is_plain(first)]
        must = [each for each in plain if _in_one_subnet(first, each)]
        answered = _answers(first, others, must, deadline_s, where, patience_s=ROUTED_S if plain else APART_S)
        if not answered and len(hosts) > 1 and is_plain(first):
            silent = next(each for each in hosts if each is not first)
            raise _silence(silent, first, hosts, deadline_s, where)
        found.append([first, *answered])
        rest = [each for each in rest if each not in found[-1]]
    return found


def is_plain(node: Any) -> bool:
    """Return whether a node's behaviour is Mininet's or slownet's, and not that of a class of a user's."""
    return all(_library(each) for each in type(node).__mro__)


def _library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("mininet", "slownet", "builtins")


def _in_one_subnet(first: Any, second: Any) -> bool:
    one, other = (ipaddress.ip_interface(f"{each.IP()}/{each.defaultIntf().prefixLen or 32}") for each in (first, second))
    return other.ip in one.network and one.ip in other.network


def _linked(node: Any) -> set[Any]:
    """Return the nodes that links lead to."""
    return set(_ways(node))


def _ways(node: Any, ends: Sequence[Any] = ()) -> dict[Any, Any]:
    """Return each node that links lead to, with the one before it on a way with the fewest links.

    ends: nodes that a way does not lead on from, unless it begins there.
    """
    before, todo = {node: None}, deque([node])
    while todo:
        here = todo.popleft()
        for interface in here.intfList() if here is node or here not in ends else ():
            for end in (interface.link.intf1, interface.link.intf2) if interface.link else ():
                if end.node not in before:
                    before[end.node] = here
                    todo.append(end.node)
    return before


def why_silent(first: Any, silent: Any, hosts: Sequence[Any]) -> str:
    """Return the reason that two hosts cannot reach each other across hosts of Mininet's behaviour; empty if none is known."""
    if silent in _ways(first, [each for each in hosts if is_plain(each)]):  # a way without them is another reason
        return ""
    before, between = _ways(first), []
    at = before.get(silent)
    while at is not None and at is not first:
        if at in hosts and is_plain(at):
            between.append(at.name)
        at = before[at]
    if not between:
        return ""
    if len(between) == 1:
        return f"{between[0]} is between them and is a host, which does not forward: put a switch there, with a link to each"
    names = f"{', '.join(reversed(between[1:]))} and {between[0]}"
    return f"{names} are between them and are hosts, which do not forward: put a switch in the place of each"


def _silence(silent: Any, first: Any, hosts: Sequence[Any], deadline_s: float, where: str) -> NetworkError:
    fix = why_silent(first, silent, hosts) or "is the topology connected?"
    return NetworkError(f"{silent.name} does not answer {first.name} after {deadline_s:g} s", where=where, fix=fix)


def _answers(
    first: Any, others: Sequence[Any], must: Sequence[Any], deadline_s: float, where: str,
    ipv6: Callable[[str], str] | None = None, patience_s: float = 0.0,
) -> list[Any]:  # fmt: skip
    """Return the hosts that answer the first one: all those that must, and the others that do within some seconds."""
    ip = IPV6 if ipv6 else IPV4
    missing: dict[str, list[Any]] = {}
    own = ipv6(first.IP()) if ipv6 else first.IP()
    for host in others:
        address = host.IP()
        if not address:
            raise NetworkError(f"{host.name} has no address", where=where, fix="is the topology connected?")
        missing.setdefault(ipv6(address) if ipv6 else address, []).append(host)
    missing.pop(own, None)  # it would answer itself
    began, found = time.monotonic(), []
    with inside(first):
        asking = socket.socket(ip.family, socket.SOCK_RAW, ip.icmp)
    with asking:
        asking.setblocking(False)
        rounds = 0
        while missing:
            patience = PATIENCE_S[min(rounds, len(PATIENCE_S) - 1)]
            addresses = list(missing)
            for start in range(0, len(addresses), AT_ONCE):
                for address in _answering(asking, ip, addresses[start : start + AT_ONCE], patience):
                    found.append(_which(first, address, missing.pop(address)))
            rounds += 1
            waited = time.monotonic() - began
            silent = [each for hosts in missing.values() for each in hosts if each in must]
            if not silent and waited > min(patience_s, deadline_s):
                break
            if silent and waited > deadline_s:
                raise _silence(silent[0], first, others, deadline_s, where)
    return [each for each in others if each in found]


def _which(first: Any, address: str, hosts: Sequence[Any]) -> Any:
    """Return which of the hosts with one address has answered: the one with the Ethernet address that the first one knows."""
    if len(hosts) > 1:
        with inside(first):
            lines = [line.split() for line in Path("/proc/thread-self/net/arp").read_text(encoding="utf-8").splitlines()]
        known = {words[3] for words in lines if words[:1] == [address]}
        return next((each for each in hosts if known & {str(interface.MAC()) for interface in each.intfList()}), hosts[0])
    return hosts[0]


def _answering(asking: socket.socket, ip: IP, addresses: Sequence[str], seconds: float) -> set[str]:
    """Return which of the addresses answer within these seconds."""
    request = ip.echo(_identity(), 0)
    awaited = set()
    for address in addresses:
        try:
            asking.sendto(request, (address, 0))
            awaited.add(address)
        except OSError:  # no route yet, or the error of an earlier request: try again
            continue
    until = time.monotonic() + seconds
    found: set[str] = set()
    while len(found) < len(addresses):
        if not select.select([asking], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        try:
            packet, (source, *_) = asking.recvfrom(2048)
        except OSError:
            continue
        answer = packet[(packet[0] & 15) * 4 :] if ip is IPV4 else packet  # only IPv4's sockets show the header
        wanted = (ip.echo_reply, _identity())
        if source in awaited and len(answer) >= ECHO_HEADER and ECHO.unpack_from(answer)[0::3] == wanted:
            found.add(source)
    return found


def _identity() -> int:
    return os.getpid() & 0xFFFF
