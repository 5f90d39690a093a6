"""The database server MariaDB, on a private copy of a prepared data directory."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from slownet.lab.host import native
from slownet.model.errors import ServiceError
from slownet.net.process import Host, wait_until
from slownet.net.tool import run
from slownet.services import arguments
from slownet.services.service import Service

LOOK_S = 0.05
"""Seconds between two queries while waiting for a server: each query starts a program."""

TEMPLATE = Path("/var/lib/slownet/wordpress/mariadb")
"""The data directory with the WordPress site, made by ``lab/build/provision``."""

FILES = (
    "--innodb-log-file-size=32M",  # where it is full, connections spin until pages are written: a lab's clock stands still
    "--innodb-undo-tablespaces=0",
    "--innodb-data-file-path=ibdata1:5M:autoextend",
)
"""The sizes that the template was made with. With others, the server would rewrite its files at the start."""

LAB = (
    "--performance-schema=0",
    "--skip-name-resolve",  # a lab has no DNS to ask
    "--innodb-buffer-pool-size=128M",
    "--loose-innodb-buffer-pool-size-max=128M",  # the default reserves terabytes, more than a lab can address
    "--innodb-stats-auto-recalc=0",  # in the background, when rows were inserted: what it meets waits for up to a second
)

CLEANER = "page_cleaner"
"""InnoDB's thread that writes pages. Statements such as CREATE INDEX wait for it in a loop without a pause
(``buf_flush_wait``): where a busy program takes no time, the kernel would never let it run."""

QUICK_START = (
    "--skip-ssl",  # making a certificate at every start takes up to 0.7 s of CPU
    "--key-buffer-size=8K",  # the server writes to all of MyISAM's and Aria's caches at the start
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
    """Settings of a server that can be a primary or a replica.

    Transactions are logged with GTIDs and as rows. A commit that waits for a replica does so before others can read it
    (AFTER_SYNC), so that no row that was read can be lost.

    server_id: the server's number, unique among the servers that replicate from each other.
    """

    server_id: int

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``mariadbd``."""
        return (
            f"--server-id={self.server_id}",
            "--log-bin=binlog",
            "--binlog-format=ROW",
            "--gtid-strict-mode=1",
            "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
            "--slave-net-timeout=60",
        )


def prefer(process: int, thread: str) -> None:
    """Let a thread of a process run as soon as it is woken; nothing happens if none exists of that name."""
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):  # it has ended
            if (task / "comm").read_text().strip() == thread:
                os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))


