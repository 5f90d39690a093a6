"""A compose project as a topology: a host for each service and one that measures, all on one switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, ip_interface, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mininet.link import TCLink

from slownet.compose import extension, handover
from slownet.compose.model import CLIENT, SWITCH, Project, Service
from slownet.lab.host import native, owner
from slownet.links.conditions.link import Condition
from slownet.model.errors import ComposeError
from slownet.model.mininets import Topology

if TYPE_CHECKING:
    from slownet.compose.hosting import Running
    from slownet.net.network import Network


# The hosts file of each host of a project: names are known to the services of the same network.

GATEWAY = "host-gateway"
"""In place of an address: the machine of a container engine, whose place the client has."""
LOOPBACK = "127.0.0.1\tlocalhost\n"
OF_IPV6 = (
    "::1\tlocalhost ip6-localhost ip6-loopback\nfe00::\tip6-localnet\nff00::\tip6-mcastprefix\nff02::1\tip6-allnodes\n"
    "ff02::2\tip6-allrouters\n"
)
"""As a container engine writes it (moby, daemon/libnetwork/etchosts)."""


def hosts_file(name: str, project: Project, addresses: Mapping[str, str]) -> str:
    """Return the hosts file of a host. addresses: those of all hosts by name.

    A name that several services have, such as that of replicas, has the addresses of all, in an order of the host's own: as
    from a name server that answers in turn.
    """
    lines = [LOOPBACK, *([] if name == CLIENT else [OF_IPV6]), f"{addresses[CLIENT]}\t{CLIENT}\n"]
    for service in _in_turn(name, project):
        if name in (CLIENT, service.name) or set(service.networks) & set(project[name].networks):
            names = dict.fromkeys((service.name, service.origin, *_aliases(service.networks, name, project)))
            lines += [f"{each}\t{' '.join(names)}\n" for each in _known(service, name, project, addresses)]
    for own in (each for each in project.services if each.host == name):
        lines += [
            f"{_known(each, name, project, addresses)[0]}\t{alias}\n"
            for alias, other in own.links.items() for each in project.replicas(other) if not each.shares
        ]  # fmt: skip
        lines += [
            f"{addresses[CLIENT] if address == GATEWAY else address}\t{host}\n"
            for host, each in own.extra_hosts.items() for address in each
        ]  # fmt: skip
    return "".join(lines)


def _in_turn(name: str, project: Project) -> list[Service]:
    """Return the services, replicas of one service beginning with another one for each host."""
    found: list[Service] = []
    turn = project.hosts.index(name)
    for origin in dict.fromkeys(each.origin for each in project.services if not each.shares):
        replicas = project.replicas(origin)
        start = turn % len(replicas)
        found += [*replicas[start:], *replicas[:start]]
    return found


def _known(service: Service, name: str, project: Project, addresses: Mapping[str, str]) -> Sequence[str]:
    """Return the addresses of a service that a host knows: those in the first network that they share and that has some."""
    for network, found in service.addresses.items():
        if name == CLIENT or network in project[name].networks:
            plain = [each.partition("/")[0] for each in found]
            return plain if "." in plain[0] else [addresses[service.name], *plain]
    return [addresses[service.name]]


def _aliases(networks: Mapping[str, tuple[str, ...]], name: str, project: Project) -> Iterator[str]:
    """Yield the aliases that a host knows: those in networks that it shares."""
    for network, aliases in networks.items():
        if name == CLIENT or network in project[name].networks:
            yield from aliases


HOSTS = "/etc/hosts"
MOST = 253  # the 254 addresses of 10.0.0.0/24 less the client's


class Compose(Topology):
    """The network of a compose project: a host of its name for each service, and ``client``, on one switch.

    The client has the address 10.0.0.1, services the next ones in the order of their start, or those of their networks'
    subnets. Each host knows the others by their names and aliases. The services start with the network of an experiment,
    ``x-slownet`` states its links' conditions.

    Parameters
    ----------
    *files : str or Path
        Compose files, where later ones are merged over earlier ones.
    profiles : sequence of str
        The active profiles.

    Attributes
    ----------
    project : slownet.compose.model.Project
        The project that was read.

    Raises
    ------
    ComposeError
        A file is wrong, with file, line and column.

    Examples
    --------
    ::

        @experiment(topology=Compose("compose.yaml"), vary={"rtt": ["0ms", "10ms", "40ms"]})
        def checkout(net, rtt):
            with net.link("db", "switch").set(rtt=rtt):
                return ab(net["client"], "http://web:8000/checkout")
    """

    is_compose_project = True
    """By this, those who ask whether a topology is one need not import it: see `slownet.hypotheses.uses.is_project`."""

    def __init__(self, *files: str | Path, profiles: Sequence[str] = ()) -> None:
        self.key = handover.key(files, profiles)
        handover.use_environment()
        self._files: Path | None = None
        self.running: Running | None = None
        """The services of the network that `serve` was last called for."""
        if taken := handover.find(self.key):
            self.project, self._files = taken
        elif native.inside_lab():  # which has neither the files nor what reads them
            fix = "state it as the topology of an experiment, or by the marker compose of a test"
            raise ComposeError("a lab cannot read compose files", ", ".join(map(str, files)), fix)
        else:
            from slownet.compose import reader

            self.project = reader.read([Path(each) for each in files], profiles)
        super().__init__()

    def build(self, *args: Any, **params: Any) -> None:
        """Add the hosts, the switch and links."""
        if len(self.project.services) > MOST:
            raise ComposeError(f"{len(self.project.services)} services", self.project.name, f"a network has {MOST} at most")
        switch = self.addSwitch(SWITCH, dpid="1", failMode="standalone")
        own = IPv4Network(self.project.network.own)
        for number, name in enumerate(self.project.hosts, start=1):
            address, *_ = [*self._addresses(name, 4), f"{own[number]}/{own.prefixlen}"]
            if name == CLIENT:
                self.addLink(self.addHost(name, ip=address), switch, cls=TCLink)
                continue
            first, *_ = self.project[name].interfaces
            host = self.addHost(name, ip=address, mac=first.mac or _mac(address))
            self.addLink(host, switch, cls=TCLink, intfName1=first.name)

    def _addresses(self, name: str, version: int) -> list[str]:
        """Return the addresses of a version of IP that the networks' subnets give a service; the client has its own before."""
        found = () if name == CLIENT else (one for each in self.project[name].addresses.values() for one in each)
        return [each for each in found if ip_interface(each).version == version]

    def _further(self, name: str) -> dict[str, list[str]]:
        """Return a host's addresses besides its first, by interface; the client has one, here without a name."""
        if name == CLIENT:
            return {"": list(self.project.network.client)}
        service = self.project[name]
        found = {each.name: list(service.addresses.get(each.network, ())) for each in service.interfaces}
        first = next(iter(self._addresses(name, 4)), "")
        return {interface: [each for each in every if each != first] for interface, every in found.items()}

    @property
    def conditions(self) -> dict[tuple[str, str], Condition]:
        """The conditions that links have from the start, by their ends."""
        return {(host, SWITCH): extension.parse(fields) for host, fields in self.project.conditions.items()}

    def prepare(self, hosts: Sequence[Any], folder: Path) -> None:
        """Give each host its addresses, MTU and a hosts file of its own, before any program starts.

        folder: lasts as long as the network.
        """
        from slownet.net import addresses as published  # a run's largest imports, which the host does not need

        for host in hosts:
            self._configure(host)
        addresses = {host.name: host.IP() for host in hosts}
        for host in hosts:
            file = folder / f"hosts-{host.name}"
            file.write_text(hosts_file(host.name, self.project, addresses))
            file.chmod(0o644)
            published.show(host, HOSTS, file)

    def _configure(self, host: Any) -> None:
        """Give a host all its addresses, interfaces and the MTU."""
        from slownet.net import device, further_interfaces, ipv6
        from slownet.net.namespace import inside
        from slownet.net.netlink import Route

        cable = host.intfList()[0]
        exceeds = self._further(host.name)
        if host.name != CLIENT:
            others = {each.name: each.mac or _mac(exceeds[each.name][0]) for each in self.project[host.name].interfaces[1:]}
            if not further_interfaces.make(host, cable.name, others):
                exceeds = {"": [each for found in exceeds.values() for each in found]}
            ipv6.on_loopback(host)
        every = [ip_interface(each) for found in exceeds.values() for each in found]
        with inside(host), Route() as route:
            for name, found in exceeds.items():
                for each in map(ip_interface, found):
                    if each.version == 4:
                        route.add_address(name or cable.name, str(each.ip), str(each.network.prefixlen))
            for subnet in self._elsewhere(host, every):  # all are on one switch
                route.add_route(to=str(subnet), device=cable.name)
        for name, found in exceeds.items():
            if six := [each for each in found if ip_interface(each).version == 6]:
                ipv6.give(host, name or cable.name, six)
        mtu = self.project.network.client_mtu if host.name == CLIENT else self.project[host.name].mtu
        if mtu:
            device.set_first_mtu((cable.link.intf1, cable.link.intf2), mtu)

    def _elsewhere(self, host: Any, exceeds: Sequence[Any]) -> list[IPv4Network]:
        """Return the project's networks where a host has no address."""
        known = [ip_interface(f"{host.IP()}/{host.defaultIntf().prefixLen}").network, *(each.network for each in exceeds)]
        every = (ip_network(each) for each in (self.project.network.own, *self.project.network.subnets))
        return [each for each in every if isinstance(each, IPv4Network) and each not in known]

    def serve(self, net: Network, directory: Path | None = None) -> Running:
        """Return the project's services on a network of this topology; a ``with`` statement starts and stops them.

        Parameters
        ----------
        net : Network
            A running network of this topology.
        directory : Path, optional
            For the services' logs.

        Returns
        -------
        Running
            ``running["web"]`` is a service.
        """
        from slownet.compose.hosting import Running

        self.running = Running(self.project, net, directory, self._files or self._own_files())
        return self.running

    def facts(self) -> Mapping[str, object]:
        """Return what a run records of the project."""
        stated = {each.name: dict(each.addresses) for each in self.project.services if each.addresses}
        sysctls = {each.name: found for each in self.project.services if (found := each.container.get("sysctls"))}
        mtus = {each.name: each.mtu for each in self.project.services if each.mtu}
        return {
            "project": self.project.name, "files": list(self.project.files), "conditions": dict(self.project.conditions),
            "services": {each.name: each.image for each in self.project.services},
            **({"addresses": stated} if stated else {}), **({"mtus": mtus} if mtus else {}),
            **({"sysctls": sysctls} if sysctls else {}),
            **({"faults": str(self.project.faults)} if self.project.steps else {}),
        }  # fmt: skip

    def _own_files(self) -> Path:
        """Write the project's files in this place, where they were not handed over."""
        folder = owner.directory() / f"compose-{self.project.name}"
        if not folder.exists():
            handover.write(folder, {self.key: self.project})
        return folder


def _mac(address: str) -> str:
    """Return the hardware address that Docker gave an IPv4 address before it made random ones: 02:42:ac:11:00:02."""
    return ":".join(f"{each:02x}" for each in (0x02, 0x42, *ip_interface(address).ip.packed))
