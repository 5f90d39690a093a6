"""The web server nginx with TLS, HTTP/2, HTTP/3 and TCP Fast Open, and its certificate, of a size that is asked for."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.model.errors import ServiceError
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.services import arguments
from slownet.services.nginx import Nginx

NAME = "host-{:05}.slownet.example"
OF_A_NAME, WITHOUT_NAMES = 28, 338
"""Bytes of the certificate for each name that it is valid for, and those of its Certificate message without any name. Names are
what makes real certificates large that serve many sites."""


def certificate(folder: Path, size: int = 0) -> tuple[Path, Path]:
    """Make a self-signed certificate with an ECDSA key.

    folder: where to write it.
    size: about how many bytes the server's Certificate message will have; at least some 370.
    returns: the certificate and its key.
    Raises ServiceError: openssl is missing or fails.
    """
    configuration, path, key = folder / "certificate.conf", folder / "certificate.pem", folder / "key.pem"
    names = (f"DNS:{NAME.format(number)}" for number in range(max(1, (size - WITHOUT_NAMES) // OF_A_NAME)))
    configuration.write_text(
        "[req]\ndistinguished_name=who\nx509_extensions=more\nprompt=no\n[who]\nCN=slownet\n"
        f"[more]\nsubjectAltName={','.join(names)}\n"
    )
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
    try:
        done = subprocess.run(
            [*words, "-config", configuration, "-keyout", key, "-out", path], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise ServiceError("openssl is not installed", fix="apt-get install openssl") from error
    if done.returncode:
        raise ServiceError(f"openssl makes no certificate: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return path, key


BACKLOG = 16
"""Connections with data in their SYN that may wait for their handshake's end."""
BOTH_ENDS = "net.ipv4.tcp_fastopen=3"


def fast_open(host: Host) -> None:
    """Let a host send and take data in a SYN (RFC 7413). Raises ToolError."""
    run(host, ["sysctl", "-qw", BOTH_ENDS])


class HttpsServer(Nginx):
    """The web server nginx with files, over HTTP/1.1, HTTP/2 and HTTP/3; and without TLS on port 80.

    It takes up sessions by id and by ticket, early data over TCP, and data in a SYN. Its certificate is its own.

    host: the host that it runs on.
    directory: the run directory, for log and configuration.
    files: the files that it serves, with their content, or their size in bytes if it does not matter: ``{"page": 1000}``.
    certificate_bytes: about how many bytes its Certificate message has.
    groups: the groups for its key exchange, by OpenSSL's names, separated by colons.
    retry: whether it validates addresses by Retry packets (QUIC).
    """

    name = "nginx"

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, files: Mapping[str, int | bytes], certificate_bytes: int = 0,
        groups: str = "X25519:P-256", retry: bool = False,
    ) -> None:  # fmt: skip
        # Files do not change, so they are opened once.
        keeps = (
            "ssl_session_cache shared:sessions:1m", "keepalive_requests 100000", "open_file_cache max=100 inactive=1d",
            "open_file_cache_valid 1d",
        )  # fmt: skip
        super().__init__(host, directory, root="", directives=keeps)
        self.files = contents(files, type(self).__name__)
        self.certificate_bytes = arguments.whole(certificate_bytes, type(self).__name__, "certificate_bytes", "bytes", 4000)
        self.groups = groups
        self.retry = retry

    @property
    def url(self) -> str:
        """The URL with TLS that the files' names follow, with an IP address."""
        return f"https://{self.host.IP()}/"

    @property
    def certificate(self) -> Path:
        """The file of its certificate, which exists while it runs."""
        return self.state / "certificate.pem"

    def prepare(self) -> None:
        """Write certificate, files and configuration."""
        fast_open(self.host)
        self.root = files(self.state, self.files)
        certificate(self.state, self.certificate_bytes)
        super().prepare()

    def site(self) -> Sequence[str]:
        """Return how the site is reached."""
        return [
            f"listen 80 fastopen={BACKLOG}",
            f"listen 443 ssl fastopen={BACKLOG}",
            "listen 443 quic reuseport",
            "http2 on",
            f"ssl_certificate {self.state}/certificate.pem",
            f"ssl_certificate_key {self.state}/key.pem",
            f"ssl_ecdh_curve {self.groups}",
            "ssl_early_data on",
            f"quic_retry {'on' if self.retry else 'off'}",
        ]


def contents(given: Any, where: str) -> dict[str, int | bytes]:
    """Return the files of a server by name, as their size or content. Raises ServiceError."""
    fix = 'write files={"page": 1000}, or its content as bytes: files={"page": b"..."}'
    if not isinstance(given, Mapping):
        raise ServiceError(f"files is a {type(given).__name__} instead of a mapping", where, fix)
    for name, content in given.items():
        if not isinstance(name, str) or "/" in name or name in ("", ".", ".."):
            raise ServiceError(f"{name!r} is not a name of a file in the server's one folder", where, fix)
        if isinstance(content, bool) or not isinstance(content, int | bytes) or (isinstance(content, int) and content < 0):
            shown = repr(content) if isinstance(content, str | int | float | None) else f"a {type(content).__name__}"
            raise ServiceError(f"the file '{name}' is {shown}", where, fix)
    return dict(given)


def files(folder: Path, contents: Mapping[str, int | bytes]) -> Path:
    """Write files, of zeros where only a size is given, into a new folder; return the folder."""
    root = folder / "files"
    root.mkdir()
    root.chmod(0o755)
    for name, content in contents.items():
        (root / name).write_bytes(bytes(content))
    return root
