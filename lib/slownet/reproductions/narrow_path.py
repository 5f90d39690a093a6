"""A web server behind two routers whose link has a smaller MTU than all others."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from slownet.net.nft import Rule, filtering
from slownet.net.process import Hosts
from slownet.net.tool import run
from slownet.reproductions.full_size import FullSize, full_size
from slownet.reproductions.named_pages import FILE, Site
from slownet.services.composite import InOrder
from slownet.theory.path_mtu import FOR_HEADERS

MTU, USUAL_MTU = 1400, 1500
SIZE = 100_000
SECONDS = 60.0
PROBING = "net.ipv4.tcp_mtu_probing"
SILENT = Rule("output", "icmp type destination-unreachable", "drop")
CLAMPING = Rule("forward", "tcp flags syn", f"tcp option maxseg size set {MTU - FOR_HEADERS}")
CURES = ("none", "ICMP", "probing", "clamping")


class NarrowPath(InOrder):
    """A web server on the host ``server`` of `Chain`, with a link of MTU 1400 between the routers r1 and r2.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
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

        Parameters
        ----------
        cure : str
            One of `CURES`: ``ICMP``: the router says that a packet is too big, as it does unless it is told not to;
            ``probing``: the server probes; ``clamping``: the router lowers the MSS in SYNs; ``none``: none of them.

        Returns
        -------
        FullSize
            What arrived within a minute.

        Raises
        ------
        ToolError
            A program is missing or fails.
        """
        rules = [] if cure == "ICMP" else [SILENT]
        rules += [CLAMPING] if cure == "clamping" else []
        run(self.server, ["sysctl", "-qw", f"{PROBING}={int(cure == 'probing')}"])
        run(self.server, ["ip", "route", "flush", "cache"])  # it may have learnt the MTU
        with filtering(self.far, *rules):
            return full_size(self.client, f"http://{self.server.IP()}/{FILE}", seconds=SECONDS)
