"""Databases that are far away on the lab's network: what each way of asking them waits for."""

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions.pooled import FarPostgreSQL
from slownet.services.redis import Redis
from slownet.tools.redis_benchmark import redis_benchmark
from slownet.tools.statements import statements
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTT_MS = 20


@pytest.fixture
def far(net):
    with net.link("server", "client").set(rtt=f"{RTT_MS}ms"):
        yield


def test_redis_answers_one_request_per_round_trip_and_connection(net, far, tmp_path):
    with Redis(net["server"], tmp_path) as redis:
        one = redis_benchmark(net["client"], redis.host.IP(), requests=10)
        five = redis_benchmark(net["client"], redis.host.IP(), requests=50, connections=5)
    assert one.per_s == pytest.approx(10 / 11 * 1000 / RTT_MS, rel=0.02)
    assert five.per_s == pytest.approx(5 * one.per_s, rel=0.02)
    with pytest.raises(ToolError, match="Could not connect to Redis"):
        redis_benchmark(net["client"], redis.host.IP(), requests=10)


@pytest.fixture(scope="module")
def database(net, tmp_path_factory):
    with FarPostgreSQL(net, tmp_path_factory.mktemp("services")) as running:
        yield running


def test_tls_and_a_name_cost_round_trips_of_their_own(net, database):
    with net.link("server", "client").set(rtt=f"{RTT_MS}ms"):
        tls = ({"sslmode": "disable"}, {}, {"group": "P-256"}, {"sslmode": "require", "sslnegotiation": "direct"}, {"ttl": 0})
        ways = [*(("new", each) for each in tls), ("checked", {}), ("kept", {})]
        times = [database.ask(connection, **how).metrics()["statement_ms"]["mean"] for connection, how in ways]
        assert [time / RTT_MS for time in times] == pytest.approx([5, 8, 7, 7, 9, 2, 1], abs=0.1)
        with pytest.raises(ToolError, match='postgresql: ProgrammingError: invalid connection option "tls"') as caught:
            database.ask("new", tls="yes")
    assert len(str(caught.value).splitlines()) == 1


def test_a_client_that_is_refused_is_one_line(net):
    with pytest.raises(ToolError, match="mariadb: OperationalError: ") as caught:
        statements(net["client"], "mariadb", "SELECT 1", {"host": net["server"].IP(), "user": "wordpress"})
    assert len(str(caught.value).splitlines()) == 1


def test_a_wrong_statement_is_named_by_the_servers_words(database):
    with pytest.raises(ToolError, match='postgresql did not do the statement: ERROR: syntax error at or near "selec", host'):
        database.query("selec 1")
    assert database.query("select 1") == ["1"]
