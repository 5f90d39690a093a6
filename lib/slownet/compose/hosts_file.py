"""The hosts file of each host of a project: names are known to the services of the same network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slownet.compose.model import CLIENT, Project, Service

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
