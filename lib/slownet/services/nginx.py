"""The web server nginx, for a PHP site or a directory of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slownet.lab.host import owner
from slownet.model.errors import ServiceError
from slownet.model.units import size
from slownet.net.process import Host
from slownet.services import arguments, http
from slownet.services.in_files import Page, Starts, first
from slownet.services.service import Service

SITE_NAME = "web"
"""The host name that PHP sees, whatever name the client used, so that pages are always the same."""


class Nginx(Service):
    """The web server nginx, on port 80 of all addresses of a host, with one worker.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for log and configuration.
    root : str or Path
        The document root.
    php : str or Path, optional
        The Unix socket of a FastCGI server for ``*.php``; without it, these files are served as they are.
    directives : sequence of str
        More directives of the ``http`` block, such as ``keepalive_requests 100000``.
    """

    name = "nginx"

    def __init__(
        self, host: Host, directory: str | Path | None = None, *, root: str | Path, php: str | Path | None = None,
        directives: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(host, directory)
        self.directives = arguments.words(
            directives, type(self).__name__, "directives", 'directives=["keepalive_requests 100000"]'
        )
        if root is None:
            raise ServiceError("there is no folder to serve", type(self).__name__, 'name that of the pages: root="pages"')
        self.root = arguments.folder(root, type(self).__name__, "root") or Path()
        self.php = php

    @property
    def url(self) -> str:
        """The front page's URL, with an IP address."""
        return f"http://{self.host.IP()}/"

    @property
    def config(self) -> Path:
        """The configuration file, in the run directory."""
        return self.directory / f"{self.label}.conf"

    @property
    def socket(self) -> Path:
        """A Unix socket for the same site, which uses no link."""
        return self.state / "sock"

    def prepare(self) -> None:
        """Write the configuration. Raises ServiceError if the folder to serve is missing."""
        state, root = self.state, self.root.absolute()  # nginx takes a relative one from its own folder
        if not root.is_dir():
            what = f"there is no folder {root} to serve"
            raise ServiceError(what, f"host '{self.host.name}'", "name the folder of the pages: root=...")
        temporary = "".join(
            f"    {kind}_temp_path {state}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        self.config.write_text(
            "user www-data;\n"
            "worker_processes 1;\n"
            "daemon off;\n"
            f"pid {state}/pid;\n"
            "error_log stderr;\n"
            "events {}\n"
            "http {\n"
            "    include /etc/nginx/mime.types;\n"
            "    access_log off;\n"
            f"{temporary}"
            f"{''.join(f'    {each};' + chr(10) for each in self.directives)}"
            "    server {\n"
            f"        listen unix:{self.socket};\n"
            f"{''.join(f'        {each};' + chr(10) for each in self.site())}"
            f"        root {root};\n"
            "        index index.php index.html;\n"
            f"{self.locations()}"
            "    }\n"
            "}\n"
        )

    def site(self) -> Sequence[str]:
        """Return directives of the ``server`` block: where the site is reached, beside the Unix socket."""
        return ["listen 80"]

    def locations(self) -> str:
        """Return the ``location`` blocks of the ``server`` block: that of PHP, if there is any."""
        if self.php is None:
            return ""
        return (
            "        location ~ \\.php$ {\n"
            "            include /etc/nginx/fastcgi_params;\n"
            "            fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;\n"
            f"            fastcgi_param HTTP_HOST {SITE_NAME};\n"
            f"            fastcgi_param SERVER_NAME {SITE_NAME};\n"
            "            fastcgi_buffers 32 16k;\n"  # a whole page stays in memory
            f"            fastcgi_pass unix:{self.php};\n"
            "        }\n"
        )

    def command(self) -> Sequence[str]:
        """Return the command line."""
        # -e: nginx opens a log before it reads its configuration
        return ["nginx", "-e", "stderr", "-p", str(self.state), "-c", str(self.config)]

    def answers(self) -> bool:
        """Return whether it answers in HTTP, without running PHP."""
        return http.speaks(self.socket, "OPTIONS /slownet HTTP/1.0\r\n\r\n")

    def get(self, path: str = "/", timeout_s: float = 60.0) -> tuple[int, bytes]:
        """Get a page through the Unix socket: its status and body. Raises ServiceError without an answer."""
        try:
            page = http.get(self.socket, path, SITE_NAME, timeout_s)
        except OSError as error:
            raise self.error(f"{self.name} does not serve {path}: {error}") from error
        return page.status, page.body


@contextmanager
def _page(net: Any, directory: Path, page: str) -> Iterator[Page]:
    """Serve a page of this size from the host `web`, or `server` if there is no `web`."""
    root = owner.directory() / "pages"
    root.mkdir(exist_ok=True)
    (root / "page.html").write_bytes(b"x" * size(page))
    with Nginx(net[first(net, "web")], directory, root=root) as server:
        yield Page(f"{server.url}page.html", (server,))


IN_FILES = Starts("nginx", _page)
