"""The name server unbound, over UDP, TCP, TLS and HTTPS: with records of its own, or forwarding to another one."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from slownet.model.errors import ServiceError, nearest
from slownet.model.protocol_names import DNS_PORTS, UDP
from slownet.net.namespace import inside
from slownet.net.process import Host
from slownet.services import arguments
from slownet.services.https import certificate
from slownet.services.service import Service

LOCAL = "127.0.0.1"
ATTEMPT_S = 1.0
OF_ITSELF = "version.server"
CHAOS, TXT = 3, 16
SOA = "localhost. nobody.invalid. 1 3600 1200 604800 60"
"""Without it, others do not remember that a name has no address of a kind, and ask again (RFC 2308, 5)."""
OPTIONS: Mapping[str, str] = {UDP: "", "TCP": "forward-tcp-upstream: yes", "TLS": "forward-tls-upstream: yes"}
"""The port and options of a forwarder, by transport; unbound does not query over HTTPS."""


def _records(given: Any) -> dict[str, tuple[str, ...]]:
    """Return the addresses of names. Raises ServiceError."""
    example = 'records={"page.example": ["10.0.0.2"]}'
    if not isinstance(given, Mapping):
        raise ServiceError(f"records is a {type(given).__name__} instead of a mapping", "Unbound", f"write {example}")
    found = {}
    for name, several in given.items():
        if not isinstance(name, str) or name.split() != [name]:
            raise ServiceError(f"{name!r} is not a name", "Unbound", f"write {example}")
        found[name] = arguments.words(several, "Unbound", f"records of '{name}'", example)
        for each in found[name]:
            _address(each, example)
    return found


def _forward(given: Any) -> tuple[str, str] | None:
    """Return whom a server asks, and over what. Raises ServiceError."""
    if not given:
        return None
    example = 'forward=("10.0.0.2", "UDP")'
    server, *transport = arguments.words(given, "Unbound", "forward", example)
    if len(transport) != 1:
        raise ServiceError(f"forward has {1 + len(transport)} texts instead of two", "Unbound", f"write {example}")
    if transport[0] not in OPTIONS:
        raise ServiceError(f"unbound does not ask over '{transport[0]}'", "Unbound", nearest(transport[0], OPTIONS))
    _address(server, example)
    return server, transport[0]


def _address(given: str, example: str) -> None:
    try:
        ip_address(given)
    except ValueError:
        raise ServiceError(f"'{given}' is not an IP address", "Unbound", f"give a host's, host.IP(), as in {example}") from None


class Unbound(Service):
    """A name server (unbound).

    host: the host that it runs on.
    directory: where its log ``unbound-<host>.log`` is written.
    records: the addresses of names, IPv4 or IPv6: ``{"page.example": ["10.0.0.2"]}``. Others do not exist. It answers on the
        host's first address, over UDP, TCP, TLS and HTTPS.
    forward: instead of that, the address of a name server that it asks, and over what: ``("10.0.0.2", "TLS")``. Then it answers
        on 127.0.0.1 for programs of its host, and keeps what it learnt, and the connections.
    ttl: how many seconds others may remember an answer.
    """

    name = "unbound"

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, records: Mapping[str, Sequence[str]] | None = None,
        forward: tuple[str, str] | None = None, ttl: int = 60,
    ) -> None:  # fmt: skip
        super().__init__(host, directory)
        if records and forward:
            fix = "give one; a server that forwards has no names of its own"
            raise ServiceError("records and forward exclude each other", "Unbound", fix)
        self.records = _records(records or {})
        self.forward = _forward(forward)
        self.ttl = arguments.whole(ttl, "Unbound", "ttl", "seconds", 60)

    @property
    def address(self) -> str:
        """The address at which it answers."""
        return LOCAL if self.forward else self.host.IP()

    @property
    def config(self) -> Path:
        """The configuration file, in the run directory."""
        return self.directory / f"{self.label}.conf"

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return ["unbound", "-d", "-p", "-c", str(self.config)]

    def prepare(self) -> None:
        """Write the configuration, and a certificate for TLS. Raises ServiceError if the port is taken."""
        self.require_port(DNS_PORTS[UDP], self.address)
        lines = [
            *("server:", 'username: ""', 'chroot: ""', f'directory: "{self.state}"', "use-syslog: no"),
            *('module-config: "iterator"', "access-control: 0.0.0.0/0 allow", f"interface: {self.address}"),
            *(self._forwarding() if self.forward else self._own()),
        ]  # fmt: skip
        self.config.write_text("\n".join(lines) + "\n")

    def _own(self) -> list[str]:
        certificate(self.state)
        listen = [f"interface: {self.address}@{DNS_PORTS[name]}" for name in ("TLS", "HTTPS")]
        keys = [f"tls-service-pem: {self.state}/certificate.pem", f"tls-service-key: {self.state}/key.pem"]
        data = [
            f'local-data: "{name}. {self.ttl} IN {"AAAA" if ":" in address else "A"} {address}"'
            for name, several in self.records.items()
            for address in several
        ]
        return [*listen, *keys, 'local-zone: "." static', f'local-data: ". {self.ttl} IN SOA {SOA}"', *data]

    def _forwarding(self) -> list[str]:
        assert self.forward
        server, transport = self.forward
        return ["forward-zone:", 'name: "."', f"forward-addr: {server}@{DNS_PORTS[transport]}", OPTIONS[transport]]

    def answers(self) -> bool:
        """Return whether it answers a question about itself."""
        labels = b"".join(bytes([len(each)]) + each.encode() for each in OF_ITSELF.split("."))
        query = struct.pack(">6H", 1, 0, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, TXT, CHAOS)
        with inside(self.host):
            asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with asking:
            asking.settimeout(ATTEMPT_S)
            asking.connect((self.address, DNS_PORTS[UDP]))
            asking.send(query)
            return bool(asking.recv(512))
