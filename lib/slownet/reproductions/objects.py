"""A host where a web server is started for each page of many objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets.connections import PORT
from slownet.links.packets.responses import Answered, answered
from slownet.model.errors import ToolError
from slownet.model.protocol_names import QUIC
from slownet.net.nft import Rule, filtering
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import run
from slownet.reproductions.page_load import PageLoad, confirm, page, page_load
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer
from slownet.theory.handshakes import STACKS
from slownet.theory.head_of_line import THRESHOLD
from slownet.theory.page_loads import PROTOCOLS
from slownet.tools.curl import Curl, curl
from slownet.tools.numbers import Metric, mean, single

# A page of many objects, loaded without loss and then with exactly one packet lost: which objects are later, and how much.

OPTIONS = {"h2": "--http2", "h3": "--http3-only"}
AT_ONCE = 300
"""The most requests that curl has under way."""
COUNTING = "net.netfilter.nf_conntrack_acct=1"
"""Without it connection tracking counts no packets, and no rule can match the n-th."""


@dataclass(frozen=True)
class Load:
    """One load of the page: its objects' times in ms, in the page's order, what the capture shows, and the evidence."""

    curl: Curl
    times_ms: tuple[float, ...]
    answered: Answered
    pcap: bytes = field(repr=False)
    keys: str = field(repr=False)


@dataclass(frozen=True)
class LostPacket(Metrics):
    """A page with and without one lost packet.

    without, lossy: the two loads.
    lost: which of the server's packets was lost, from 1.
    """

    without: Load
    lossy: Load
    lost: int

    @property
    def command(self) -> tuple[str, ...]:
        """The command, which is the same for both."""
        return self.lossy.curl.command

    @property
    def raw(self) -> str:
        """The output of ``curl``, first without loss."""
        return self.without.curl.raw + self.lossy.curl.raw

    @property
    def later_ms(self) -> tuple[float, ...]:
        """The delay of each object's completion by the loss, in ms, each from its own request."""
        return tuple(lossy - own for lossy, own in zip(self.lossy.times_ms, self.without.times_ms, strict=True))

    @property
    def held_back_ms(self) -> tuple[float, ...]:
        """Those that are later by more than half a round trip."""
        return tuple(each for each in self.later_ms if each > self.without.curl.connect_ms / 2)

    @property
    def files(self) -> Mapping[str, str | bytes]:
        """The captures, in which the lost packet is too, and their keys."""
        loads = {"without": self.without, "lossy": self.lossy}
        return {f"{name}.pcap": each.pcap for name, each in loads.items()} | {
            f"{name}.keys": each.keys for name, each in loads.items()
        }

    def metrics(self) -> dict[str, Metric]:
        """Return ``held_back_objects``, those later by more than half a round trip, and their mean ``held_back_ms`` if any."""
        held = self.held_back_ms
        found = {"held_back_objects": single(len(held), len(self.later_ms))}
        return found | ({"held_back_ms": single(mean(held), len(held))} if held else {})

    def facts(self) -> dict[str, object]:
        """Return which packet of the server was lost, of how many without the loss, and how many objects it had bytes of."""
        carried = self.lossy.answered.carried
        packets = len(self.without.answered.carried)
        return {"lost_packet": self.lost, "packets": packets, "objects_in_lost_packet": len(carried[self.lost - 1])}


