"""The hosts of a network by name: programs find the address of `web` in their host's own /etc/hosts, without a name server.

All hosts of a network see the same two files in place of the machine's. Both are written anew, in place, when a name server
starts to answer for the network and when it ends (`ask`, `answer_from_files`).
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from slownet.lab import native
from slownet.net.nodes import QuickNode, inside

HOSTS, RESOLVER = Path("/etc/hosts"), Path("/etc/resolv.conf")
IPV6 = Path("/proc/thread-self/net/if_inet6")
GLOBAL = "00"
"""The scope of an IPv6 address in that file."""


def lines(hosts: Iterable[Any], machine: str = "") -> str:
    """Return a hosts file: the network's hosts with their first addresses, then what the machine's own file says."""
    named = [f"{address}\t{host.name}\n" for host in hosts if (address := host.IP())]
    return "".join([*named, machine])


def publish(hosts: Iterable[Any], folder: Path) -> None:
    """Write the files into a folder, for programs that start on these hosts from now on."""
    hosts = list(hosts)
    for path, text in ((HOSTS, lines(hosts, _machine(HOSTS))), (RESOLVER, _resolver())):
        file = folder / path.name
        file.write_text(text)
        file.chmod(0o644)
        for host in hosts:
            if path.exists() and isinstance(host, QuickNode) and host.namespace:
                host.namespace.files[str(path)] = file


def ask(host: Any, address: str, options: Sequence[str] = ()) -> bool:
    """Make the network of a host ask a name server for names; options: as in resolv.conf(5).

    Returns whether the network has files of its own: a host that Mininet did not make has none.
    """
    return _write(host, _machine(HOSTS), _asking(address, options))


def asks(host: Any, address: str, options: Sequence[str] = ()) -> bool:
    """Return whether the network of a host asks this name server."""
    file = _files(host).get(str(RESOLVER))
    return file is not None and file.exists() and file.read_text() == _asking(address, options)


def answer_from_files(host: Any) -> None:
    """Make the network of a host find names in its hosts file again."""
    _write(host, lines(reachable(host), _machine(HOSTS)), _resolver())


def reachable(host: Any) -> list[Any]:
    """Return the hosts of a network, nearest first, from one of them, which is the first."""
    found, queue, seen = [], deque([host]), {host}
    while queue:
        node = queue.popleft()
        if not hasattr(node, "dpid"):
            found.append(node)
        for link in filter(None, (interface.link for interface in node.intfList())):
            for other in (link.intf1.node, link.intf2.node):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
    return found


def ipv6(host: Any) -> Iterator[str]:
    """Yield the IPv6 addresses of a host that others can reach it at."""
    with inside(host):
        text = IPV6.read_text() if IPV6.exists() else ""
    for digits, _, _, scope, *_ in map(str.split, text.splitlines()):
        if scope == GLOBAL:
            yield str(ipaddress.IPv6Address(int(digits, 16)))


def _files(host: Any) -> dict[str, Path]:
    return host.namespace.files if isinstance(host, QuickNode) and host.namespace else {}


def _write(host: Any, hosts: str, resolver: str) -> bool:
    files = _files(host)
    if not {str(HOSTS), str(RESOLVER)} <= files.keys():
        return False
    files[str(HOSTS)].write_text(hosts)
    files[str(RESOLVER)].write_text(resolver)
    return True


def _asking(address: str, options: Sequence[str]) -> str:
    return "\n".join([f"nameserver {address}", *([f"options {' '.join(options)}"] if options else []), ""])


def _machine(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _resolver() -> str:
    """Return the file of a network without a name server: a lab's own names that of the machine that built it."""
    return "# no name server\n" if native.inside_lab() else _machine(RESOLVER)
