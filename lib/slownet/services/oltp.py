"""A MariaDB server with an empty schema for sysbench."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from slownet.net.process import Hosts
from slownet.services import arguments
from slownet.services.in_files import Starts, first
from slownet.services.mariadb import MariaDB
from slownet.tools.sysbench import Account


class OltpDatabase(MariaDB):
    """A MariaDB server with an empty schema for sysbench.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path, optional
        The run directory, for the log.
    on : str
        The name of the host that it runs on.

    Attributes
    ----------
    account : Account
        The account, valid from all hosts, and its schema.
    """

    operation = "transaction"

    def __init__(self, net: Hosts, directory: str | Path | None = None, *, on: str = "server") -> None:
        super().__init__(arguments.host(net, on, type(self).__name__), directory)
        self.account = Account(self.host.IP())

    def start(self) -> Self:
        """Start the server and create schema and account. Raises as `Service.start` does."""
        super().start()
        one = self.account
        try:
            self.query(
                f"CREATE DATABASE IF NOT EXISTS {one.schema}; "
                f"CREATE USER IF NOT EXISTS {one.user}@'%' IDENTIFIED BY '{one.password}'; "
                f"GRANT ALL ON {one.schema}.* TO {one.user}@'%'"
            )
        except BaseException:
            self.stop()
            raise
        return self


IN_FILES = Starts(
    "mariadb", lambda net, directory, page: OltpDatabase(net, directory, on=first(net, "db")), OltpDatabase.chance
)
