"""IPv6 beside IPv4: each address and route of the hosts also exists as one of IPv6, made of the same numbers.

10.0.0.1/24 becomes 2001:db8::a00:1/120, in the prefix for documentation (RFC 3849). A private prefix (fd00::/8) would not do:
programs that sort addresses by RFC 6724 would prefer IPv4 to it. There is no duplicate address detection and no router
advertisement, whose packets would come at random times. The hosts' reports of their multicast groups (MLD, RFC 3810) are sent
at once instead of within a second: one of them more or less would shift every later draw of a link's loss.
"""

from __future__ import annotations

import ipaddress
import json
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from slownet.links.ip import IP, IPV6
from slownet.model.errors import NetworkError
from slownet.net import addresses, reach
from slownet.net.mininet_links import keep_neighbours
from slownet.net.namespace import inside

PREFIX = ipaddress.IPv6Network("2001:db8::/96")
CONF, FORWARDS = Path("/proc/sys/net/ipv6/conf"), Path("/proc/sys/net/ipv4/ip_forward")
DEFAULT = "default"
DEADLINE_S = 30.0
SENT, REPORTS = Path("/proc/thread-self/net/snmp6"), "Icmp6OutMLDv2Reports"
QUIET_S = 0.05
"""The kernel sends a report two ticks after the one before and a random part of the interval: 30 ms at 100 Hz, rounded up."""


def of(address: str) -> str:
    """Return the IPv6 address that belongs to an IPv4 address: 2001:db8::a00:1 for 10.0.0.1.

    Raises NetworkError: it is not an IPv4 address.
    """
    try:
        return str(PREFIX.network_address + int(ipaddress.IPv4Address(address)))
    except ValueError:
        raise NetworkError(f"'{address}' is not an IPv4 address", fix="give one such as 10.0.0.1") from None


def address(ip: IP, ipv4: str) -> str:
    """Return a host's address of a version of IP, given its IPv4 address. Raises NetworkError as `of` does."""
    return of(ipv4) if ip is IPV6 else ipv4


def network(text: str) -> str:
    """Return the IPv6 network that belongs to an IPv4 network: 2001:db8::a00:0/120 for 10.0.0.0/24."""
    address, _, prefix = text.partition("/")
    return f"{of(address)}/{PREFIX.prefixlen + int(prefix or 32)}"


def add(hosts: Sequence[Any], folder: Path, where: str, parts: Sequence[Sequence[Any]]) -> None:
    """Give a network's hosts and routers IPv6; it is not an error if they have it.

    Programs that start from now on find both addresses by a host's name. folder: of the hosts' files, see `addresses.publish`.
    parts: the hosts that reach each other.
    Raises NetworkError if they do not reach each other.
    """
    for host in hosts:
        with inside(host):
            if not CONF.exists():
                raise NetworkError("the kernel has no IPv6", where=f"host {host.name}", fix="use the lab: leave out --native")
            _switch_on()
            for interface in host.intfList():
                if interface.IP():
                    keep_neighbours(interface.name, "ipv6")
            _batch([*_addresses(host), *_routes()], host.name)
    addresses.publish(hosts, folder, of)
    for first, *others in parts:
        reach.wait(first, others, DEADLINE_S, f"{where} over IPv6", of)
    _await_reports(hosts)


def give(host: Any, interface: str, stated: Sequence[str]) -> None:
    """Give an interface of a host addresses of IPv6 with their prefixes, such as fd28::10/64. Raises NetworkError."""
    with inside(host):
        if not CONF.exists():
            raise NetworkError("the kernel has no IPv6", where=f"host {host.name}", fix="use the lab: leave out --native")
        _switch_on()
        keep_neighbours(interface, "ipv6")
        _batch([f"address replace {each} dev {interface} nodad" for each in stated], host.name)


def on_loopback(host: Any) -> None:
    """Give a host the address ::1; it needs a kernel with IPv6."""
    with inside(host):
        if CONF.exists():
            (CONF / "lo/disable_ipv6").write_text("0")


def _switch_on() -> None:
    """Switch IPv6 on in this thread's namespace, and forwarding as it is for IPv4."""
    for folder in CONF.iterdir():
        (folder / "accept_dad").write_text("0")
        (folder / "accept_ra").write_text("0")
        (folder / "mldv2_unsolicited_report_interval").write_text("1")  # ms, of which the kernel waits a random part
    (CONF / "all/forwarding").write_text(FORWARDS.read_text())
    (CONF / "all/disable_ipv6").write_text("0")


def _await_reports(hosts: Sequence[Any]) -> None:
    """Wait until the hosts have sent the last of their multicast reports."""
    deadline, before, after = time.monotonic() + DEADLINE_S, -1, _reports(hosts)
    while before != after and time.monotonic() < deadline:
        time.sleep(QUIET_S)
        before, after = after, _reports(hosts)


def _reports(hosts: Sequence[Any]) -> int:
    """Return how many multicast reports the hosts have sent so far."""
    total = 0
    for host in hosts:
        with inside(host):
            total += next((int(line.split()[1]) for line in SENT.read_text().splitlines() if line.startswith(REPORTS)), 0)
    return total


def _addresses(host: Any) -> Iterator[str]:
    for interface in host.intfList():
        if interface.IP() and interface.name != "lo":
            prefix = PREFIX.prefixlen + int(interface.prefixLen)
            yield f"address replace {of(interface.IP())}/{prefix} dev {interface.name} nodad"


def _routes() -> Iterator[str]:
    """Yield the routes over gateways in this thread's namespace; those to its own networks come with the addresses."""
    shown = subprocess.run(["ip", "-json", "-4", "route"], capture_output=True, text=True, check=True).stdout
    for route in json.loads(shown or "[]"):
        if "gateway" in route:
            to = DEFAULT if route["dst"] == DEFAULT else network(route["dst"])
            yield f"route replace {to} via {of(route['gateway'])} dev {route['dev']}"


def _batch(commands: Iterable[str], name: str) -> None:
    text = "".join(f"{each}\n" for each in commands)
    done = subprocess.run(["ip", "-6", "-batch", "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NetworkError(f"ip: {(done.stderr.strip().splitlines() or ['no message'])[0]}", where=f"host {name}")
