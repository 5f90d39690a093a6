"""Varnish on a host: it asks the server behind it for a page once, and answers from its memory from then on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.services import http
from slownet.services.nginx import SITE_NAME
from slownet.services.service import Service
from slownet.tools.process import Host

PORT = 6081
"""Varnish's default, which leaves 80 to the server behind it on the same host."""

QUICK_START = (
    *("-l", "2m"),  # its log in shared memory is touched as a whole: 80 MB by default
    *("-p", "thread_pools=1"),  # a lab has one CPU
    *("-p", "thread_pool_min=5"),
    *("-p", "cc_command=%D -O0"),  # the configuration is compiled at every start, and runs for microseconds
)
"""Half of the CPU time of a start, and 8 MB instead of 90."""


class Varnish(Service):
    """Varnish on all of the host's addresses; everything else is the default, its built-in rules too.

    Parameters
    ----------
    host, directory
        Where it runs, and the run directory for its log and configuration.
    behind
        The address of the server that it asks, at port 80, or the Unix socket of one on the same host.
    port
        Where it listens.
    ttl_s
        Seconds for which it keeps a page that says nothing about that itself, as WordPress's do not.
    """

    name = "varnish"

    def __init__(self, host: Host, directory: str | Path, *, behind: str | Path, port: int = PORT, ttl_s: int = 86400) -> None:
        super().__init__(host, directory)
        self.behind = behind
        self.port = port
        self.ttl_s = ttl_s

    @property
    def url(self) -> str:
        """The front page's address, by number: it needs no name service."""
        return f"http://{self.host.IP()}:{self.port}/"

    @property
    def config(self) -> Path:
        """Its configuration, in the run directory."""
        return self.directory / f"{self.label}.vcl"

    @property
    def socket(self) -> Path:
        """A Unix socket with the same pages: reaches it without crossing a link."""
        return self.state / "sock"

    @property
    def _readable(self) -> Path:
        """The configuration once more: Varnish reads it as its own user, who may not read the run directory."""
        return self.state / "vcl"

    def prepare(self) -> None:
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
        # A method that it refuses itself, so that nobody behind it is asked.
        return http.speaks(self.socket, "PRI /slownet HTTP/1.1\r\nHost: slownet\r\n\r\n")

    def get(self, path: str = "/", timeout_s: float = 60.0) -> http.Page:
        """One page through the Unix socket; its header ``x-cache`` says ``hit`` or ``miss``. Raises ServiceError."""
        try:
            return http.get(self.socket, path, SITE_NAME, timeout_s)
        except OSError as error:
            raise self.error(f"{self.name} does not hand over {path}: {error}") from error
