"""WordPress on two hosts: nginx and PHP on one, MariaDB on the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.lab.run.excerpt import tail
from slownet.model.errors import ServiceError
from slownet.net.process import Hosts
from slownet.services import arguments
from slownet.services.composite import Together
from slownet.services.in_files import Starts
from slownet.services.mariadb import MariaDB
from slownet.services.nginx import Nginx
from slownet.services.php_fpm import CHILDREN, PhpFpm
from slownet.services.service import Service

ROOT = Path("/var/lib/slownet/wordpress/www")
"""The document root, made by ``lab/build/provision``."""

WARM_PAGES = 4 * CHILDREN
"""Pages to load before the first measured one: PHP compiles in the first, and each worker's memory settles in the next few."""


class WordPress(Together):
    """A WordPress site: nginx, PHP and MariaDB, with a warm front page.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path, optional
        The run directory, for logs and configurations.
    web, db, client : str
        The names of the hosts of the web server, the database and the reader.
    mariadb : MariaDB, optional
        A database that is already running, and is not stopped with the site; by default the site starts one.
    persistent : bool
        Whether PHP workers keep their database connections from page to page.
    drop_ins : sequence of Path
        Files to add to WordPress's ``wp-content``, such as ``object-cache.php``.
    variables : mapping of str to str, optional
        Environment variables of the pages, for the drop-ins.

    Attributes
    ----------
    page_length : int
        The front page's size in bytes; 0 before the start.
    """

    chance = MariaDB.chance
    operation = "page"

    def __init__(
        self,
        net: Hosts,
        directory: str | Path | None = None,
        web: str = "web",
        db: str = "db",
        client: str = "client",
        *,
        mariadb: MariaDB | None = None,
        persistent: bool = False,
        drop_ins: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.client = arguments.host(net, client, "WordPress", "client")
        site = arguments.host(net, web, "WordPress", "web")
        self.mariadb = mariadb or MariaDB(arguments.host(net, db, "WordPress", "db"), directory)
        address = self.mariadb.host.IP()
        # mysqli keeps connections to hosts that start with "p:". Without the port, WordPress would take "p" for the host and
        # the address for its port.
        db_host = f"p:{address}:3306" if persistent else address
        additions = {ROOT / "wp-content": drop_ins} if drop_ins else {}
        self.php = PhpFpm(site, directory, variables={"SLOWNET_DB_HOST": db_host, **(variables or {})}, additions=additions)
        self.nginx = Nginx(site, directory, root=ROOT)
        super().__init__((*(() if mariadb else (self.mariadb,)), self.php, self.nginx))
        self.page_length = 0

    @property
    def url(self) -> str:
        """The front page's URL, with an IP address."""
        return self.nginx.url

    def _launch(self, server: Service) -> None:
        if server is self.nginx:
            self.nginx.php = self.php.socket
        super()._launch(server)

    def _ready(self) -> None:
        """Load the front page until it is warm."""
        self._warm_up()

    def _warm_up(self) -> None:
        lengths: list[int] = []
        while len(lengths) < WARM_PAGES or lengths[-1] != lengths[-2]:
            status, body = self.nginx.get("/")
            if status != 200 or b"</html>" not in body:
                raise ServiceError(
                    f"WordPress answers with status {status} and {len(body)} bytes instead of its front page",
                    f"host '{self.nginx.host.name}'",
                    f"see {self.php.log}",
                    log="\n".join(filter(None, [tail(self.php.log), _sentence(body)])),
                )
            lengths.append(len(body))
            if len(lengths) > 5 * WARM_PAGES:
                raise ServiceError(f"WordPress's front page changes its length: {lengths[-4:]} bytes", self.url)
        self.page_length = lengths[-1]

    @property
    def running(self) -> bool:
        """True if all its servers live."""
        return all(each.running for each in self.servers)

    def queries_per_page(self) -> int:
        """Return how many statements one front page sends to the database, counted by the database."""
        before = self.mariadb.questions()
        self.nginx.get("/")
        return self.mariadb.questions() - before

    def facts(self) -> Mapping[str, int]:
        """Return the front page's size in bytes, for the run's record."""
        return {"page_length": self.page_length}


def _sentence(page: bytes) -> str:
    """Return the beginning of a page's text without markup, where WordPress describes what is wrong."""
    text = re.sub(r"<(style|script|title).*?</\1>|<[^>]*>", " ", page.decode(errors="replace"), flags=re.DOTALL)
    return " ".join(text.split())[:300]


IN_FILES = Starts("wordpress", lambda net, directory, page: WordPress(net, directory), WordPress.chance)
