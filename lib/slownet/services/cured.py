"""WordPress with a cure against distance: what its pages remember, or who answers before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slownet.errors import ServiceError, nearest
from slownet.services.mariadb import MariaDB
from slownet.services.memcached import Memcached
from slownet.services.varnish import Varnish
from slownet.services.wordpress import WordPress
from slownet.tools.process import Hosts

OBJECT_CACHE = Path(str(resources.files("slownet.programs").joinpath("object-cache.php")))
"""The drop-in that lets WordPress keep in memcached what it asked the database for."""


class CuredSite:
    """One database, and for each cell a site with its cure; hosts are those of ``ClientEdgeWebDb``.

    Parameters
    ----------
    net, directory
        The network, and the run directory for logs and configurations.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.net = net
        self.directory = directory
        self.mariadb = MariaDB(net["db"], directory)

    @contextmanager
    def cured(self, cure: str) -> Iterator[str]:
        """The address of the site's front page, with one of the ``CURES``; it is warm, and so are the caches.

        Raises
        ------
        ServiceError
            There is no such cure, a server does not come up, or a page does not come from the cache that should have it.
        """
        if cure not in CURES:
            raise ServiceError(f"no cure '{cure}'", fix=nearest(cure, CURES))
        with ExitStack() as stack:
            yield CURES[cure](self, stack)

    def site(self, stack: ExitStack, **options: Any) -> WordPress:
        """A site on this database, until the stack is closed; options are :class:`WordPress`'s."""
        return stack.enter_context(WordPress(self.net, self.directory, mariadb=self.mariadb, **options))

    def remembering(self, stack: ExitStack, on: str, **options: Any) -> WordPress:
        """A site that keeps its objects in memcached on a host."""
        memcached = stack.enter_context(Memcached(self.net[on], self.directory))
        variables = {"SLOWNET_MEMCACHED": memcached.address}
        return self.site(stack, drop_ins=[OBJECT_CACHE], variables=variables, **options)

    def behind_varnish(self, stack: ExitStack, on: str) -> str:
        """The address of a Varnish on a host, which has the front page already."""
        nginx = self.site(stack).nginx
        behind = nginx.socket if self.net[on] is nginx.host else nginx.host.IP()
        varnish = stack.enter_context(Varnish(self.net[on], self.directory, behind=behind))
        pages = [varnish.get() for _ in range(2)]
        if pages[-1].status != 200 or pages[-1].headers.get("x-cache") != "hit":
            raise varnish.error(f"varnish has no page after it was asked twice, but status {pages[-1].status}")
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
"""What each cure makes of a site: its address, with servers that live until the stack is closed."""
