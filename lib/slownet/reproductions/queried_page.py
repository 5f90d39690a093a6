"""A page of PHP behind nginx that asks a database on another host many questions, and the time of its parts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from slownet.judge.measured import Metrics
from slownet.net.process import Host, Hosts
from slownet.net.tool import run
from slownet.reproductions.exchange import STALL_MS
from slownet.services.composite import Together
from slownet.services.mariadb import MariaDB
from slownet.services.nginx import Nginx
from slownet.services.php_fpm import PhpFpm
from slownet.services.service import Service
from slownet.tools.numbers import Metric, mean, metric, sample_sd
from slownet.tools.program import nanoseconds, read_json

QUERIES, BYTES = 1200, 163
"""The article's numbers: queries per page, and bytes per query on the wire."""

TEXT, PREPARED = "text", "prepared"
"""The ways to send a query: as it is, to be run, or to be prepared first and run then."""

REPEATS = "to microseconds a query, not bit for bit: PHP and MariaDB draw random numbers of their own"


@dataclass(frozen=True)
class Page(Metrics):
    """The times of a page's queries.

    command: the command.
    raw: its output.
    connect_ms: time to connect and log in.
    times_ms: time of each query, in order.
    """

    command: tuple[str, ...]
    raw: str
    connect_ms: float
    times_ms: tuple[float, ...]

    def metrics(self) -> dict[str, Metric]:
        """Return ``query_ms``, ``page_s`` (all queries, without the login), ``stalls`` (a count) and ``connect_ms``."""
        count = len(self.times_ms)
        return {
            "query_ms": metric(mean(self.times_ms), sample_sd(self.times_ms), count),
            "page_s": metric(sum(self.times_ms) / 1000, sample_sd(self.times_ms) * count / 1000, count),
            "stalls": metric(sum(time > STALL_MS for time in self.times_ms), 0.0, count),
            "connect_ms": metric(self.connect_ms, 0.0, 1),
        }

    def facts(self) -> dict[str, object]:
        """Return the number of queries, and how exactly a repetition gives the same times."""
        return {"queries": len(self.times_ms), "repeats": REPEATS}


def php_page(host: Host, address: str, *, port: int = 3306, queries: int = QUERIES, size: int = BYTES) -> Page:
    """Send a page's queries to a database, or to a proxy in front of it.

    host: the host that PHP runs on.
    address: the IP address of the database or proxy.
    port: its TCP port.
    queries: the number of queries.
    size: bytes per query on the wire.
    returns: times in ms.
    Raises ToolError: PHP or its database driver is missing, the database refuses or closes the connection, or the output is not
    understood.
    """
    program = str(resources.files("slownet.reproductions.programs").joinpath("page.php"))
    command = ["php", program, address, str(port), str(queries), str(size)]
    return parse(run(host, command, timeout=3600).stdout, command)


def served_page(host: Host, url: str, address: str, *, way: str = TEXT, queries: int = QUERIES, size: int = BYTES) -> Page:
    """Ask a web server for the same page, whose PHP sends the queries.

    host: the host that the reader's ``curl`` runs on.
    url: where the web server has ``page.php``.
    address: the IP address of the database.
    way ({"text", "prepared"}): whether the text of a query is sent to be run, or to be prepared first, as ``mysqli::prepare``
        does.
    queries, size: as for `php_page`.
    returns: times in ms, as PHP saw them.
    Raises ToolError: the web server, PHP or the database does not answer, or the output is not understood.
    """
    words = "+".join(map(str, (address, 3306, queries, size, way)))
    command = ["curl", "--silent", "--show-error", "--fail-with-body", f"{url}?{words}"]
    return parse(run(host, command, timeout=3600).stdout, command)


def parse(text: str, command: Sequence[str] = ("page.php",)) -> Page:
    """Parse the program's output. Raises ToolError that quotes a line it does not understand."""
    record = read_json(text, command, "connect_ns", "times_ns")
    return Page(tuple(command), text, record["connect_ns"] / 1e6, nanoseconds(record, "times_ns", text, least=1))


PROGRAM = "page.php"


class _Site(Nginx):
    """nginx with the page alone."""

    def prepare(self) -> None:
        """Copy the page where nginx and PHP may read it, and write the configuration."""
        self.root = self.state / "site"
        self.root.mkdir(mode=0o755)
        with resources.as_file(resources.files("slownet.reproductions.programs").joinpath(PROGRAM)) as program:
            shutil.copyfile(program, self.root / PROGRAM)
        (self.root / PROGRAM).chmod(0o644)
        super().prepare()


class QueriedPage(Together):
    """nginx and PHP-FPM on one host, MariaDB on another.

    net: the network.
    directory: the run directory, for logs and configurations.
    web, db: the names of the hosts of the web server and of the database.
    """

    chance = MariaDB.chance
    operation = "page"

    def __init__(self, net: Hosts, directory: str | Path, web: str = "web", db: str = "db") -> None:
        self.mariadb, self.php = MariaDB(net[db], directory), PhpFpm(net[web], directory)
        self.nginx = _Site(net[web], directory, root="")
        super().__init__((self.mariadb, self.php, self.nginx))

    def _launch(self, server: Service) -> None:
        if server is self.nginx:
            self.nginx.php = self.php.socket
        super()._launch(server)

    def load(self, client: Host, *, queries: int, way: str = TEXT) -> Page:
        """Load a page of so many queries, sent as ``"text"`` or ``"prepared"``. Raises ToolError."""
        return served_page(client, f"{self.nginx.url}{PROGRAM}", self.mariadb.host.IP(), way=way, queries=queries)
