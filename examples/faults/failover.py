"""Does PostgreSQL keep what it has acknowledged over a crash and a failover? `slownet hunt failover.py` finds when it does not.

A primary and its standby are on hosts of their own, each on a disk of its own. A client inserts numbers at the primary.
SYNCHRONOUS_COMMIT is what each insert waits for (PostgreSQL 17, 19.5.1): "off" for nothing, "local" for the primary's disk,
"on" for the standby's disk, too, "remote_apply" until the standby's queries see it.

An operator looks at the primary's program, not at the network: so a primary that is cut off is not taken for a dead one, and
there are never two. If it has been gone for a second, the standby is promoted, and clients go there; else they stay.
"""

import os

from slownet import PrimaryReplicas, Recorder, ToolError, experiment, faults, no_lost_writes, nothing_invented
from slownet.services.standby import SynchronousPair

WAITS_FOR = os.environ.get("SYNCHRONOUS_COMMIT", "on")
# A client gives up a connection of which the other end says nothing for two or three seconds.
IMPATIENT = "connect_timeout=2 tcp_user_timeout=2000 keepalives_idle=1 keepalives_interval=1 keepalives_count=2"


class Pair(SynchronousPair):
    """The primary, its standby, and which of them clients use."""

    def __init__(self, net, directory):
        super().__init__(net, directory)
        self.servers = [each.on_disk() for each in (self.primary, self.standby)]
        self.leader = self.primary

    def connect(self):
        """Return a new connection to the leader. Raises psycopg.Error."""
        import psycopg  # labs have it

        options = f"-c synchronous_commit={WAITS_FOR}"
        return psycopg.connect(IMPATIENT, **self.leader.login, options=options, autocommit=True)


def inserts(client, pair):
    """Insert a number about every 100 ms for 12 s, on one connection as long as that lives."""
    import psycopg

    connection = None

    def insert(number):
        nonlocal connection
        if connection is None or connection.closed:
            connection = pair.connect()
        connection.execute("INSERT INTO numbers VALUES (%s)", [number])

    for number in client.every("100ms", "12s", jitter=1.0):
        client.do("insert", number, lambda number=number: insert(number), unknown=(psycopg.Error,))


def operates(client, pair):
    """Promote the standby once the primary's program has been gone for a second."""
    gone = 0
    for _ in client.every("200ms", "12s"):
        gone = 0 if pair.primary.running else gone + 1
        if gone > 5 and pair.standby.running:
            pair.leader = pair.standby
            if client.do("promote", None, lambda: pair.standby.query("SELECT pg_promote()"), unknown=(ToolError,)):
                return


def reads(client, pair):
    """Read all numbers, once the leader answers."""
    import psycopg

    def whole():
        with pair.connect() as connection:
            return [number for (number,) in connection.execute("SELECT * FROM numbers ORDER BY 1")]

    for _ in client.every("500ms", "60s"):
        if client.do("read", None, whole, unknown=(psycopg.Error,)) is not None:
            return


def table(net, pair):
    """Make the table, once for all examples: their labs begin with a copy of these servers' data."""
    pair.primary.query("CREATE TABLE numbers (number int)")


@experiment(topology=PrimaryReplicas, service=Pair, prepare=table, vary={"faults": ["none"]}, tdf="inf")
def failover(net, pair, faults):
    """Does PostgreSQL keep what it has acknowledged over a crash and a failover?"""
    with net.faults(faults, pair) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], inserts, pair)
        recorder.client(net["replica1"], operates, pair)
        recorder.wait()
    recorder.client(net["client"], reads, pair)
    recorder.wait()
    return recorder


failover.hunt(
    faults(["primary", "replica1"], ["kill", "crash", "cut"], within="10s", step="500ms"),
    no_lost_writes("insert", "read"),
    nothing_invented("insert", "read"),
)
