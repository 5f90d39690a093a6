"""A host where the server is started that a way to open connections needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.model.protocol_names import QUIC, Traits
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.reproductions.handshake import Handshake, observe
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer, certificate, contents, fast_open, files
from slownet.services.service import Service
from slownet.theory.handshakes import opened

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
