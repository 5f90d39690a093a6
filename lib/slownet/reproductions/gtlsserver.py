"""gtlsserver, ngtcp2's HTTP/3 server on GnuTLS: it takes early data over QUIC, which nginx 1.26 does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services.certificate import certificate
from slownet.services.https import contents, files
from slownet.services.service import Service


class GtlsServer(Service):
    """An HTTP/3 server with files, on UDP port 443.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for its log.
    files : mapping of str to int
        The files that it serves, with their size in bytes: ``{"page": 1000}``.
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
