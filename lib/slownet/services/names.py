"""A name server for the hosts of a network: resolving a name then costs round trips, as it does elsewhere."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.model.errors import ServiceError, nearest
from slownet.net import addresses
from slownet.net.namespace import inside
from slownet.net.process import Host
from slownet.services import arguments
from slownet.services.service import Service

PORT = 53
ATTEMPT_S = 1.0
A, INTERNET = 1, 1
RECURSION = 0x0100
"""The flag of a query that asks for recursion, as all resolvers' queries do (RFC 1035, 4.1.1)."""

OPTIONS = (
    "attempts", "debug", "edns0", "inet6", "ip6-bytestring", "ip6-dotint", "ndots", "no-aaaa", "no-check-names",
    "no-ip6-dotint", "no-reload", "no-tld-query", "rotate", "single-request", "single-request-reopen", "timeout",
    "trust-ad", "use-vc",
)  # fmt: skip
"""Of resolv.conf(5), without their numbers."""


class NameServer(Service):
    """A DNS server (dnsmasq) for the network of its host.

    It answers for all hosts of the network: A, AAAA if they have IPv6 addresses, and PTR. Other names do not exist. While it
    runs, programs on all hosts ask it instead of their hosts files, also programs that were started before.

    A lookup costs a round trip between the host and the server: glibc asks for A and AAAA at the same time. With the resolver's
    option ``single-request`` it asks for one after the other, which costs two. glibc caches nothing, so that a program that
    resolves a name for each request pays for each; a JVM or nginx resolves once and remembers.

    Parameters
    ----------
    host : Host
        Where it runs. It has a TCP and a UDP port 53 of its own.
    directory : path, optional
        Where its log ``dnsmasq-<host>.log`` is written, which has each query: the run directory. Without it the folder of the
        run being measured, and in a test a temporary one.
    aliases : mapping of str to str, optional
        Further names of hosts, such as ``{"shop.example": "web"}``.
    ttl : int
        How many seconds others may remember an answer.
    options : sequence of str, optional
        Options of the hosts' resolver, as in resolv.conf(5), such as ``["single-request"]``.

    Examples
    --------
    ::

        with NameServer(net["db"]), net.link("client", "switch").set(rtt="20ms"):
            net["client"].cmd("wget -qO- http://web/")  # 20 ms more than http://10.0.0.2/
    """

    name = "dnsmasq"

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, aliases: Mapping[str, str] | None = None, ttl: int = 0,
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(host, directory)
        self.aliases = arguments.mapping(_named(aliases), "NameServer", "aliases", 'aliases={"shop.example": "web"}')
        for alias in self.aliases:
            if not alias or alias.split() != [alias]:
                raise ServiceError(f"the alias {alias!r} is not a name", "NameServer", 'write one like "shop.example"')
        self.ttl = arguments.whole(ttl, "NameServer", "ttl", "seconds", 60)
        self.options = arguments.words(options, "NameServer", "options", 'options=["single-request"]')
        for option in self.options:
            if option.partition(":")[0] not in OPTIONS:  # resolvers ignore what they do not know
                what = f"no option '{option}' of resolv.conf(5)"
                raise ServiceError(what, "NameServer", nearest(option.partition(":")[0], OPTIONS))
        self._before: dict[Path, str] = {}

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return [
            "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root",
            *("--log-facility=-", "--log-queries", "--no-resolv", "--no-hosts", f"--addn-hosts={self.state / 'hosts'}"),
            *("--address=/#/", f"--local-ttl={self.ttl}", "--bind-interfaces"),
            *(f"--listen-address={each}" for each in (self.host.IP(), *addresses.ipv6(self.host))),
        ]  # fmt: skip

    def prepare(self) -> None:
        """Write the addresses of the network's hosts. Raises ServiceError if an alias is of no host, or the port is taken."""
        self.require_port(PORT, self.host.IP())
        hosts = {host.name: host for host in addresses.reachable(self.host)}
        for alias, name in self.aliases.items():
            if name not in hosts:
                raise ServiceError(
                    f"the alias '{alias}' is for '{name}', which is not a host", "NameServer", nearest(name, hosts)
                )
        records = []
        for name, host in hosts.items():
            names = [name, *(alias for alias, of in self.aliases.items() if of == name)]
            records += [f"{address}\t{' '.join(names)}" for address in (host.IP(), *addresses.ipv6(host)) if address]
        (self.state / "hosts").write_text("\n".join(records) + "\n")

    def answers(self) -> bool:
        """Return whether it answers for its own host's name."""
        labels = b"".join(bytes([len(each)]) + each.encode() for each in self.host.name.split("."))
        query = struct.pack(">6H", 1, RECURSION, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, A, INTERNET)
        with inside(self.host):
            asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with asking:
            asking.settimeout(ATTEMPT_S)
            asking.connect((self.host.IP(), PORT))
            asking.send(query)
            _, _, _, found, *_ = struct.unpack(">6H", asking.recv(512)[:12])
            return bool(found)

    def wait(self) -> None:
        """Wait until it answers, then make the network's hosts ask it. Raises ServiceError."""
        super().wait()
        before = addresses.ask(self.host, self.host.IP(), self.options)
        if before is None:
            self.stop()
            raise ServiceError(
                "the hosts of this network cannot be configured to ask it", f"host '{self.host.name}'",
                f"a network has one name server at a time, and its machine a file {addresses.RESOLVER}",
            )  # fmt: skip
        self._before = before

    def stop(self) -> None:
        """End it; the network's hosts find each other in their hosts files again. Fine to call twice."""
        before, self._before = self._before, {}
        try:
            addresses.write(before)
        finally:
            super().stop()


def _named(aliases: Any) -> Any:
    """Return aliases with the names of hosts in place of hosts."""
    return {alias: getattr(of, "name", of) for alias, of in aliases.items()} if isinstance(aliases, Mapping) else aliases
