"""MariaDB on a host, from a private copy of a prepared data directory."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

from slownet.errors import ServiceError
from slownet.services.service import Service
from slownet.tools.process import Host
from slownet.tools.tool import run

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
    "--innodb-buffer-pool-load-at-startup=0",
    "--innodb-buffer-pool-dump-at-shutdown=0",
    "--innodb-temp-data-file-path=ibtmp1:1M:autoextend",
    "--skip-log-error",
)


class MariaDB(Service):
    """A MariaDB server on all of the host's addresses, port 3306; everything else is the default.

    Parameters
    ----------
    template
        The data directory that is copied; it is never written to.
    options
        Further options of ``mariadbd``, for example ``["--max-connections=50"]``.
    """

    name = "mariadb"

    def __init__(
        self,
        host: Host,
        directory: str | Path,
        *,
        template: str | Path = TEMPLATE,
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(host, directory)
        self.template = Path(template)
        self.options = tuple(options)

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
        argv = [
            "mariadb",
            "--no-defaults",
            "--skip-ssl",
            "-uroot",
            "-S",
            str(self.socket),
            "--batch",
            "-N",
            "-e",
            sql,
        ]
        done = run(self.host, argv, timeout=self.deadline_s)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def questions(self) -> int:
        """How many statements clients have sent since the start, without those of this method."""
        rows = self.query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_show_status')")
        counts = {name: int(count) for name, count in rows}
        return counts["Questions"] - counts["Com_show_status"]


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
