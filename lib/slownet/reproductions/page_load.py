"""A page of many objects, loaded with libcurl as by a browser that knows all of them: over HTTP/1.1, HTTP/2 or HTTP/3."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets.connections import PORT, connections
from slownet.links.packets.seen import Seen
from slownet.model.errors import ToolError
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import answering
from slownet.reproductions.program import python
from slownet.theory.handshakes import STACKS
from slownet.theory.page_loads import PROTOCOLS, Protocol
from slownet.tools.curl import GROUPS, key_log
from slownet.tools.numbers import Metric, mean, series
from slownet.tools.program import read_json


@dataclass(frozen=True)
class PageLoad(Metrics):
    """Loads of one page, one after the other, each on new connections.

    command: the command.
    raw: what it wrote: a JSON object for each load.
    times_ms: the time of each load, until its last object is complete.
    objects_ms: for each load the mean of its objects' times, each from its own request.
    application: the protocol that ALPN agreed on, by the capture.
    connections: connections for each load, by the capture.
    """

    command: tuple[str, ...]
    raw: str
    times_ms: tuple[float, ...]
    objects_ms: tuple[float, ...]
    application: str
    connections: int

    def metrics(self) -> dict[str, Metric]:
        """Return ``page_ms`` and ``object_ms``."""
        return {"page_ms": series(self.times_ms), "object_ms": series(self.objects_ms)}

    def facts(self) -> dict[str, object]:
        """Return what the capture shows."""
        return {"application": self.application, "connections": self.connections}


def page_load(host: Host, url: str, protocol: str, objects: int, *, loads: int = 1) -> PageLoad:
    """Load a page of many objects, and confirm by the packets of the first load how.

    host: the client.
    url: an object's URL, with an IP address; the page's objects differ by a query.
    protocol: a name in `slownet.theory.page_loads.PROTOCOLS`.
    objects: how many objects the page has.
    loads: how often it is loaded.
    returns: times in ms.
    Raises ToolError: a transfer or ``tcpdump`` fails, the capture shows another protocol, or a load takes another number of
    connections.
    """
    way = PROTOCOLS[protocol]
    job = {"chains": chains(way, page(url, objects)), "application": way.application, "groups": GROUPS}
    command = python("object_chains", json.dumps(job))
    with owner.temporary("page") as directory:
        keys, pcap = Path(directory, "keys"), Path(directory, "pcap")
        with answering(host, command, key_log(keys)) as load:
            # The first one is not timed: a capture may delay packets if CPU time is charged.
            with Capture(host, f"{host.name}-eth0", pcap, filter=f"port {PORT}"):
                load()
            answers = [load() for _ in range(loads)]
        seen = connections(pcap, keys, STACKS[way.stack].transport)
    where = f"host '{host.name}', {url}"
    confirm(seen, protocol, objects, where)
    read = [read_json(answer, command, "time_s", "transfers") for answer in answers]
    for number, each in enumerate(read, 1):
        if (opened := sum(transfer["num_connects"] for transfer in each["transfers"])) != len(seen):
            raise ToolError(f"load {number} opened {opened} connections instead of {len(seen)}", where, raw=answers[number - 1])
    times = tuple(1000 * each["time_s"] for each in read)
    means = tuple(mean([1000 * transfer["time_total"] for transfer in each["transfers"]]) for each in read)
    return PageLoad(tuple(command), "".join(answers), times, means, way.application, len(seen))


def page(url: str, objects: int) -> list[str]:
    """Return the URLs of a page's objects, which differ by a query."""
    return [f"{url}?{number}" for number in range(objects)]


def confirm(seen: Sequence[Seen], protocol: str, objects: int, where: str) -> None:
    """Check the connections of a page in a capture. Raises ToolError if protocol or number are others than asked for."""
    way = PROTOCOLS[protocol]
    if [each.application for each in seen] != [way.application] * min(objects, way.connections):
        found = ", ".join(each.application or "no protocol" for each in seen)
        raise ToolError(f"the capture shows {len(seen)} connections ({found}) instead of {protocol}", where)


def chains(way: Protocol, urls: Sequence[str]) -> list[Sequence[str]]:
    """Divide the requests into chains: each request its own, or each connection's share of them, one after the other."""
    number = len(urls) if way.multiplexed else min(len(urls), way.connections)
    return [urls[first::number] for first in range(number)]
