"""A web server and the name server of its page on one host, and a resolver at the client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.host import owner
from slownet.links.packets import dns
from slownet.links.packets.dns import Lookup
from slownet.model.errors import ServiceError, ToolError
from slownet.model.protocol_names import UDP
from slownet.net import addresses
from slownet.net.process import Host, Hosts
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.reproductions.protocols import RTTS_MS, At, NearAndFar
from slownet.services.composite import InOrder
from slownet.services.https import files
from slownet.services.nginx import Nginx
from slownet.services.unbound import LOCAL, Unbound
from slownet.tools.numbers import Metric

# A page whose name has to be looked up first, at two round-trip times, and what a capture at the client shows of both.


@dataclass(frozen=True)
class NamedPage(NearAndFar[Lookup]):
    """The same page at two round-trip times, its name looked up before; files: the capture at the longer one."""

    def metrics(self) -> dict[str, Metric]:
        """Return ``lookup_round_trips``, and ``round_trips`` from the lookup's first packet to the page's first byte."""
        return {
            "lookup_round_trips": self.round_trips(lambda seen: seen.lookup_ms),
            "round_trips": self.round_trips(lambda seen: seen.first_ms),
        }

    def facts(self) -> dict[str, object]:
        """Return what the capture shows: over what the name was looked up, and whether a connection was opened for it."""
        return {"looked_up_over": " and ".join(self.far.transports), "opened": self.far.opened}


@dataclass(frozen=True)
class Observed:
    """A page with its lookup, and the capture of both."""

    seen: Lookup
    command: tuple[str, ...]
    pcap: bytes


def observe(host: Host, url: str, transport: str, opened: bool, options: Sequence[str] = ()) -> Observed:
    """Request a page with ``curl``, and read from the packets how its name was looked up.

    host: the client.
    url: the page's URL, with a name, on port 80.
    transport: over what the name is to be looked up: a name in `slownet.theory.lookups.STACKS`.
    opened: whether a connection is to be opened for that.
    options: more options of curl.
    returns: the page that was measured.
    Raises ToolError: a program is missing or fails, the capture lost packets, or it shows another lookup.
    """
    with owner.temporary("lookup") as directory:
        pcap = Path(directory, "pcap")
        with Capture(host, f"{host.name}-eth0", pcap, filter="tcp or udp") as capture:
            done = run(host, ["curl", "--disable", "-sS", "--fail", *options, "--output", "/dev/null", url])
        if capture.dropped:
            fix = "run it again on a quieter machine"
            raise ToolError(f"tcpdump lost {capture.dropped} packets", f"host '{host.name}'", fix)
        found = Observed(dns.read(pcap), done.argv, pcap.read_bytes())
    if found.seen.transports != (transport,) or found.seen.opened != opened:
        shown = f"a lookup over {' and '.join(found.seen.transports)}{', opened for it' if found.seen.opened else ''}"
        wanted = f"{transport}{', opened for it' if opened else ''}"
        fix = "look at the resolver's log in the run's folder services: another configuration, or another connection?"
        raise ToolError(f"the capture shows {shown} instead of {wanted}", f"host '{host.name}', {url}", fix)
    return found


PROGRAM, RESOLVER = "program", "resolver"
GLIBC: Mapping[str, Sequence[str]] = {UDP: (), "TCP": ("use-vc",)}
"""Options in resolv.conf(5) by transport."""
IPV4_ONLY = ("--ipv4",)
PAGE, OTHER, FILE, SIZE = "page.example", "other.example", "page", 1000


class Site(Nginx):
    """A web server with one page; listen: further addresses, such as "[2001:db8::a00:1]:80"; size: the page's bytes."""

    def __init__(self, host: Host, directory: str | Path, *listen: str, size: int = SIZE) -> None:
        super().__init__(host, directory, root="")
        self.listen, self.size = listen, size

    def site(self) -> Sequence[str]:
        """Return how the page is reached."""
        return [f"listen {each}" for each in ("80", *self.listen)]

    def prepare(self) -> None:
        """Write the page and the configuration."""
        self.root = files(self.state, {FILE: self.size})
        super().prepare()


class NamedPages(InOrder):
    """A web server and its name server on one host; at the client a resolver that asks it, as a router at home does.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "page"

    def __init__(self, net: Hosts, directory: str | Path, server: str = "server") -> None:
        self.host, self.directory = net[server], directory
        records = {name: [self.host.IP()] for name in (PAGE, OTHER)}
        self._servers = Site(self.host, directory), Unbound(self.host, directory, records=records)

    def _begin(self, stack: ExitStack) -> None:
        for each in self._servers:
            stack.enter_context(each)

    def page(
        self, client: Host, transport: str, at: At, *, by: str = PROGRAM, kept: bool = False, questions: int = 2,
        rtts_ms: tuple[int, int] = RTTS_MS,
    ) -> NamedPage:  # fmt: skip
        """Request a page at two round-trip times, with a lookup of its name each time.

        client: the host that requests it.
        transport: over what the name is looked up: a name in `slownet.theory.lookups.STACKS`.
        at: sets the round-trip time of the link for a ``with`` block: ``at("20ms")``. Only the server's end must delay.
        by: who asks: `PROGRAM`, which is curl, by glibc over UDP and TCP and by itself over HTTPS; or `RESOLVER`, an unbound at
            the client that curl asks, over UDP, TCP and TLS.
        kept: whether another name is looked up before, over the same connection; only a `RESOLVER` keeps it.
        questions: 2 for the name's IPv4 and IPv6 addresses, 1 for the IPv4 address alone.
        rtts_ms: the two round-trip times.
        returns: round trips, with what the capture shows.
        Raises ServiceError, ToolError: a program is missing or fails, or the capture shows another lookup.
        """
        found = []
        for rtt_ms in rtts_ms:
            with at(f"{rtt_ms}ms"):
                found.append(self._observe(client, transport, by, kept, [*IPV4_ONLY] * (questions == 1)))
        near, far = found
        return NamedPage(far.command, near.seen, far.seen, float(rtts_ms[1] - rtts_ms[0]), {"pcap": far.pcap})

    def _observe(self, client: Host, transport: str, by: str, kept: bool, options: list[str]) -> Observed:
        url, opened, server = f"http://{PAGE}/{FILE}", not kept and transport != UDP, self.host.IP()
        if by == RESOLVER:
            with Unbound(client, self.directory, forward=(server, transport)), asking(client, LOCAL):
                if kept:
                    run(client, ["getent", "ahosts", OTHER])
                return observe(client, url, transport, opened, options)
        if transport not in GLIBC:
            options += ["--doh-url", f"https://{server}/dns-query", "--doh-insecure"]
            return observe(client, url, transport, opened, options)
        with asking(client, server, GLIBC[transport]):
            return observe(client, url, transport, opened, options)


@contextmanager
def asking(host: Host, address: str, options: Sequence[str] = ()) -> Iterator[None]:
    """Make the network of a host ask a name server for a ``with`` block. Raises ServiceError."""
    before = addresses.ask(host, address, options)
    if before is None:
        raise ServiceError("the hosts of this network cannot be configured to ask a name server", f"host '{host.name}'")
    try:
        yield
    finally:
        addresses.write(before)
