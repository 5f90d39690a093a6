"""Services by their names in hypothesis files. Tools are found by `slownet.tools.register`.

Another one is added by one line here, or by an entry point of another package (`slownet.model.extensions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slownet.lab.host import owner
from slownet.model.extensions import Register
from slownet.model.units import size
from slownet.services.nginx import Nginx
from slownet.services.oltp import OltpDatabase
from slownet.services.redis import Redis
from slownet.services.wordpress import WordPress


@dataclass(frozen=True)
class Starts:
    """The constructor of a service in hypothesis files, with the network, the run directory and the size of nginx's page."""

    make: Callable[[Any, Path, str], AbstractContextManager[Any]]
    chance: str = ""
    """The random parts of it."""

    def __call__(self, net: Any, directory: Path, page: str) -> AbstractContextManager[Any]:
        return self.make(net, directory, page)


@dataclass(frozen=True)
class Page:
    """The page that ``nginx`` serves."""

    url: str
    servers: tuple[Nginx, ...] = ()
    """The targets of a file's faults."""


@contextmanager
def _page(net: Any, directory: Path, page: str) -> Iterator[Page]:
    """Serve a page of this size from the host `web`, or `server` if there is no `web`."""
    host = net[_first(net, "web")]
    root = owner.directory() / "pages"
    root.mkdir(exist_ok=True)
    (root / "page.html").write_bytes(b"x" * size(page))
    with Nginx(host, directory, root=root) as server:
        yield Page(f"{server.url}page.html", (server,))


def _database(net: Any, directory: Path, page: str) -> OltpDatabase:
    """Return MariaDB with an empty schema on the host `db`, or `server` if there is no `db`."""
    return OltpDatabase(net, directory, on=_first(net, "db"))


def _redis(net: Any, directory: Path, page: str) -> Redis:
    """Return Redis on the host `db`, or `server` if there is no `db`."""
    return Redis(net[_first(net, "db")], directory)


def _first(net: Any, name: str) -> str:
    return name if any(each.name == name for each in net.hosts) else "server"


_SERVICES: Mapping[str, Callable[[Any, Path, str], AbstractContextManager[Any]]] = {
    "wordpress": Starts(lambda net, directory, page: WordPress(net, directory), WordPress.chance),
    "nginx": Starts(_page),
    "mariadb": Starts(_database, OltpDatabase.chance),
    "redis": Starts(_redis),
}
SERVICES = Register("services", _SERVICES)
