"""A web server behind two routers whose link has a smaller MTU than all others, and the first full-size segment to it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets import capture as packets
from slownet.model.errors import ToolError
from slownet.net.nft import Rule, filtering
from slownet.net.process import Host, Hosts
from slownet.net.tcpdump import Capture
from slownet.net.tool import run, why
from slownet.reproductions.named_pages import FILE, Site
from slownet.services.composite import InOrder
from slownet.theory.path_mtu import FOR_HEADERS
from slownet.tools.numbers import Metric, single

TIMED_OUT = 28
"""curl's exit status."""


@dataclass(frozen=True)
class FullSize(Metrics):
    """One request on a new connection.

    command: the command.
    received: bytes of the response that arrived, with its header.
    first_byte_ms: the time from the SYN to the response's first byte; None if none arrived.
    segment: bytes of the largest segment that arrived.
    files: the capture.
    """

    command: tuple[str, ...]
    received: int
    first_byte_ms: float | None
    segment: int
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """The arrivals, as text."""
        return f"{self.received} bytes, in segments of up to {self.segment}, the first after {self.first_byte_ms} ms\n"

    def metrics(self) -> dict[str, Metric]:
        """Return ``received_bytes``, and ``first_byte_ms`` if there is one."""
        found = {"received_bytes": single(self.received, 1)}
        return found if self.first_byte_ms is None else found | {"first_byte_ms": single(self.first_byte_ms, 1)}

    def facts(self) -> dict[str, object]:
        """Return the bytes of the largest segment."""
        return {"largest_segment": self.segment}


def full_size(host: Host, url: str, *, seconds: float) -> FullSize:
    """Request a page with ``curl``, and read from the packets what arrives.

    host: the client.
    url: the page's URL, without TLS.
    seconds: when curl gives up; that is a result too.
    returns: what arrived.
    Raises ToolError: a program is missing or fails, the capture lost packets, or the connection was not opened.
    """
    with owner.temporary("full_size") as directory:
        pcap = Path(directory, "pcap")
        with Capture(host, f"{host.name}-eth0", pcap, filter="tcp") as capture:
            words = ["curl", "--disable", "-sS", "--fail", "--max-time", f"{seconds:g}", "--output", "/dev/null", url]
            done = run(host, words, check=False)
        if done.status not in (0, TIMED_OUT):
            raise ToolError(f"curl ended with status {done.status}: {why(done)}", f"host '{host.name}'", raw=done.raw)
        if capture.dropped:
            raise ToolError(f"tcpdump lost {capture.dropped} packets", f"host '{host.name}'")
        segments = packets.read(pcap)
        inward = [each for each in segments if not each.outward and each.length]
        if all(each.outward for each in segments):
            raise ToolError("the capture shows a SYN without an answer", f"host '{host.name}', {url}")
        first = (min(each.ns for each in inward) - segments[0].ns) / 1e6 if inward else None
        received = max((each.end for each in inward), default=0)
        largest = max((each.length for each in inward), default=0)
        return FullSize(done.argv, received, first, largest, {"pcap": pcap.read_bytes()})


MTU, USUAL_MTU = 1400, 1500
SIZE = 100_000
SECONDS = 60.0
PROBING = "net.ipv4.tcp_mtu_probing"
SILENT = Rule("output", "icmp type destination-unreachable", "drop")
CLAMPING = Rule("forward", "tcp flags syn", f"tcp option maxseg size set {MTU - FOR_HEADERS}")
CURES = ("none", "ICMP", "probing", "clamping")


class NarrowPath(InOrder):
    """A web server on the host ``server`` of `Chain`, with a link of MTU 1400 between the routers r1 and r2.

    net: the network.
    directory: the run directory, for logs.
    """

    operation = "page"

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client, self.near, self.far, self.server = (net[name] for name in ("client", "r1", "r2", "server"))
        self._site = Site(self.server, directory, size=SIZE)

    def _begin(self, stack: ExitStack) -> None:
        stack.enter_context(self._site)
        for host, interface in ((self.near, "r1-eth1"), (self.far, "r2-eth0")):
            run(host, ["ip", "link", "set", "dev", interface, "mtu", str(MTU)])
            stack.callback(run, host, ["ip", "link", "set", "dev", interface, "mtu", str(USUAL_MTU)])

    def page(self, cure: str) -> FullSize:
        """Request a page of 100 kB from a server that does not know the path's MTU.

        cure: one of `CURES`: ``ICMP``: the router states that a packet is too big, as it does by default;
            ``probing``: the server probes; ``clamping``: the router lowers the MSS in SYNs; ``none``: none of them.
        returns: what arrived within a minute.
        Raises ToolError: a program is missing or fails.
        """
        rules = [] if cure == "ICMP" else [SILENT]
        rules += [CLAMPING] if cure == "clamping" else []
        run(self.server, ["sysctl", "-qw", f"{PROBING}={int(cure == 'probing')}"])
        run(self.server, ["ip", "route", "flush", "cache"])  # it may have learnt the MTU
        with filtering(self.far, *rules):
            return full_size(self.client, f"http://{self.server.IP()}/{FILE}", seconds=SECONDS)
