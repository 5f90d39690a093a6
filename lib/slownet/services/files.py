"""Web servers with one file to download, or one static page for load tests."""

from __future__ import annotations

from pathlib import Path

from slownet.model.units import size
from slownet.net.process import Hosts
from slownet.services import arguments
from slownet.services.nginx import Nginx


class StaticPage(Nginx):
    """The web server nginx with one static page; it never closes a connection by itself.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path, optional
        The run directory, for log and configuration.
    length : int
        The page's size in bytes.
    on : str
        The name of the host that it runs on.
    """

    def __init__(self, net: Hosts, directory: str | Path | None = None, *, length: int = 612, on: str = "server") -> None:
        forever = ("keepalive_requests 1000000000", "keepalive_timeout 1d")
        super().__init__(arguments.host(net, on, type(self).__name__), directory, root="", directives=forever)
        self.length = arguments.whole(length, type(self).__name__, "length", "bytes", 612)

    def prepare(self) -> None:
        """Write the page and the configuration."""
        self.root = self.state / "files"
        self.root.mkdir()
        self.root.chmod(0o755)
        (self.root / "index.html").write_text("x" * self.length)
        super().prepare()

    def facts(self) -> dict[str, object]:
        """Return the page's size in bytes, for the run's record."""
        return {"page_bytes": self.length}


NAME = "download.test"


class FileServer(Nginx):
    """The web server nginx with one file of zeros.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path, optional
        The run directory, for log and configuration.
    length : str
        The file's size, such as ``"250MiB"``. It is sparse and takes no disk space.
    on : str
        The name of the host that it runs on.
    """

    operation = "download"

    def __init__(self, net: Hosts, directory: str | Path | None = None, *, length: str = "250MiB", on: str = "server") -> None:
        super().__init__(arguments.host(net, on, type(self).__name__), directory, root="")
        self.length = size(length)

    @property
    def url(self) -> str:
        """The file's URL, with an IP address."""
        return f"{super().url}{NAME}"

    def prepare(self) -> None:
        """Write the file and the configuration."""
        self.root = self.state / "files"
        self.root.mkdir()
        self.root.chmod(0o755)
        with open(self.root / NAME, "wb") as file:
            file.truncate(self.length)
        super().prepare()

    def facts(self) -> dict[str, object]:
        """Return the file's size in bytes, for the run's record."""
        return {"file_bytes": self.length}
