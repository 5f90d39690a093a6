"""MariaDB behind a proxy with a small buffer, as in the article on the 40 ms delay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slownet.net.process import Hosts
from slownet.reproductions.own_server import Proxy
from slownet.services.mariadb import MariaDB


class ProxiedDatabase:
    """A database on ``net["server"]``, and for each cell a proxy on ``net["proxy"]``.

    net: the network.
    directory: the run directory, for logs.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.mariadb = MariaDB(net["server"], directory)
        self.directory = directory
        self.proxy = net["proxy"]

    @property
    def address(self) -> str:
        """The database's IP address, to use it without the proxy."""
        return self.mariadb.host.IP()

    @contextmanager
    def through(self, **options: Any) -> Iterator[str]:
        """Run a proxy for a ``with`` block and yield its IP address; options are those of `Proxy`, such as ``size=128``."""
        with Proxy(self.proxy, self.directory, address=self.address, **options) as proxy:
            yield proxy.host.IP()

    def __enter__(self) -> Self:
        self.mariadb.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.mariadb.stop()