def lost_packet(host: Host, url: str, protocol: str, objects: int, *, of: int = 1) -> LostPacket:
    """Load a page, then load it again and drop exactly one packet of it as it arrives.

    The rule that drops it counts the connection's packets, and the captures confirm what was lost: the first packet that
    carries nothing but a certain object.

    host: the client.
    url: an object's URL, with an IP address; the page's objects differ by a query.
    protocol: a name in `slownet.theory.page_loads.PROTOCOLS` of one that has all objects on one connection.
    objects: how many objects the page has.
    of: the object that loses a packet, from 1, in the order the server sends them.
    returns: times in ms.
    Raises ToolError: a program is missing or fails, the captures show another protocol, no packet is that object's alone and
    early enough, or not exactly that packet was dropped.
    """
    way = PROTOCOLS[protocol]
    where = f"host '{host.name}', {url}"
    if not way.multiplexed:
        raise ToolError(f"{protocol} has no connection for all objects", where, "give HTTP/2 or HTTP/3")
    without = _load(host, url, protocol, objects)
    lost = position(without.answered.carried, of, where)
    kind = "udp" if STACKS[way.stack].transport == QUIC else "tcp"
    with filtering(host, Rule("input", f"{kind} sport {PORT} ct reply packets {lost}", "drop")) as matched:
        run(host, ["sysctl", "-qw", COUNTING])  # once the rule is there: it loads connection tracking
        lossy = _load(host, url, protocol, objects)
        (dropped,) = matched()
    if dropped != 1:
        raise ToolError(f"{dropped} packets were dropped instead of one", where)
    carried = lossy.answered.carried[lost - 1]
    if carried != {of - 1}:
        raise ToolError(f"the lost packet carried {named(carried)} instead of object {of} alone", where)
    return LostPacket(without, lossy, lost)


def position(carried: Sequence[frozenset[int]], of: int, where: str) -> int:
    """Return the first packet, from 1, that carries one object alone and that enough others follow. Raises ToolError."""
    found = next((number for number, each in enumerate(carried, 1) if each == {of - 1}), None)
    if found is None:
        raise ToolError(f"no packet carries object {of} alone", where, "give fewer or larger objects")
    followers = sum(bool(each) for each in carried[found:])
    if followers < THRESHOLD:
        what = f"{followers} packets of the page follow the first one of object {of}, so a timer would repair its loss"
        raise ToolError(what, where, "name an earlier object")
    return found


def named(objects: frozenset[int]) -> str:
    """Return objects by their numbers, from 1, as text: "object 4", "objects 1, 2"."""
    numbers = ", ".join(str(each + 1) for each in sorted(objects))
    return f"object{'s' if len(objects) > 1 else ''} {numbers}" if objects else "no object"


def _load(host: Host, url: str, protocol: str, objects: int) -> Load:
    """Load the page once and read its packets. Raises ToolError."""
    way = PROTOCOLS[protocol]
    where = f"host '{host.name}', {url}"
    urls = page(url, objects)
    words = [OPTIONS[way.application], "--parallel", "--parallel-max", str(AT_ONCE), *urls]
    with owner.temporary("lost_packet") as directory:
        keys, pcap = Path(directory, "keys"), Path(directory, "pcap")
        with Capture(host, f"{host.name}-eth0", pcap, filter=f"port {PORT}") as capture:
            done = curl(host, words, keys=keys)
        if capture.dropped:
            raise ToolError(f"tcpdump lost {capture.dropped} packets", where)
        seen = answered(pcap, keys, STACKS[way.stack].transport)
        confirm([each.seen for each in seen], protocol, objects, where)
        times = dict(zip(done.urls, done.times_ms, strict=True))
        return Load(done, tuple(times[each] for each in urls), seen[0], pcap.read_bytes(), keys.read_text())


NAME = "object"


class Objects(OnDemand):
    """A host that serves pages of equal objects with nginx, over HTTP/1.1, HTTP/2 and HTTP/3.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "page"

    def page(self, client: Host, protocol: str, objects: int, size: int, loads: int = 1) -> PageLoad:
        """Load a page from a server that is started for it.

        client: the host that loads it.
        protocol: a name in `slownet.theory.page_loads.PROTOCOLS`.
        objects, size: how many objects the page has, and the bytes of each one.
        loads: how often it is loaded.
        returns: times in ms.
        Raises ServiceError, ToolError: a program is missing or fails, or the capture shows another protocol.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return page_load(client, f"{site.url}{NAME}", protocol, objects, loads=loads)

    def page_with_lost_packet(self, client: Host, protocol: str, objects: int, size: int, *, of: int = 1) -> LostPacket:
        """Load a page without loss, then with one packet lost, from a server that is started for it.

        client, protocol, objects, size: as for `page`; the protocol has all objects on one connection.
        of: the object that loses a packet, from 1, in the order they are sent.
        returns: times in ms.
        Raises ServiceError, ToolError: a program is missing or fails, the captures show another protocol, or not exactly that
        packet was lost.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return lost_packet(client, f"{site.url}{NAME}", protocol, objects, of=of)
