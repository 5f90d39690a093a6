"""A host where the server is started that a way to open connections needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar
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
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer, certificate, contents, fast_open, files
from slownet.services.service import Service
from slownet.theory.handshakes import opened
from slownet.tools.curl import curl, key_log
from slownet.tools.numbers import Metric, single

# One request on a new connection, opened in a given way, and what a capture at the client shows of it.

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


S = TypeVar("S")


@dataclass(frozen=True)
class NearAndFar(Metrics, Generic[S]):
    """The same at two round-trip times, as packets show it.

    command: the command.
    near, far: what was seen at the shorter and at the longer round-trip time.
    apart_ms: the difference of the round-trip times, in ms.
    files: the evidence of the longer one, by name.
    """

    command: tuple[str, ...]
    near: S
    far: S
    apart_ms: float
    files: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """Both as text."""
        return "".join(f"{each}\n" for each in (self.near, self.far))

    def round_trips(self, time_ms: Callable[[S], float]) -> Metric:
        """Return how many round trips a time has: how much longer it is, divided by the round-trip time added."""
        return single((time_ms(self.far) - time_ms(self.near)) / self.apart_ms, 2)


@dataclass(frozen=True)
class Handshake(NearAndFar[Seen]):
    """The same request at two round-trip times.

    command: what was requested, and how the connection was opened.
    near, far, apart_ms: as in `NearAndFar`.
    files: the capture and its key log, which Wireshark can read together.
    """

    def metrics(self) -> dict[str, Metric]:
        """Return ``round_trips`` to the first byte, ``round_trips_to_end`` to the last one, and ``flights`` of the client."""
        return {
            "round_trips": self.round_trips(lambda seen: seen.first_ms),
            "round_trips_to_end": self.round_trips(lambda seen: seen.last_ms),
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


NAME = "document"
OTHER_GROUP = "P-256"
"""A group that the client knows, but sends no key share for."""
At = Callable[[str], AbstractContextManager[Any]]
"""Sets the round-trip time for a ``with`` block."""


@dataclass(frozen=True)
class Opening:
    """A server's behaviour when a connection is opened.

    document: bytes of the document that is requested.
    certificate: about how many bytes the Certificate message has; the least that is possible unless given.
    hello_retry, retry: whether it sends a HelloRetryRequest, or a Retry packet.
    """

    document: int = 1000
    certificate: int = 0
    hello_retry: bool = False
    retry: bool = False


USUAL = Opening()
RTTS_MS = (20, 120)


class Protocols(OnDemand):
    """A host where a server is started for each cell: nginx, or gtlsserver for early data over QUIC.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "request"

    @contextmanager
    def serving(self, wanted: Traits, opening: Opening) -> Iterator[None]:
        """Run the server that a way to open connections needs, for a ``with`` block. Raises ServiceError."""
        files = {NAME: opening.document}
        if wanted.transport == QUIC and wanted.early:
            server: GtlsServer | HttpsServer = GtlsServer(self.host, self.directory, files=files)
        else:
            server = HttpsServer(
                self.host, self.directory, files=files, certificate_bytes=opening.certificate, retry=opening.retry,
                **({"groups": OTHER_GROUP} if opening.hello_retry else {}),
            )  # fmt: skip
        with server:
            yield

    def handshake(
        self, client: Host, stack: str, at: At, opening: Opening = USUAL, rtts_ms: tuple[int, int] = RTTS_MS
    ) -> Handshake:
        """Request a document on a new connection, at two round-trip times.

        client: the host that requests it.
        stack: how to open the connection: a name in `slownet.theory.handshakes.STACKS`.
        at: sets the round-trip time of the link for a ``with`` block: ``at("20ms")``. Only the server's end must delay, so that
            a capture at the client sees packets when the client sends and receives them.
        opening: what the server does.
        rtts_ms: the two round-trip times.
        returns: round trips, with what the capture shows.
        Raises ServiceError, ToolError: a program is missing or fails, or the capture shows another way to open the connection.
        """
        wanted = opened(stack, hello_retry=opening.hello_retry, retry=opening.retry)
        found = []
        fast_open(client)
        with self.serving(wanted, opening):
            for rtt_ms in rtts_ms:
                with at(f"{rtt_ms}ms"):
                    found.append(observe(client, self.host.IP(), NAME, wanted))
        near, far = found
        files: dict[str, str | bytes] = {"pcap": far.pcap, **({"keys.txt": far.keys} if far.keys else {})}
        return Handshake((stack, str(opening)), near.seen, far.seen, float(rtts_ms[1] - rtts_ms[0]), files)


# gtlsserver, ngtcp2's HTTP/3 server on GnuTLS: it takes early data over QUIC, which nginx 1.26 does not.


class GtlsServer(Service):
    """An HTTP/3 server with files, on UDP port 443.

    host: the host that it runs on.
    directory: the run directory, for its log.
    files: the files that it serves, with their size in bytes: ``{"page": 1000}``.
    """

    name = "gtlsserver"

    def __init__(self, host: Host, directory: str | Path | None = None, *, files: Mapping[str, int]) -> None:
        super().__init__(host, directory)
        self.files = contents(files, "GtlsServer")

    @property
    def url(self) -> str:
        """The URL that the files' names follow, with an IP address."""
        return f"https://{self.host.IP()}/"

    def prepare(self) -> None:
        """Write certificate and files. Raises ServiceError if the port is taken."""
        self.require_port(443, self.host.IP())
        certificate(self.state)
        files(self.state, self.files)

    def command(self) -> Sequence[str]:
        """Return the command line."""
        own = [str(self.state / each) for each in ("key.pem", "certificate.pem")]
        return ["gtlsserver", "--quiet", f"--htdocs={self.state}/files", "*", "443", *own]

    def answers(self) -> bool:
        """Return whether it listens."""
        return bool(run(self.host, ["ss", "-Huln", "sport = :443"]).stdout.strip())