class MariaDB(Service):
    """A MariaDB server, on port 3306 of all addresses of a host.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for the log.
    template : str or Path
        The data directory to copy; it is never written to.
    options : sequence of str
        More options of ``mariadbd``, such as ``["--max-connections=50"]``.
    replication : Replication, optional
        Settings that let it be a primary or a replica, see `follow`.
    """

    chance = "MariaDB draws random numbers, so that its threads meet a little earlier or later each time"
    """Why the same run may give slightly different numbers, even if the CPU is free."""

    name = "mariadb"
    durable = ("data",)

    def __init__(
        self,
        host: Host,
        directory: str | Path | None = None,
        *,
        template: str | Path = TEMPLATE,
        options: Sequence[str] = (),
        replication: Replication | None = None,
    ) -> None:
        super().__init__(host, directory)
        self.template = arguments.folder(template, type(self).__name__, "template") or TEMPLATE
        own = arguments.words(options, "MariaDB", "options", 'options=["--max-connections=50"]')
        self.options = (*(replication.options if replication else ()), *own)

    @property
    def socket(self) -> Path:
        """The Unix socket; root logs in there without a password."""
        return self.state / "sock"

    def prepare(self) -> None:
        """Copy the data directory."""
        if not (self.template / "mysql").is_dir():
            raise ServiceError(
                "there is no prepared database",
                str(self.template),
                "run lab/build/provision, or build the image again",
            )
        data = self.state / "data"
        if not self.restored:
            copy_sparse(self.template, data)
        account = pwd.getpwnam("mysql")
        for path in (self.state, data, *data.rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid)

    def command(self) -> Sequence[str]:
        """Return the command line."""
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

    def start(self) -> Self:
        """Start the server. Raises as `Service.start` does."""
        super().start()
        self._prefer_its_cleaner()
        return self

    def revive(self) -> None:
        """Start it again. Raises as `Service.revive` does."""
        super().revive()
        self._prefer_its_cleaner()

    def _prefer_its_cleaner(self) -> None:
        if native.cpu_is_free() and self._process:
            prefer(self._process.pid, CLEANER)

    def answers(self) -> bool:
        """Return whether it sends its greeting."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(self.socket))
            return len(connection.recv(5)) == 5  # the greeting's length and protocol version

    def query(self, sql: str) -> list[list[str]]:
        """Run a statement as root through the Unix socket, which uses no link, and return its rows as text.

        Raises ToolError if the statement fails.
        """
        return [line.split("\t") for line in self._ask(sql, "-N").splitlines()]

    def _ask(self, sql: str, *options: str) -> str:
        login = ["-uroot", "-S", str(self.socket)]
        argv = ["mariadb", "--no-defaults", "--skip-ssl", *login, "--batch", *options, "-e", sql]
        return run(self.host, argv, timeout=self.deadline_s).stdout

    def questions(self) -> int:
        """Return how many statements clients have sent since the start, without those of this method."""
        rows = self.query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_show_status')")
        counts = {name: int(count) for name, count in rows}
        return counts["Questions"] - counts["Com_show_status"]

    # ---- replication ----

    def set_global(self, name: str, value: bool) -> None:
        """Set a boolean server variable."""
        self.query(f"SET GLOBAL {name} = {int(value)}")

    def status(self, name: str) -> str:
        """Return a status variable. Raises ServiceError if none exists of that name."""
        rows = self.query(f"SHOW GLOBAL STATUS LIKE '{name}'")
        if len(rows) != 1:
            raise self.error(f"{self.name} has no status variable {name}")
        return rows[0][1]

    def position(self) -> str:
        """Return the GTID of the last transaction in the server's own log, such as ``"0-1-7"``.

        Raises ServiceError if none exists.
        """
        ((position,),) = self.query("SELECT @@gtid_binlog_pos")
        if not position:
            raise self.error(f"{self.name} has logged no transaction")
        return position

    def follow(self, primary: MariaDB, account: str, password: str) -> None:
        """Start to replicate from a primary over the network, from its first transaction on.

        Parameters
        ----------
        primary : MariaDB
            The primary; both servers need ``replication``.
        account, password : str
            The primary's account for replicas.

        Raises
        ------
        ToolError
            The server refuses the statement.
        """
        login = f"MASTER_HOST='{primary.host.IP()}', MASTER_USER='{account}', MASTER_PASSWORD='{password}'"
        options = "MASTER_USE_GTID=slave_pos, MASTER_SSL=0, MASTER_CONNECT_RETRY=1"
        self.query(f"CHANGE MASTER TO {login}, {options}; START SLAVE")

    def replication(self) -> dict[str, str]:
        """Return the output of SHOW SLAVE STATUS by name; empty if the server is not a replica."""
        pairs = (line.partition(":") for line in self._ask("SHOW SLAVE STATUS\\G").splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs}

    def wait_for_replication(self, seconds: float) -> None:
        """Wait until both of the replica's threads run. Raises ServiceError with the replica's error if they do not."""

        def runs() -> bool:
            status = self.replication()
            return status.get("Slave_IO_Running") == status.get("Slave_SQL_Running") == "Yes"

        if not wait_until(runs, seconds, LOOK_S):
            status = self.replication()
            reasons = (status.get(name) for name in ("Last_IO_Error", "Last_SQL_Error", "Slave_IO_State"))
            why = next(filter(None, reasons), "it is not a replica")
            raise self.error(f"{self.name} does not replicate after {seconds:g} s: {why}")

    def wait_for(self, position: str, seconds: float) -> None:
        """Wait until the replica has applied the transaction with this GTID. Raises ServiceError if it does not in time."""
        if self.query(f"SELECT MASTER_GTID_WAIT('{position}', {seconds:g})") != [["0"]]:
            raise self.error(f"{self.name} has not applied transaction {position} after {seconds:g} s")


def copy_sparse(source: Path, target: Path) -> None:
    """Copy a directory tree; blocks of zeros become holes, which take no time or memory on a tmpfs."""
    block = 1 << 16
    zeros = bytes(block)

    def copy(one: str, other: str) -> str:
        with open(one, "rb", buffering=0) as reader, open(other, "wb", buffering=0) as writer:
            while data := reader.read(block):
                if data == zeros[: len(data)]:
                    writer.seek(len(data), os.SEEK_CUR)
                    # A log of zeros would stay in memory beside its empty copy.
                    os.posix_fadvise(reader.fileno(), reader.tell() - len(data), len(data), os.POSIX_FADV_DONTNEED)
                else:
                    writer.write(data)
            writer.truncate(reader.tell())
        return other

    shutil.copytree(source, target, copy_function=copy)
