"""A MariaDB server with an empty schema that sysbench may fill."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from slownet.services.mariadb import MariaDB
from slownet.tools.process import Hosts
from slownet.tools.sysbench import Account


class OltpDatabase(MariaDB):
    """MariaDB on a host; ``account`` says who may use its schema from anywhere.

    Parameters
    ----------
    net, directory
        The network, and the run directory for its log and configuration.
    on
        The host's name.
    """

    def __init__(self, net: Hosts, directory: str | Path, *, on: str = "server") -> None:
        super().__init__(net[on], directory)
        self.account = Account(self.host.IP())

    def start(self) -> Self:
        super().start()
        one = self.account
        try:
            self.query(
                f"CREATE DATABASE {one.schema}; CREATE USER {one.user}@'%' IDENTIFIED BY '{one.password}'; "
                f"GRANT ALL ON {one.schema}.* TO {one.user}@'%'"
            )
        except BaseException:
            self.stop()
            raise
        return self
