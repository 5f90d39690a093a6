"""A web server that passes uploads on to a backend behind it, as nginx does in front of an application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from slownet.net.process import Host
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer
from slownet.services.nginx import Nginx
from slownet.tools.curl import Curl, curl

NAME = "upload"
BUFFERED, UNBUFFERED = "buffered", "unbuffered"


class Backend(Nginx):
    """The web server nginx as an application that takes files by PUT, on a Unix socket alone."""

    name = "backend"

    def prepare(self) -> None:
        """Make the folder that files are written to, and write the configuration."""
        self.root = self.state / "files"
        self.root.mkdir()
        self.root.chmod(0o777)
        super().prepare()

    def site(self) -> Sequence[str]:
        """Return what it takes."""
        return ["dav_methods PUT", "client_max_body_size 0"]


class Front(HttpsServer):
    """The web server nginx with TLS and HTTP/2, which passes all requests on.

    host: the host that it runs on.
    directory: the run directory, for log and configuration.
    behind: the backend's Unix socket.
    body: `BUFFERED`, nginx's default: a request's body is read whole before it is passed on; or `UNBUFFERED`.
    window: ``http2_body_preread_size``: how much of a body nginx takes over HTTP/2 before it is passed on.
    """

    def __init__(self, host: Host, directory: str | Path, *, behind: Path, body: str, window: str) -> None:
        super().__init__(host, directory, files={})
        self.behind, self.body, self.window = behind, body, window

    def site(self) -> Sequence[str]:
        """Return how the site is reached, and how large bodies are taken."""
        buffers = "on" if self.body == BUFFERED else "off"
        return [
            *super().site(), "client_max_body_size 0", f"http2_body_preread_size {self.window}",
            f"proxy_request_buffering {buffers}", "proxy_http_version 1.1",
        ]  # fmt: skip

    def locations(self) -> str:
        """Return where requests go."""
        return f"        location / {{ proxy_pass http://unix:{self.behind}:; }}\n"


class Uploads(OnDemand):
    """A host with a web server and a backend behind it, which are started for each upload.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "upload"

    @contextmanager
    def serving(self, body: str, window: str) -> Iterator[str]:
        """Run both servers for a ``with`` block, and yield the URL that takes an upload. Raises ServiceError."""
        with (
            Backend(self.host, self.directory, root="") as backend,
            Front(self.host, self.directory, behind=backend.socket, body=body, window=window) as front,
        ):
            yield f"{front.url}{NAME}"

    def upload(self, client: Host, size: int, *, http: str = "2", body: str = UNBUFFERED, window: str = "64k") -> Curl:
        """Upload a file with curl, on a new connection.

        client: the host that uploads it.
        size: bytes.
        http: the version of HTTP: ``1.1`` or ``2``.
        body, window: as for `Front`.
        returns: the time in ms.
        Raises ServiceError, ToolError: a program is missing or fails.
        """
        with self.serving(body, window) as url:
            path = Path(self.directory, f"{NAME}-{client.name}")
            with open(path, "wb") as file:
                file.truncate(size)
            try:
                return curl(client, [f"--http{http}", "--header", "Expect:", "--upload-file", str(path), url])
            finally:
                path.unlink()
