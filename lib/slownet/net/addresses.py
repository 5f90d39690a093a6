"""The hosts of a network by name: programs find the address of `web` in their host's own /etc/hosts, without a name server."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slownet.net.nodes import QuickNode

HOSTS = Path("/etc/hosts")


def lines(hosts: Iterable[Any], machine: str = "") -> str:
    """Return a hosts file: the network's hosts with their first addresses, then what the machine's own file says."""
    named = [f"{address}\t{host.name}\n" for host in hosts if (address := host.IP())]
    return "".join([*named, machine])


def publish(hosts: Iterable[Any], folder: Path) -> None:
    """Write the file into a folder, for programs that start on these hosts from now on."""
    hosts = list(hosts)
    file = folder / HOSTS.name
    file.write_text(lines(hosts, HOSTS.read_text(encoding="utf-8", errors="replace") if HOSTS.exists() else ""))
    file.chmod(0o644)
    for host in hosts:
        if HOSTS.exists() and isinstance(host, QuickNode) and host.namespace:
            host.namespace.files[str(HOSTS)] = file
