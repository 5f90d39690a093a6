"""A page whose name has to be looked up first, at two round-trip times, and what a capture at the client shows of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets import dns
from slownet.links.packets.dns import Lookup
from slownet.model.errors import ToolError
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.tools.numbers import Metric, single


@dataclass(frozen=True)
class NamedPage(Metrics):
    """The same page at two round-trip times, its name looked up before.

    Attributes
    ----------
    command : tuple of str
        The command.
    near, far : Lookup
        Lookup and page at the shorter and at the longer round-trip time.
    apart_ms : float
        The difference of the round-trip times, in ms.
    files : mapping of str to bytes
        The capture at the longer one.
    """

    command: tuple[str, ...]
    near: Lookup
    far: Lookup
    apart_ms: float
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """Both as text."""
        return "".join(f"{each}\n" for each in (self.near, self.far))

    def metrics(self) -> dict[str, Metric]:
        """Return ``lookup_round_trips``, and ``round_trips`` from the lookup's first packet to the page's first byte."""
        return {
            "lookup_round_trips": single((self.far.lookup_ms - self.near.lookup_ms) / self.apart_ms, 2),
            "round_trips": single((self.far.first_ms - self.near.first_ms) / self.apart_ms, 2),
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

    Parameters
    ----------
    host : Host
        The client.
    url : str
        The page's URL, with a name, on port 80.
    transport : str
        Over what the name is to be looked up: a name in `slownet.theory.lookups.STACKS`.
    opened : bool
        Whether a connection is to be opened for that.
    options : sequence of str
        More options of curl.

    Returns
    -------
    Observed
        The page that was measured.

    Raises
    ------
    ToolError
        A program is missing or fails, the capture lost packets, or it shows another lookup.
    """
    with owner.temporary("lookup") as directory:
        pcap = Path(directory, "pcap")
        with Capture(host, f"{host.name}-eth0", pcap, filter="tcp or udp") as capture:
            done = run(host, ["curl", "--disable", "-sS", "--fail", *options, "--output", "/dev/null", url])
        if capture.dropped:
            raise ToolError(f"tcpdump lost {capture.dropped} packets", f"host '{host.name}'")
        found = Observed(dns.read(pcap), done.argv, pcap.read_bytes())
    if found.seen.transports != (transport,) or found.seen.opened != opened:
        shown = f"a lookup over {' and '.join(found.seen.transports)}{', opened for it' if found.seen.opened else ''}"
        wanted = f"{transport}{', opened for it' if opened else ''}"
        raise ToolError(f"the capture shows {shown} instead of {wanted}", f"host '{host.name}', {url}")
    return found
