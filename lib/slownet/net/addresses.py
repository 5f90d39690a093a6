"""The hosts of a network by name: programs find the address of `web` in their host's own /etc/hosts, without a name server.

Hosts see two files of the network's in place of the machine's. Both are written anew, in place, when a name server starts to
answer for the network (`ask`) and when it ends (`write`).
"""

from __future__ import annotations

import ipaddress
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from slownet.lab.host import native
from slownet.net import namespace
from slownet.net.namespace import inside
from slownet.net.nodes import QuickNode

HOSTS, RESOLVER = Path("/etc/hosts"), Path("/etc/resolv.conf")
IPV6 = Path("/proc/thread-self/net/if_inet6")
GLOBAL = "00"
"""The scope of an IPv6 address in that file."""


def lines(hosts: Iterable[Any], machine: str = "", of: Callable[[str], str] | None = None) -> str:
    """Return a hosts file: the network's hosts with their first addresses, then the contents of the machine's own file.

    of: returns the IPv6 address that belongs to an IPv4 address, if the hosts have IPv6.
    """
    named = [(host.IP(), host.name) for host in hosts if host.IP()]
    all_of = named + [(of(address), name) for address, name in named if of]
    return "".join([*(f"{address}\t{name}\n" for address, name in all_of), machine])


def publish(hosts: Iterable[Any], folder: Path, of: Callable[[str], str] | None = None) -> None:
    """Write the files into a folder, for the programs of these hosts; of: as for `lines`."""
    hosts = list(hosts)
    for path, text in ((HOSTS, lines(hosts, _machine(HOSTS), of)), (RESOLVER, _resolver())):
        file = folder / path.name
        file.write_text(text)
        file.chmod(0o644)
        for host in hosts:
            if path.exists():
                show(host, str(path), file)


def show(host: Any, path: str, file: Path) -> None:
    """Show a host's programs a file in place of the machine's; a host without a mount namespace of its own sees the machine's.

    A host of any class: its configuration may have started programs, and a class may start them in its own way.
    """
    if isinstance(host, QuickNode):
        if host.namespace:
            host.namespace.show(path, file)
        return
    with suppress(ProcessLookupError, FileNotFoundError):
        of_shell = f"/proc/{host.pid}/ns/mnt"
        if host.inNamespace and os.readlink(of_shell) != os.readlink("/proc/self/ns/mnt"):
            mounts = os.open(of_shell, os.O_RDONLY | os.O_CLOEXEC)
            try:
                namespace.show(mounts, path, file)
            finally:
                os.close(mounts)


def ask(host: Any, address: str, options: Sequence[str] = ()) -> dict[Path, str] | None:
    """Make the network of a host ask a name server for names; options: as in resolv.conf(5).

    Returns the former contents of the hosts' files, for `write`; None if a host has none, or the network has a name server.
    """
    before: dict[Path, str] = {}
    after: dict[Path, str] = {}
    for each in reachable(host):
        files = each.namespace.files if isinstance(each, QuickNode) and each.namespace else {}
        if not {str(HOSTS), str(RESOLVER)} <= files.keys():
            return None
        for path, text in ((HOSTS, _machine(HOSTS)), (RESOLVER, _asking(address, options))):
            file = files[str(path)]
            before[file], after[file] = file.read_text(), text
        if before[files[str(RESOLVER)]] != _resolver():
            return None
    write(after)
    return before


def write(texts: Mapping[Path, str]) -> None:
    """Write hosts' files in place, so that programs that run see it; those of a network that is gone are left out."""
    for file, text in texts.items():
        if file.exists():
            file.write_text(text)


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
        found = list(of_interface())
    yield from found


def of_interface(name: str = "") -> Iterator[str]:
    """Yield the IPv6 addresses that others can reach, of an interface of this thread's namespace, or of all."""
    text = IPV6.read_text() if IPV6.exists() else ""
    for digits, _, _, scope, _, interface in map(str.split, text.splitlines()):
        if scope == GLOBAL and name in ("", interface):
            yield str(ipaddress.IPv6Address(int(digits, 16)))


def _asking(address: str, options: Sequence[str]) -> str:
    return "\n".join([f"nameserver {address}", *([f"options {' '.join(options)}"] if options else []), ""])


def _machine(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _resolver() -> str:
    """Return the file of a network without a name server: a lab's own names that of the machine that built it."""
    return "# no name server\n" if native.inside_lab() else _machine(RESOLVER)
