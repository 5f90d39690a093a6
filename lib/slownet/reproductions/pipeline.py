"""A broker and a database on two hosts, and a consumer that moves rows from one to the other."""

from __future__ import annotations

from pathlib import Path

from slownet.model.errors import ServiceError
from slownet.net.process import Hosts
from slownet.reproductions.programs.row_mover import TABLE
from slownet.reproductions.row_pipeline import Pipeline, consume, produce
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.redis import Redis

CREATE = f"CREATE OR REPLACE TABLE wordpress.{TABLE} (id INT PRIMARY KEY, payload VARCHAR(255) NOT NULL) ENGINE=InnoDB"


class BrokerAndDatabase(Together):
    """Redis on one host and MariaDB on another, with a consumer on a third or on one of the two.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    broker, db, worker : str
        The names of the hosts of Redis, MariaDB and the consumer.
    """

    chance = MariaDB.chance

    def __init__(
        self, net: Hosts, directory: str | Path, broker: str = "broker", db: str = "db", worker: str = "worker1"
    ) -> None:
        self.worker = net[worker]
        self.redis = Redis(net[broker], directory)
        self.mariadb = MariaDB(net[db], directory)
        super().__init__((self.mariadb, self.redis))

    def copy(self, way: str, rows: int) -> Pipeline:
        """Refill the broker, and move all rows into an empty table.

        Parameters
        ----------
        way : str
            How rows are moved: one of `slownet.reproductions.row_pipeline.WAYS`.
        rows : int
            The number of rows.

        Returns
        -------
        Pipeline
            Times in ms.

        Raises
        ------
        ServiceError
            Rows are missing in the table, or the broker still waits for acknowledgements.
        ToolError
            The producer or the consumer failed.
        """
        self.mariadb.query(CREATE)
        broker, database = self.redis.host.IP(), self.mariadb.host.IP()
        produce(self.redis.host, broker, rows)
        record = consume(self.worker, broker, database, way, rows)
        ((written,),) = self.mariadb.query(f"SELECT COUNT(*) FROM wordpress.{TABLE}")
        if int(written) != rows or self.redis.pending() != 0:
            raise ServiceError(f"{written} of {rows} rows arrived, {self.redis.pending()} are not acknowledged", f"way {way}")
        return record
