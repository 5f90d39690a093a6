"""One request on a new connection, opened in a given way, and what a capture at the client shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from slownet.judge.measured import Metrics
from slownet.lab.host import owner
from slownet.links.packets.connections import PORT, connections
from slownet.links.packets.seen import Seen
from slownet.model.errors import ToolError
from slownet.model.protocol_names import PLAIN, QUIC, TLS12, Traits
from slownet.net.process import Host
from slownet.net.tcpdump import Capture
from slownet.net.tool import Completed, run
from slownet.tools.curl import curl, key_log
from slownet.tools.numbers import Metric, single

PROGRAM = "gtlsclient"


def gtlsclient(host: Host, url: str, *, session: Path, keys: Path | None = None, timeout: float = 60.0) -> Completed:
    """Request a URL with ``gtlsclient``, which ends once it has the response and a ticket for the next time.

    It is ngtcp2's HTTP/3 client on GnuTLS, and sends early data over QUIC, which curl does not.

    host: the host that ``gtlsclient`` runs on.
    url: what to request, with an IP address.
    session: a folder that keeps the session. If it has one, the request is sent as early data.
    keys: a file for the connection's secrets.
    timeout: seconds for the request.
    returns: the program's output. What it says of early data is only that it was sent: see `slownet.links.packets.quic`.
    Raises ToolError: ``gtlsclient`` is missing, fails, or takes longer.
    """
    kept = [f"--session-file={session}/session", f"--tp-file={session}/parameters"]
    parts = urlsplit(url)
    argv = [PROGRAM, "--quiet", "--exit-on-all-streams-close", "--wait-for-ticket", *kept]
    argv += [str(parts.hostname), str(parts.port or 443), url]
    return run(host, argv, timeout=timeout, env=key_log(keys))


@dataclass(frozen=True)
class Handshake(Metrics):
    """The same request at two round-trip times.

    command: what was requested, and how the connection was opened.
    near, far: the connection at the shorter and at the longer round-trip time.
    apart_ms: the difference of the round-trip times, in ms.
    files: the capture at the longer one and its key log, which Wireshark can read together.
    """

    command: tuple[str, ...]
    near: Seen
    far: Seen
    apart_ms: float
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """Both connections as text."""
        return "".join(f"{each}\n" for each in (self.near, self.far))

    def metrics(self) -> dict[str, Metric]:
        """Return ``round_trips`` to the first byte, ``round_trips_to_end`` to the last one, and ``flights`` of the client.

        Round trips are the time gained divided by the round-trip time added.
        """
        return {
            "round_trips": single((self.far.first_ms - self.near.first_ms) / self.apart_ms, 2),
            "round_trips_to_end": single((self.far.last_ms - self.near.last_ms) / self.apart_ms, 2),
            "flights": single(self.far.flights, 1),
        }

    def facts(self) -> dict[str, object]:
        """Return what the capture shows: how the connection was opened, ALPN's protocol, and sizes in bytes."""
        seen = self.far
        return {
            "opened": str(seen.traits), "application": seen.application, "certificate_bytes": seen.certificate,
            "handshake_bytes": seen.handshake, "answer_bytes": seen.answer,
        }  # fmt: skip


@dataclass(frozen=True)
class Observed:
    """One connection, and the evidence: its capture and its key log."""

    seen: Seen
    pcap: bytes
    keys: str


def observe(host: Host, address: str, name: str, wanted: Traits) -> Observed:
    """Request a file on a new connection, after an earlier one if that is needed, and read the connection's packets.

    host: the client.
    address, name: the server's IP address, and the file's name.
    wanted: how the connection is to be opened. Whether there is a HelloRetryRequest or a Retry is the server's part.
    returns: the connection that was measured.
    Raises ToolError: a program is missing or fails, the capture lost packets or cannot be read, or it shows a connection that
    was opened in another way.
    """
    with owner.temporary("handshake") as directory:
        keys, pcap = Path(directory, "keys"), Path(directory, "pcap")
        url = f"{'http' if wanted.security == PLAIN else 'https'}://{address}/{name}"
        early = wanted.transport == QUIC and wanted.early
        if early:
            gtlsclient(host, url, session=Path(directory), keys=keys)
        capture = Capture(host, f"{host.name}-eth0", pcap, filter=f"udp port {PORT}" if wanted.transport == QUIC else "tcp")
        with capture:
            if early:
                gtlsclient(host, url, session=Path(directory), keys=keys)
            else:
                curl(host, _words(url, wanted), keys=keys)
        if capture.dropped:
            raise ToolError(f"tcpdump lost {capture.dropped} packets", f"host '{host.name}'")
        found = Observed(
            connections(pcap, keys, wanted.transport)[-1], pcap.read_bytes(), keys.read_text() if keys.exists() else ""
        )
    if found.seen.traits != wanted:
        raise ToolError(f"the capture shows {found.seen.traits} instead of {wanted}", f"host '{host.name}', {url}")
    return found


def _words(url: str, wanted: Traits) -> list[str]:
    """Return curl's options and URLs; an earlier connection brings a session, or only a cookie, and is closed."""
    words = ["--http3-only"] if wanted.transport == QUIC else ["--http1.1"]
    words += ["--tls-max", "1.2"] if wanted.security == TLS12 else []
    words += ["--tls-earlydata"] if wanted.early else []
    words += ["--tcp-fastopen"] if wanted.fast_open else []
    if not (wanted.resumed or wanted.fast_open):
        return [*words, url]
    earlier = url if wanted.resumed else url.replace("https:", "http:")  # a cookie is for all ports of an address
    return [*words, earlier, "--header", "Connection: close", "--next", *words, url]
