"""WordPress with a cure for slow links: persistent connections, an object cache, or a page cache in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slownet.model.errors import ServiceError, nearest
from slownet.net.process import Hosts
from slownet.services.mariadb import MariaDB
from slownet.services.memcached import Memcached
from slownet.services.varnish import Varnish
from slownet.services.wordpress import WordPress

OBJECT_CACHE = Path(str(resources.files("slownet.reproductions.programs").joinpath("object-cache.php")))
"""The drop-in that makes WordPress cache query results in memcached."""


class CuredSite:
    """One database, and for each cell a WordPress site with a cure, on the hosts of `ClientEdgeWebDb`.

    net: the network.
    directory: the run directory, for logs and configurations.
    """

    chance = MariaDB.chance
    operation = "page"

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.net = net
        self.directory = directory
        self.mariadb = MariaDB(net["db"], directory)

    @contextmanager
    def cured(self, cure: str) -> Iterator[str]:
        """Run a site with a cure for a ``with`` block; page and caches are warm.

        cure: one of `CURES`.
        yields: the URL of the front page.
        Raises ServiceError: the cure is unknown, a server does not start, or the page does not come from the cache that should
        have it.
        """
        if cure not in CURES:
            raise ServiceError(f"unknown cure '{cure}'", fix=nearest(cure, CURES))
        with ExitStack() as stack:
            yield CURES[cure](self, stack)

    def site(self, stack: ExitStack, **options: Any) -> WordPress:
        """Start a site on this database, until the stack is closed; options are those of `WordPress`."""
        return stack.enter_context(WordPress(self.net, self.directory, mariadb=self.mariadb, **options))

    def remembering(self, stack: ExitStack, on: str, **options: Any) -> WordPress:
        """Start a site with an object cache: memcached on the host named ``on``."""
        memcached = stack.enter_context(Memcached(self.net[on], self.directory))
        variables = {"SLOWNET_MEMCACHED": memcached.address}
        return self.site(stack, drop_ins=[OBJECT_CACHE], variables=variables, **options)

    def behind_varnish(self, stack: ExitStack, on: str) -> str:
        """Start a site and a Varnish on the host named ``on``; return Varnish's URL when it has cached the front page."""
        nginx = self.site(stack).nginx
        behind = nginx.socket if self.net[on] is nginx.host else nginx.host.IP()
        varnish = stack.enter_context(Varnish(self.net[on], self.directory, behind=behind))
        pages = [varnish.get() for _ in range(2)]
        if pages[-1].status != 200 or pages[-1].headers.get("x-cache") != "hit":
            raise varnish.error(f"varnish has not cached the page after two requests; the status is {pages[-1].status}")
        return varnish.url

    def __enter__(self) -> Self:
        self.mariadb.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.mariadb.stop()


CURES: Mapping[str, Callable[[CuredSite, ExitStack], str]] = {
    "none": lambda one, stack: one.site(stack).url,
    "persistent connections": lambda one, stack: one.site(stack, persistent=True).url,
    "memcached": lambda one, stack: one.remembering(stack, "web").url,
    "memcached and persistent connections": lambda one, stack: one.remembering(stack, "web", persistent=True).url,
    "memcached beside the database": lambda one, stack: one.remembering(stack, "db").url,
    "varnish": lambda one, stack: one.behind_varnish(stack, "web"),
    "varnish near the reader": lambda one, stack: one.behind_varnish(stack, "edge"),
}
"""For each cure, a function that starts the site, until the stack is closed, and returns its URL."""
