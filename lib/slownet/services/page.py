"""A web server with one static page, as a load test wants it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slownet.services.nginx import Nginx
from slownet.tools.process import Hosts


class StaticPage(Nginx):
    """nginx on a host with one page, which never ends a connection by itself.

    Parameters
    ----------
    net, directory
        The network, and the run directory for its log and configuration.
    length
        The page's size in bytes.
    on
        The host's name.
    """

    def __init__(self, net: Hosts, directory: str | Path, *, length: int = 612, on: str = "server") -> None:
        forever = ("keepalive_requests 1000000000", "keepalive_timeout 1d")
        super().__init__(net[on], directory, root="", directives=forever)
        self.length = length

    def prepare(self) -> None:
        self.root = self.state / "files"
        self.root.mkdir()
        self.root.chmod(0o755)
        (self.root / "index.html").write_text("x" * self.length)
        super().prepare()

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {"page_bytes": self.length}
