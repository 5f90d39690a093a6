"""The hosts file of each host of a project: names are known to the services of the same network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slownet.compose.model import CLIENT, Project

LOOPBACK = "127.0.0.1\tlocalhost\n"


def hosts_file(name: str, project: Project, addresses: Mapping[str, str]) -> str:
    """Return the hosts file of a host. addresses: those of all hosts by name."""
    lines = [LOOPBACK, f"{addresses[CLIENT]}\t{CLIENT}\n"]
    for service in project.services:
        if name in (CLIENT, service.name) or set(service.networks) & set(project[name].networks):
            names = dict.fromkeys((service.name, *_aliases(service.networks, name, project)))
            lines.append(f"{addresses[service.name]}\t{' '.join(names)}\n")
    if name != CLIENT:
        own = project[name]
        lines += [f"{addresses[other]}\t{alias}\n" for alias, other in own.links.items()]
        lines += [f"{address}\t{host}\n" for host, each in own.extra_hosts.items() for address in each]
    return "".join(lines)


def _aliases(networks: Mapping[str, tuple[str, ...]], name: str, project: Project) -> Iterator[str]:
    """Yield the aliases that a host knows: those in networks that it shares."""
    for network, aliases in networks.items():
        if name == CLIENT or network in project[name].networks:
            yield from aliases
