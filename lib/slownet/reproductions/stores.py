"""PostgreSQL, MariaDB, Redis and a gRPC server, side by side on one host."""

from __future__ import annotations

from pathlib import Path

from slownet.net.process import Hosts
from slownet.reproductions.query_cost import QueryCost, query_cost
from slownet.services.command import Command
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.postgresql import PostgreSQL
from slownet.services.redis import Redis
from slownet.tools.program import python
from slownet.tools.programs.queries import PORT


class Stores(Together):
    """What `slownet.reproductions.query_cost` asks, on the host ``server``; the host ``client`` asks.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    """

    chance = MariaDB.chance

    def __init__(self, net: Hosts, directory: str | Path) -> None:
        self.client, self.server = net["client"], net["server"]
        grpc = Command(self.server, python("queries", "serve"), directory, port=PORT, name="grpc")
        super().__init__(
            (PostgreSQL(self.server, directory), MariaDB(self.server, directory), Redis(self.server, directory), grpc)
        )

    def ask(self, system: str) -> QueryCost:
        """Ask one of them in each way. Raises ToolError."""
        return query_cost(self.client, self.server.IP(), system=system)
