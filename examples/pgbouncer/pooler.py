"""What pgbouncer saves a program that opens a connection for each request, by where it runs."""

from contextlib import contextmanager

from slownet import Command, TwoHosts, experiment, round_trips_between
from slownet.services.postgresql import PostgreSQL
from slownet.tools.statements import statements

RTT, PORT = "100ms", 6432
LOGIN = {"user": "slownet", "password": "slownet", "dbname": "slownet", "sslmode": "disable"}
# Round trips of a request with one query on a new connection. pgbouncer answers TCP, user and SCRAM-SHA-256 itself, and keeps
# its connections to the database (pgbouncer(5), pool_mode=transaction), so that the query alone goes there.
WAYS = {
    "the database": (5, "TCP, user, two for SCRAM-SHA-256, and the query"),
    "pgbouncer beside the client": (1, "the query alone is far"),
    "pgbouncer beside the database": (5, "pgbouncer is as far as the database"),
}


class Pgbouncer(Command):
    """pgbouncer on a host, which lends its connections to a database for a transaction each."""

    def __init__(self, host, directory, database):
        super().__init__(host, ["pgbouncer"], directory, port=PORT)
        self.database = database

    def prepare(self):
        """Write its configuration."""
        (self.state / "users").write_text('"slownet" "slownet"\n')
        (self.state / "ini").write_text(
            f"[databases]\nslownet = host={self.database} user=slownet password=slownet\n[pgbouncer]\n"
            f"listen_addr = *\nlisten_port = {PORT}\nunix_socket_dir =\nuser = postgres\npool_mode = transaction\n"
            f"auth_type = scram-sha-256\nauth_file = {self.state}/users\nserver_tls_sslmode = disable\n"
        )

    def command(self):
        """Return the command line."""
        return ["pgbouncer", f"{self.state}/ini"]


@contextmanager
def start(net, directory):
    """Start the database, and a pgbouncer beside it and beside the client; yield where each is reached."""
    server, client = net["server"], net["client"]
    with PostgreSQL(server, directory), Pgbouncer(server, directory, server.IP()), Pgbouncer(client, directory, server.IP()):
        ports = {"the database": (server, 5432), "beside the client": (client, PORT), "beside the database": (server, PORT)}
        yield {name: {"host": host.IP(), "port": port} for name, (host, port) in ports.items()}


@experiment(topology=TwoHosts, service=start, vary={"asked": list(WAYS), "rtt": ["0ms", RTT]}, tdf="inf", blocks=1, warm_up=0)
def pooler(net, reached, asked, rtt):
    """How many round trips does a request with one query on a new connection take with pgbouncer, near and far?"""
    with net.link("client", "server").set(rtt=rtt):
        where = {**LOGIN, **reached[asked.removeprefix("pgbouncer ")]}
        return statements(net["client"], "postgresql", "SHOW server_version_num", where, connection="new")


# The CPU is free, so round trips are exact; 1 % of one is 1 ms, and what the programs do without a delay takes less than that.
pooler.claims(
    *(
        round_trips_between(
            "statement_ms", {"asked": asked, "rtt": RTT}, of={"asked": asked, "rtt": "0ms"}, expected=trips, within=0.01,
            because=why, name=f"a request to {asked}",
        )
        for asked, (trips, why) in WAYS.items()
    ),
)  # fmt: skip


@pooler.answer
def answer(run):
    return ", ".join(f"{run.round_trips('statement_ms', {'asked': asked}):.2g} to {asked}" for asked in WAYS) + "."
