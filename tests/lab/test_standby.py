"""PostgreSQL's standby on the lab's network: what it has, and what waits for it."""

import pytest

from slownet.model.errors import ToolError
from slownet.services.postgresql import PostgreSQL
from slownet.services.standby import Standby, SynchronousPair
from slownet.topologies import PrimaryReplicas

TOPOLOGY = PrimaryReplicas
RTT_MS = 20


def test_a_standby_has_what_was_applied(net, tmp_path):
    with SynchronousPair(net, tmp_path) as pair:
        with net.link("replica1", "switch").set(rtt=f"{RTT_MS}ms"):
            near, far = (pair.insert(value).metrics()["statement_ms"]["mean"] for value in ("local", "remote_apply"))
        assert (near / RTT_MS, far / RTT_MS) == pytest.approx((0, 1), abs=0.1)
        assert pair.standby.query("SELECT count(*) FROM written") == ["22"]
        assert pair.standby.query("SELECT pg_is_in_recovery()") == ["t"]


def test_a_primary_that_does_not_run_is_one_line(net, tmp_path):
    with pytest.raises(ToolError, match="Is the server running on that host") as caught:
        Standby(net["replica1"], tmp_path, of=PostgreSQL(net["primary"], tmp_path)).start()
    assert len(str(caught.value).splitlines()) == 1
