"""A primary and two replicas on the lab's network: real MariaDB, real binary logs."""

import pytest

from slownet.model.errors import ServiceError, ToolError
from slownet.reproductions.programs.commit_writer import TABLE
from slownet.reproductions.replication import Replicated
from slownet.topologies import PrimaryReplicas

TOPOLOGY = PrimaryReplicas


@pytest.fixture(scope="module")
def database(net, tmp_path_factory):
    with Replicated(net, tmp_path_factory.mktemp("services")) as running:
        yield running


def rows(server):
    ((count,),) = server.query(f"SELECT COUNT(*) FROM wordpress.{TABLE}")
    return int(count)


def test_every_row_comes_to_every_replica(database):
    database.acknowledged_by()
    database.commits(count=10, every_ms=1)
    assert rows(database.replicas[0]) == rows(database.primary) == 10
    database.replicas[1].wait_for(database.primary.position(), 10)
    assert rows(database.replicas[1]) == 10


def test_a_semi_synchronous_commit_waits_a_round_trip_and_an_asynchronous_one_does_not(net, database):
    took = {}
    for names in ((), ("replica1",), ("replica1", "replica2")):
        database.acknowledged_by(*names)
        with net.link("replica1", "switch").set(rtt="30ms"):
            took[names] = database.commits(count=5, every_ms=1).metrics()["commit_ms"]["mean"]
    assert took["replica1",] > 30
    assert max(took[()], took["replica1", "replica2"]) < 15


def test_a_replica_that_is_not_there_names_those_that_are(database):
    with pytest.raises(ServiceError, match="no replica 'replica3': there are replica1, replica2"):
        database.acknowledged_by("replica3")


def test_a_primary_that_nobody_acknowledges_says_so(database):
    database.acknowledged_by("replica1")
    database.primary.query("SET GLOBAL rpl_semi_sync_master_timeout = 500")
    database.replicas[0].query("SET GLOBAL rpl_semi_sync_slave_enabled = 0")
    database.replicas[0].query("STOP SLAVE IO_THREAD; START SLAVE IO_THREAD")
    try:
        with pytest.raises(ServiceError, match="were not acknowledged in time"):
            database.commits(count=3, every_ms=1)
    finally:
        database.primary.query("SET GLOBAL rpl_semi_sync_master_timeout = 10000")


def test_a_wrong_password_is_named(database):
    replica = database.replicas[1]
    replica.query("STOP SLAVE; CHANGE MASTER TO MASTER_PASSWORD='wrong'; START SLAVE")
    with pytest.raises(ServiceError, match="Access denied for user 'replica'"):
        replica.wait_for_replication(1)
    replica.query("STOP SLAVE; CHANGE MASTER TO MASTER_PASSWORD='replica'; START SLAVE")
    replica.wait_for_replication(10)


def test_a_primary_that_is_gone_is_one_line(database):
    """Must stay the last test, because nothing replicates after it."""
    position = database.primary.position()
    database.primary.stop()
    with pytest.raises(ServiceError, match="has not applied transaction 0-1-999999"):
        database.replicas[0].wait_for("0-1-999999", 0.1)
    from slownet.reproductions.replication import commits

    replica = database.replicas[0]
    with pytest.raises(ToolError, match="replication: OperationalError"):
        commits(database.client, database.primary.host.IP(), replica.host, replica.socket, position, count=1)
