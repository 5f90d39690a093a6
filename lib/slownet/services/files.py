"""A web server with one file to download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slownet.services.nginx import Nginx
from slownet.tools.process import Hosts
from slownet.units import size

NAME = "download.test"


class FileServer(Nginx):
    """nginx on a host, with one file of zeros: ``url`` is the file's address.

    Parameters
    ----------
    net, directory
        The network, and the run directory for its log and configuration.
    length
        The file's size, such as ``"250MiB"``; a hole, so it takes no room.
    on
        The host's name.
    """

    def __init__(self, net: Hosts, directory: str | Path, *, length: str = "250MiB", on: str = "server") -> None:
        super().__init__(net[on], directory, root="")
        self.length = size(length)

    @property
    def url(self) -> str:
        return f"{super().url}{NAME}"

    def prepare(self) -> None:
        self.root = self.state / "files"
        self.root.mkdir()
        self.root.chmod(0o755)
        with open(self.root / NAME, "wb") as file:
            file.truncate(self.length)
        super().prepare()

    def facts(self) -> dict[str, Any]:
        """What belongs beside the numbers in a record."""
        return {"file_bytes": self.length}
