"""A page of PHP behind nginx that asks a database on another host many questions."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

from slownet.net.process import Host, Hosts
from slownet.reproductions.php_page import TEXT, Page, served_page
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.nginx import Nginx
from slownet.services.php_fpm import PhpFpm
from slownet.services.service import Service

PROGRAM = "page.php"


class _Site(Nginx):
    """nginx with the page alone."""

    def prepare(self) -> None:
        """Copy the page where nginx and PHP may read it, and write the configuration."""
        self.root = self.state / "site"
        self.root.mkdir(mode=0o755)
        with resources.as_file(resources.files("slownet.reproductions.programs").joinpath(PROGRAM)) as program:
            shutil.copyfile(program, self.root / PROGRAM)
        (self.root / PROGRAM).chmod(0o644)
        super().prepare()


class QueriedPage(Together):
    """nginx and PHP-FPM on one host, MariaDB on another.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs and configurations.
    web, db : str
        The names of the hosts of the web server and of the database.
    """

    chance = MariaDB.chance
    operation = "page"

    def __init__(self, net: Hosts, directory: str | Path, web: str = "web", db: str = "db") -> None:
        self.mariadb, self.php = MariaDB(net[db], directory), PhpFpm(net[web], directory)
        self.nginx = _Site(net[web], directory, root="")
        super().__init__((self.mariadb, self.php, self.nginx))

    def _launch(self, server: Service) -> None:
        if server is self.nginx:
            self.nginx.php = self.php.socket
        super()._launch(server)

    def load(self, client: Host, *, queries: int, way: str = TEXT) -> Page:
        """Load a page of so many queries, sent as ``"text"`` or ``"prepared"``. Raises ToolError."""
        return served_page(client, f"{self.nginx.url}{PROGRAM}", self.mariadb.host.IP(), way=way, queries=queries)
