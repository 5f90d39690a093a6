"""The page cache Varnish: it requests a page once from its backend, and then serves it from memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from slownet.model.errors import ServiceError
from slownet.net.process import Host, no_host
from slownet.services import arguments, http
from slownet.services.nginx import SITE_NAME
from slownet.services.service import Service

PORT = 6081
"""Varnish's default port, which leaves port 80 to a backend on the same host."""

QUICK_START = (
    *("-l", "2m"),  # Varnish writes to all of its shared-memory log at the start: 80 MB by default
    *("-p", "thread_pools=1"),  # a lab has one CPU
    *("-p", "thread_pool_min=5"),
    *("-p", "cc_command=%D -O0"),  # the configuration is compiled at every start, and runs for microseconds
)
"""Options that halve the CPU time of a start, and reduce the memory from 90 to 8 MB."""


class Varnish(Service):
    """The page cache Varnish, on all addresses of a host, with its defaults and built-in rules.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for log and configuration.
    behind : str, Host or Path
        The backend: its host or IP address (port 80), or its Unix socket (a Path) if it is on the same host.
    port : int
        The TCP port to listen on.
    ttl_s : int
        Seconds to keep a page without caching headers, as WordPress's pages are.
    """

    name = "varnish"

    def __init__(
        self,
        host: Host,
        directory: str | Path | None = None,
        *,
        behind: str | Host | Path,
        port: int = PORT,
        ttl_s: int = 86400,
    ) -> None:
        super().__init__(host, directory)
        self.behind = behind if isinstance(behind, Path) else _address(behind)
        self.port = arguments.port(port, "Varnish")
        self.ttl_s = ttl_s

    @property
    def url(self) -> str:
        """The front page's URL, with an IP address."""
        return f"http://{self.host.IP()}:{self.port}/"

    @property
    def config(self) -> Path:
        """The configuration file, in the run directory."""
        return self.directory / f"{self.label}.vcl"

    @property
    def socket(self) -> Path:
        """A Unix socket for the same pages, which uses no link."""
        return self.state / "sock"

    @property
    def _readable(self) -> Path:
        """A copy of the configuration for Varnish, whose user may not be able to read the run directory."""
        return self.state / "vcl"

    def prepare(self) -> None:
        """Write the configuration."""
        place = f'.path = "{self.behind}";' if isinstance(self.behind, Path) else f'.host = "{self.behind}"; .port = "80";'
        text = (
            "vcl 4.1;\n"
            f"backend default {{ {place} }}\n"
            "sub vcl_recv {\n"
            f'    set req.http.Host = "{SITE_NAME}";\n'  # the same page whatever the client called the host
            "}\n"
            "sub vcl_deliver {\n"
            '    set resp.http.X-Cache = "miss";\n'
            '    if (obj.hits > 0) { set resp.http.X-Cache = "hit"; }\n'
            "}\n"
        )
        self.config.write_text(text)
        self._readable.write_text(text)
        self._readable.chmod(0o644)

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return [
            *("varnishd", "-F"),
            *("-n", str(self.state / "work")),
            *("-f", str(self._readable)),
            *("-a", f"http=:{self.port}"),
            *("-a", f"local={self.socket},mode=666"),
            *("-s", "malloc,64m"),
            *("-t", str(self.ttl_s)),
            *QUICK_START,
        ]

    def answers(self) -> bool:
        """Return whether it answers in HTTP, without asking its backend."""
        # Varnish itself refuses this method.
        return http.speaks(self.socket, "PRI /slownet HTTP/1.1\r\nHost: slownet\r\n\r\n")

    def get(self, path: str = "/", timeout_s: float = 60.0) -> http.Page:
        """Get a page through the Unix socket; its header ``x-cache`` is ``hit`` or ``miss``. Raises ServiceError."""
        try:
            return http.get(self.socket, path, SITE_NAME, timeout_s)
        except OSError as error:
            raise self.error(f"{self.name} does not serve {path}: {error}") from error


def _address(given: Any) -> str:
    """Return a backend's address, or its name. Raises ServiceError for what has a port or a path: it would be a name."""
    if not no_host(given):
        return str(given.IP())
    with suppress(ValueError):
        return str(ip_address(given if isinstance(given, str) else ""))
    if not isinstance(given, str) or not given or set(given) & set(":/ "):
        what = repr(given) if isinstance(given, str) else f"a {type(given).__name__}"
        raise ServiceError(f"behind is {what}", "Varnish", "give the backend's host, its IP address, or the Path of its socket")
    return given
