"""Addresses and MTUs of a project's hosts, as the networks of its files state them.

In each network with a subnet a host has an address: the stated one, or the next that is free; that of its first interface is
the one by which slownet reaches it. Networks of a service that is in several have a subnet of their own even if the files state
none, as from a container engine. Without any a host has the next address of a network of slownet's own. The client has the
gateway's address of each subnet, as the machine of a container engine has.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from slownet.compose.document import Map, Place
from slownet.compose.model import Hosts, Service
from slownet.model.errors import ComposeError
from slownet.model.shapes import Json
from slownet.model.units import whole_number

Subnet = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
OWN = ("10.0.0.0/24", "10.255.255.0/24", "192.168.255.0/24", "172.31.255.0/24")
"""Networks for hosts without a subnet of their own: the first that no subnet overlaps."""
AUTOMATIC = [f"172.{number}.0.0/16" for number in range(18, 32)] + [f"192.168.{16 * number}.0/20" for number in range(15)]
"""Subnets that networks get in turn: Docker's default address pools but for that of its own bridge, and the last one."""
MTU = "com.docker.network.driver.mtu"
LEAST_MTU, USUAL_MTU, MOST_MTU = 68, 1500, 65535
IPV6_MTU = 1280  # RFC 8200


@dataclass
class _Pool:
    """A subnet of a network, and which of its addresses are taken by whom."""

    network: str
    subnet: Subnet
    at: object
    range: Subnet
    gateway: Address
    taken: dict[Address, str] = field(default_factory=dict)

    def take(self, address: Address, who: str, at: object) -> str:
        """Give an address away and return it with its prefix. Raises ComposeError."""
        edges = (self.subnet.network_address, self.subnet.broadcast_address) if self.subnet.version == 4 else ()
        if address in self.taken or (address in edges and self.subnet.prefixlen < 31):
            why = f"is that of {self.taken[address]}" if address in self.taken else "is not a host's"
            _fail(f"the address {address} of {who} {why} in the network '{self.network}'", at, "take another one")
        self.taken[address] = who
        return f"{address}/{self.subnet.prefixlen}"

    def next(self, who: str) -> str:
        """Give the next free address away. Raises ComposeError."""
        for address in self.range.hosts():
            if address not in self.taken:
                return self.take(address, who, self.at)
        return _fail(f"no address is left for {who} in {self.range}", self.at, "state a larger subnet or ip_range")


@dataclass
class _Network:
    name: str
    pools: list[_Pool]
    mtu: int | None
    at: object = ""


class Subnets:
    """The networks that services use, by what the files declare of them. Raises ComposeError for what is wrong there."""

    def __init__(self, declared: Mapping[str, Json], used: Sequence[str], joined: Collection[str] = ()) -> None:
        """used: the networks. joined: those that a service is in beside others."""
        self._networks = {name: _network(name, declared.get(name), number) for number, name in enumerate(used)}
        self._add_automatic(joined)
        pools = [pool for each in self._networks.values() for pool in each.pools]
        for number, pool in enumerate(pools):
            for other in pools[:number]:
                if pool.subnet.version == other.subnet.version and pool.subnet.overlaps(other.subnet):
                    what = (
                        f"the subnet {pool.subnet} of the network '{pool.network}' overlaps {other.subnet} of '{other.network}'"
                    )
                    _fail(what, pool.at, "give each network a subnet of its own")
        stated = [pool.subnet for pool in pools if isinstance(pool.subnet, ipaddress.IPv4Network)]
        free = (each for each in map(ipaddress.IPv4Network, OWN) if not any(each.overlaps(subnet) for subnet in stated))
        own = next(free, None)
        if own is None:
            _fail(f"the subnets leave none of {', '.join(OWN)} to slownet", pools[0].at, "leave one of these free")
        self._own = own

    def _add_automatic(self, joined: Collection[str]) -> None:
        taken = [pool.subnet for each in self._networks.values() for pool in each.pools]
        stated = [each for each in taken if isinstance(each, ipaddress.IPv4Network)]
        free = (each for each in map(ipaddress.IPv4Network, AUTOMATIC) if not any(each.overlaps(other) for other in stated))
        for name, each in self._networks.items():
            if name in joined and not any(pool.subnet.version == 4 for pool in each.pools):
                subnet = next(free, None)
                if subnet is None:
                    _fail(
                        f"no subnet is left for the network '{name}'",
                        each.at,
                        "state one: ipam: {config: [{subnet: 10.20.0.0/16}]}",
                    )
                each.pools.insert(0, _Pool(name, subnet, each.at, subnet, subnet[1], {subnet[1]: "the gateway"}))

    def hosts(self, services: Sequence[Service], trees: Mapping[str, Map]) -> tuple[list[Service], Hosts]:
        """Return services with their addresses and MTUs, and what holds for all. trees: each service as it is in the files."""
        stated = {each.name: dict(self._stated(each, trees[each.origin])) for each in services}
        made = []
        for each in services:
            addresses: dict[str, tuple[str, ...]] = {}
            for name in (interface.network for interface in each.interfaces):
                given = stated[each.name].get(name, {})
                found = []
                for version in (4, 6):
                    pool = next((one for one in self._networks[name].pools if one.subnet.version == version), None)
                    if version in given:
                        found.append(given[version])
                    elif pool:
                        found.append(pool.next(each.name))
                if found:
                    addresses[name] = tuple(found)
            mtus = [mtu for name in each.networks if (mtu := self._networks[name].mtu)]
            made.append(replace(each, addresses=addresses, mtu=min(mtus, default=None)))
        pools = [pool for each in self._networks.values() for pool in each.pools]
        least = min((each.mtu or USUAL_MTU for each in made), default=USUAL_MTU)
        hosts = Hosts(
            str(self._own), tuple(f"{pool.gateway}/{pool.subnet.prefixlen}" for pool in pools),
            tuple(str(pool.subnet) for pool in pools), least if any(each.mtu for each in made) else None,
        )  # fmt: skip
        return made, hosts

    def warnings(self, services: Sequence[Service]) -> Iterator[str]:
        """Yield what a host with one cable cannot have of several networks."""
        for each in services:
            mtus = {self._networks[name].mtu or USUAL_MTU for name in each.networks}
            if len(mtus) > 1:
                yield f"{each.at}: {each.name} has the MTU {min(mtus)} in all its networks: their interfaces are on one cable"

    def _stated(self, service: Service, tree: Map) -> Iterator[tuple[str, dict[int, str]]]:
        """Yield the addresses that a service states, by network and version of IP."""
        for name, each in (tree.get("networks") or {}).items():
            found = {}
            for key, version in (("ipv4_address", 4), ("ipv6_address", 6)):
                if isinstance(each, Map) and each.get(key):
                    at = each.keys_at[key]
                    if service.name != service.origin:
                        _fail(f"{service.origin} has several replicas, and one {key}", at, "leave it out, or have one replica")
                    found[version] = self._take(name, version, str(each[key]), service.name, at)
            if found:
                yield name, found

    def _take(self, name: str, version: int, text: str, who: str, at: Place) -> str:
        address = _address(text, version, at)
        pools = [pool for pool in self._networks[name].pools if pool.subnet.version == version]
        if not pools:
            example = "172.28.0.0/16" if version == 4 else "fd28::/64"
            what = f"{who} states the address {address}, and the network '{name}' no subnet"
            _fail(what, at, f"add ipam: {{config: [{{subnet: {example}}}]}} to the network")
        for pool in pools:
            if address in pool.subnet:
                return pool.take(address, who, at)
        subnets = ", ".join(str(pool.subnet) for pool in pools)
        return _fail(f"the address {address} of {who} is not in the subnet {subnets} of the network '{name}'", at, "change one")


