"""Rows that MariaDB keeps on several hosts of the lab's network: for whom a commit waits, and who has the rows."""

import pytest

from slownet.reproductions import replicated_rows
from slownet.reproductions.replicated_rows import GALERA, NONE, SEMI, Galera, ReplicatedRows
from slownet.topologies import PrimaryReplicas

TOPOLOGY = PrimaryReplicas
RTT_MS = 20


@pytest.mark.parametrize(("by", "trips"), [(NONE, 0), (SEMI, 1), (GALERA, 1)])
def test_a_row_waits_for_whom_it_must(net, by, trips, tmp_path):
    rows = ReplicatedRows(net, tmp_path)
    with rows.kept(by), net.link("primary", "switch").set(rtt=f"{RTT_MS}ms"):
        assert rows.insert().metrics()["statement_ms"]["mean"] / RTT_MS == pytest.approx(trips, abs=0.1)


def test_each_member_of_a_cluster_takes_rows_and_has_those_of_the_others(net, tmp_path):
    with Galera(net, tmp_path, members=("primary", "replica1")) as cluster:
        one, other = cluster.members
        one.query(replicated_rows.CREATE)
        for each in (one, other):
            each.query(f"USE wordpress; SET SESSION wsrep_sync_wait = 1; {replicated_rows.INSERT}")
        count = "SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM wordpress.kept"
        assert one.query(count) == other.query(count) == [["2"]]
