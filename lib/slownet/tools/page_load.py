"""A page of many objects, loaded by ``curl`` as a browser does that knows all of them: over HTTP/1.1, HTTP/2 or HTTP/3."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.errors import ToolError
from slownet.handshakes import STACKS
from slownet.measured import Metrics
from slownet.packets.connections import PORT, connections
from slownet.packets.seen import Seen
from slownet.page_loads import PROTOCOLS, Protocol
from slownet.tools.curl import Curl, together
from slownet.tools.numbers import Metric, mean, series
from slownet.tools.process import Host
from slownet.tools.tcpdump import Capture

OPTIONS = {"http/1.1": ["--http1.1"], "h2": ["--http2"], "h3": ["--http3-only"]}
AT_ONCE = 300
"""The most requests that curl has under way."""


@dataclass(frozen=True)
class PageLoad(Metrics):
    """Loads of one page, one after the other, each on new connections.

    Attributes
    ----------
    command : tuple of str
        The first command.
    raw : str
        What ``curl`` wrote.
    times_ms : tuple of float
        The time of each load, until all programs have ended.
    application : str
        The protocol that ALPN agreed on, by the capture.
    connections : int
        Connections for each load, by the capture.
    objects_ms : tuple of float
        For each load the mean of its objects' times, each from its own request.
    """

    command: tuple[str, ...]
    raw: str
    times_ms: tuple[float, ...]
    application: str
    connections: int
    objects_ms: tuple[float, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return ``page_ms`` and ``object_ms``."""
        return {"page_ms": series(self.times_ms), "object_ms": series(self.objects_ms)}

    def facts(self) -> dict[str, Any]:
        """Return what the capture shows."""
        return {"application": self.application, "connections": self.connections}


def page_load(host: Host, url: str, protocol: str, objects: int, *, loads: int = 1) -> PageLoad:
    """Load a page of many objects, and confirm by the packets of the first load how.

    Parameters
    ----------
    host : Host
        The client.
    url : str
        An object's URL, with an IP address; the page's objects differ by a query.
    protocol : str
        A name in `slownet.page_loads.PROTOCOLS`.
    objects : int
        How many objects the page has.
    loads : int
        How often it is loaded.

    Returns
    -------
    PageLoad
        Times in ms.

    Raises
    ------
    ToolError
        ``curl`` or ``tcpdump`` is missing or fails, or the capture shows another protocol, or another number of connections.
    """
    way = PROTOCOLS[protocol]
    several = shares(way, page(url, objects))
    times, means, ended = [], [], list[Curl]()
    with owner.temporary("page") as directory:
        keys, pcap = Path(directory, "keys"), Path(directory, "pcap")
        for number in range(loads + 1):
            # The first one is not timed: a capture may delay packets if CPU time is charged.
            with Capture(host, f"{host.name}-eth0", pcap, filter=f"port {PORT}") if not number else owner.temporary("load"):
                began = time.monotonic()
                ended = together(host, several, keys=keys)
                times.append(1000 * (time.monotonic() - began))
            means.append(mean([each for one in ended for each in one.times_ms]))
        seen = connections(pcap, keys, STACKS[way.stack].transport)
    confirm(seen, protocol, objects, f"host '{host.name}', {url}")
    raw = "".join(each.raw for each in ended)
    return PageLoad(ended[0].command, raw, tuple(times[1:]), way.application, len(seen), tuple(means[1:]))


def page(url: str, objects: int) -> list[str]:
    """Return the URLs of a page's objects, which differ by a query."""
    return [f"{url}?{number}" for number in range(objects)]


def confirm(seen: Sequence[Seen], protocol: str, objects: int, where: str) -> None:
    """Check the connections of a page in a capture. Raises ToolError if protocol or number are others than asked for."""
    way = PROTOCOLS[protocol]
    if [each.application for each in seen] != [way.application] * min(objects, way.connections):
        found = ", ".join(each.application or "no protocol" for each in seen)
        raise ToolError(f"the capture shows {len(seen)} connections ({found}) instead of {protocol}", where)


def shares(way: Protocol, urls: Sequence[str]) -> list[list[str]]:
    """Return curl's words for each connection: all requests at once, or its share of them one after the other."""
    options = OPTIONS[way.application]
    if way.multiplexed:
        return [[*options, "--parallel", "--parallel-max", str(AT_ONCE), *urls]]
    return [[*options, *urls[first :: way.connections]] for first in range(min(len(urls), way.connections))]