def _network(name: str, tree: Map | None, number: int) -> _Network:
    if not tree:
        return _Network(name, [], None)
    pools = []
    ipam = tree.get("ipam") or {}
    for index, each in enumerate(ipam.get("config") or ()):
        if isinstance(each, Map) and each:
            pools.append(_pool(name, each, ipam["config"].at[index]))
    on = tree.get("enable_ipv6") is True
    if on and not any(pool.subnet.version == 6 for pool in pools):
        subnet = ipaddress.IPv6Network(f"fd00:0:0:{number + 1:x}::/64")
        pools.append(_Pool(name, subnet, tree.keys_at["enable_ipv6"], subnet, subnet[1], {subnet[1]: "the gateway"}))
    if not on:
        pools = [pool for pool in pools if pool.subnet.version == 4]
    return _Network(name, pools, _mtu(name, tree, on), tree.place)


def _pool(name: str, tree: Map, at: Place) -> _Pool:
    if not tree.get("subnet"):
        _fail(f"a configuration of the network '{name}' lacks a subnet", at, "add subnet: such as 172.28.0.0/16")
    subnet = _subnet(str(tree["subnet"]), tree.keys_at["subnet"])
    stated = tree.get("ip_range")
    inner = _subnet(str(stated), tree.keys_at["ip_range"]) if stated else subnet
    if inner.version != subnet.version or not inner.subnet_of(subnet):  # type: ignore[arg-type]
        _fail(f"the ip_range {inner} is not in the subnet {subnet}", tree.keys_at["ip_range"], "choose a part of the subnet")
    gateway = _address(str(tree["gateway"]), subnet.version, tree.keys_at["gateway"]) if tree.get("gateway") else None
    if gateway is not None and gateway not in subnet:
        _fail(
            f"the gateway {gateway} is not in the subnet {subnet}", tree.keys_at["gateway"], "choose an address of the subnet"
        )
    first: Any = gateway or next(iter(inner.hosts()))
    taken = {first: "the gateway"}
    for key, text in (tree.get("aux_addresses") or {}).items():
        taken[_address(str(text), subnet.version, tree["aux_addresses"].keys_at[key])] = key
    return _Pool(name, subnet, at, inner, first, taken)


def _mtu(name: str, tree: Map, ipv6: bool) -> int | None:
    options: Any = tree.get("driver_opts") or {}
    if MTU not in options:
        return None
    text, least = str(options[MTU]), IPV6_MTU if ipv6 else LEAST_MTU
    number = whole_number(text) or 0
    if not least <= number <= MOST_MTU:
        _fail(f"the network '{name}' has an MTU of '{text}'", options.keys_at[MTU], f"write {least} to {MOST_MTU}")
    return number


def _subnet(text: str, at: Place) -> Subnet:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        return _fail(f"unclear subnet '{text}': {error}", at, "write an address and a length, such as 172.28.0.0/16")


def _address(text: str, version: int, at: Place) -> Address:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        found = None
    if found is None or found.version != version:
        return _fail(
            f"'{text}' is no IPv{version} address", at, f"write one such as {'172.28.0.10' if version == 4 else 'fd28::10'}"
        )
    return found


def _fail(what: str, at: object, fix: str) -> NoReturn:
    raise ComposeError(what, str(at), fix)
