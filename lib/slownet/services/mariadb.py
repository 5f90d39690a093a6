"""MariaDB on a host, from a private copy of a prepared data directory."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.errors import ServiceError
from slownet.services.service import Service
from slownet.tools.process import Host, wait_until
from slownet.tools.tool import run

LOOK_S = 0.05
"""Between two questions to a server that is waited for: each is a program."""

TEMPLATE = Path("/var/lib/slownet/wordpress/mariadb")
"""The data directory with the WordPress site, made by ``lab/provision``."""

FILES = (
    "--innodb-log-file-size=8M",
    "--innodb-undo-tablespaces=0",
    "--innodb-data-file-path=ibdata1:5M:autoextend",
)
"""The sizes with which the template was made: others would make the server rewrite its files when it starts."""

LAB = (
    "--performance-schema=0",
    "--skip-name-resolve",  # a lab has no DNS to ask
    "--innodb-buffer-pool-size=128M",
    "--loose-innodb-buffer-pool-size-max=128M",  # the default reserves terabytes, more than a lab can address
)

QUICK_START = (
    "--skip-ssl",  # a certificate made at every start: up to 0.7 s of CPU
    "--key-buffer-size=8K",  # MyISAM's and Aria's caches are touched as a whole
    "--aria-pagecache-buffer-size=256K",
    "--innodb-log-buffer-size=2M",
    "--innodb-autoextend-increment=1",
    "--innodb-buffer-pool-load-at-startup=0",
    "--innodb-buffer-pool-dump-at-shutdown=0",
    "--innodb-temp-data-file-path=ibtmp1:1M:autoextend",
    "--skip-log-error",
)


@dataclass(frozen=True)
class Replication:
    """What a server needs to be a primary or a replica.

    ``server_id`` is its own among those that replicate from each other. Transactions are logged with their GTID, rows as
    they are; a commit that waits for a replica does so before others can read it (AFTER_SYNC: what they have read cannot
    be lost).
    """

    server_id: int

    @property
    def options(self) -> tuple[str, ...]:
        """Options of ``mariadbd``."""
        return (
            f"--server-id={self.server_id}",
            "--log-bin=binlog",
            "--binlog-format=ROW",
            "--gtid-strict-mode=1",
            "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
            "--slave-net-timeout=60",
        )


class MariaDB(Service):
    """A MariaDB server on all of the host's addresses, port 3306; everything else is the default.

    Parameters
    ----------
    host, directory
        Where it runs, and the run directory for its log and configuration.
    template
        The data directory that is copied; it is never written to.
    options
        Further options of ``mariadbd``, for example ``["--max-connections=50"]``.
    replication
        Makes it ready to be a primary or a replica; see :meth:`follow`.
    """

    chance = "MariaDB draws random numbers of its own, and its threads meet a little earlier or later for it"
    """Why the same run again may not give the same numbers, even where the CPU is free."""

    name = "mariadb"

    def __init__(
        self,
        host: Host,
        directory: str | Path,
        *,
        template: str | Path = TEMPLATE,
        options: Sequence[str] = (),
        replication: Replication | None = None,
    ) -> None:
        super().__init__(host, directory)
        self.template = Path(template)
        self.options = (*(replication.options if replication else ()), *options)

    @property
    def socket(self) -> Path:
        """The Unix socket; root logs in there without a password."""
        return self.state / "sock"

    def prepare(self) -> None:
        if not (self.template / "mysql").is_dir():
            raise ServiceError(
                "there is no prepared database",
                str(self.template),
                "run lab/provision, or build the image again",
            )
        data = self.state / "data"
        copy_sparse(self.template, data)
        account = pwd.getpwnam("mysql")
        for path in (self.state, data, *data.rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid)

    def command(self) -> Sequence[str]:
        state = self.state
        places = (
            f"--datadir={state}/data",
            f"--socket={state}/sock",
            f"--pid-file={state}/pid",
            f"--tmpdir={state}",
        )
        return [
            "mariadbd",
            "--no-defaults",
            "--user=mysql",
            *places,
            *FILES,
            *LAB,
            *QUICK_START,
            *self.options,
        ]

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(self.socket))
            return len(connection.recv(5)) == 5  # the length and the version of the protocol that it greets with

    def query(self, sql: str) -> list[list[str]]:
        """Runs one statement as root: rows of text. It goes through the Unix socket, never over a link."""
        return [line.split("\t") for line in self._ask(sql, "-N").splitlines()]

    def _ask(self, sql: str, *options: str) -> str:
        login = ["-uroot", "-S", str(self.socket)]
        argv = ["mariadb", "--no-defaults", "--skip-ssl", *login, "--batch", *options, "-e", sql]
        return run(self.host, argv, timeout=self.deadline_s).stdout

    def questions(self) -> int:
        """How many statements clients have sent since the start, without those of this method."""
        rows = self.query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_show_status')")
        counts = {name: int(count) for name, count in rows}
        return counts["Questions"] - counts["Com_show_status"]

    # ---- replication ----

    def set_global(self, name: str, value: bool) -> None:
        """Switches one of the server's variables."""
        self.query(f"SET GLOBAL {name} = {int(value)}")

    def status(self, name: str) -> str:
        """One of the server's status variables. Raises ServiceError when it has none of that name."""
        rows = self.query(f"SHOW GLOBAL STATUS LIKE '{name}'")
        if len(rows) != 1:
            raise self.error(f"{self.name} has no status variable {name}")
        return rows[0][1]

    def position(self) -> str:
        """The GTID of the last transaction in its own log, ``"0-1-7"``. Raises ServiceError without one."""
        ((position,),) = self.query("SELECT @@gtid_binlog_pos")
        if not position:
            raise self.error(f"{self.name} has logged no transaction")
        return position

    def follow(self, primary: MariaDB, account: str, password: str) -> None:
        """Replicates from a primary over the network, from its first transaction on."""
        place = f"MASTER_HOST='{primary.host.IP()}', MASTER_USER='{account}', MASTER_PASSWORD='{password}'"
        ways = "MASTER_USE_GTID=slave_pos, MASTER_SSL=0, MASTER_CONNECT_RETRY=1"
        self.query(f"CHANGE MASTER TO {place}, {ways}; START SLAVE")

    def replication(self) -> dict[str, str]:
        """What the replica says about itself (SHOW SLAVE STATUS), by the server's names; empty when it is none."""
        pairs = (line.partition(":") for line in self._ask("SHOW SLAVE STATUS\\G").splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs}

    def wait_for_replication(self, seconds: float) -> None:
        """Returns when both of the replica's threads run. Raises ServiceError with the error that the replica names."""

        def runs() -> bool:
            said = self.replication()
            return said.get("Slave_IO_Running") == said.get("Slave_SQL_Running") == "Yes"

        if not wait_until(runs, seconds, LOOK_S):
            said = self.replication()
            why = said.get("Last_IO_Error") or said.get("Last_SQL_Error") or said.get("Slave_IO_State") or "it is no replica"
            raise self.error(f"{self.name} does not replicate after {seconds:g} s: {why}")

    def wait_for(self, position: str, seconds: float) -> None:
        """Returns when the replica has applied a transaction. Raises ServiceError when it does not."""
        if self.query(f"SELECT MASTER_GTID_WAIT('{position}', {seconds:g})") != [["0"]]:
            raise self.error(f"{self.name} has not applied transaction {position} after {seconds:g} s")


def copy_sparse(source: Path, target: Path) -> None:
    """Copies a directory tree; blocks of zeros become holes, which cost a tmpfs neither time nor memory."""
    block = 1 << 16
    zeros = bytes(block)

    def copy(one: str, other: str) -> str:
        with open(one, "rb", buffering=0) as reader, open(other, "wb", buffering=0) as writer:
            while data := reader.read(block):
                if data == zeros[: len(data)]:
                    writer.seek(len(data), os.SEEK_CUR)
                else:
                    writer.write(data)
            writer.truncate(reader.tell())
        return other

    shutil.copytree(source, target, copy_function=copy)
