"""WordPress over three hosts: nginx and PHP on one, MariaDB on another, a reader on the third."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from slownet.errors import ServiceError
from slownet.services.mariadb import MariaDB
from slownet.services.nginx import Nginx
from slownet.services.php_fpm import CHILDREN, PhpFpm
from slownet.services.service import tail
from slownet.tools.process import Hosts

ROOT = Path("/var/lib/slownet/wordpress/www")
"""The document root, made by ``lab/provision``."""

WARM_PAGES = 4 * CHILDREN
"""Pages before the first measured one: PHP compiles in the first, and each worker's memory settles over a few."""


class WordPress:
    """A WordPress site: starts its servers together, waits for them and warms the front page up.

    Parameters
    ----------
    net
        The network; ``net["web"]`` is a host.
    directory
        The run directory, for logs and configurations.
    web, db, client
        The hosts' names. ``client`` is who reads :meth:`page`.
    mariadb
        A database that runs already, and goes on when the site stops; without it the site has its own.
    persistent
        Whether a PHP worker keeps its connection to the database from page to page.
    drop_ins
        Files that WordPress finds in its ``wp-content``, such as ``object-cache.php``.
    variables
        What the pages see in their environment, for the drop-ins.
    """

    chance = MariaDB.chance

    def __init__(
        self,
        net: Hosts,
        directory: str | Path,
        web: str = "web",
        db: str = "db",
        client: str = "client",
        *,
        mariadb: MariaDB | None = None,
        persistent: bool = False,
        drop_ins: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.client = net[client]
        self.mariadb = mariadb or MariaDB(net[db], directory)
        address = self.mariadb.host.IP()
        # mysqli keeps what starts with "p:"; without the port WordPress would take "p" for the host and the rest for a port.
        named = f"p:{address}:3306" if persistent else address
        additions = {ROOT / "wp-content": drop_ins} if drop_ins else {}
        self.php = PhpFpm(net[web], directory, variables={"SLOWNET_DB_HOST": named, **(variables or {})}, additions=additions)
        self.nginx = Nginx(net[web], directory, root=ROOT)
        self._servers = (*(() if mariadb else (self.mariadb,)), self.php, self.nginx)
        self.page_length = 0
        """Bytes of the front page, known once it is started."""
        self._running = ExitStack()

    @property
    def url(self) -> str:
        """The front page's address."""
        return self.nginx.url

    def start(self) -> Self:
        """Starts its servers and warms the front page up.

        Raises
        ------
        ServiceError
            A server does not come up, or the page is an error; nothing is left running.
        """
        with ExitStack() as stack:
            for service in self._servers:
                stack.callback(service.stop)
            for service in self._servers:
                if service is self.nginx:
                    self.nginx.php = self.php.socket
                service.launch()
            for service in self._servers:
                service.wait()
            self._warm_up()
            self._running = stack.pop_all()
        return self

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
        """Whether all its servers live."""
        return all(each.running for each in self._servers)

    def queries_per_page(self) -> int:
        """How many statements one front page sends to the database, counted by the database."""
        before = self.mariadb.questions()
        self.nginx.get("/")
        return self.mariadb.questions() - before

    def facts(self) -> Mapping[str, int]:
        """What belongs into a run's record."""
        return {"page_length": self.page_length}

    def stop(self) -> None:
        """Stops what was started, in the opposite order. Fine to call twice."""
        self._running.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _sentence(page: bytes) -> str:
    """The beginning of a page's text without its markup: WordPress says there what is wrong."""
    text = re.sub(r"<(style|script|title).*?</\1>|<[^>]*>", " ", page.decode(errors="replace"), flags=re.DOTALL)
    return " ".join(text.split())[:300]
