"""PostgreSQL, MariaDB, Redis and gRPC on the lab's network: what their clients wait for, over a delay of 50 ms."""

import pytest

from slownet.experiments.query_cost import ASKED, CONNECT
from slownet.model.errors import ServiceError, ToolError
from slownet.net.tool import run
from slownet.reproductions.stores import Stores, query_cost
from slownet.services.postgresql import PostgreSQL
from slownet.tools.programs.queries import USER
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTT_MS = 50


@pytest.fixture(scope="module")
def stores(net, tmp_path_factory):
    with Stores(net, tmp_path_factory.mktemp("services")) as running:
        yield running


@pytest.mark.parametrize("system", ASKED)
def test_each_way_takes_its_round_trips(net, stores, system):
    with net.link("client", "server").set(rtt=f"{RTT_MS}ms"):
        found = stores.ask(system).metrics()
    expected = {f"{way}_ms": trips for way, (trips, _) in {"connect": CONNECT[system], **ASKED[system]}.items()}
    assert {name: each["mean"] / RTT_MS for name, each in found.items()} == pytest.approx(expected, abs=0.1)


def test_a_server_that_is_not_there_is_one_line(net, stores):
    with pytest.raises(ToolError, match="postgresql: OperationalError: ") as caught:
        query_cost(net["client"], "10.0.0.99", system="postgresql")
    assert len(str(caught.value).splitlines()) == 1


def test_clients_prove_a_password(net, stores):
    argv = ["psql", "-h", net["server"].IP(), "-U", USER, "-Atqc", "SELECT 1"]
    wrong = run(net["client"], ["env", "PGPASSWORD=wrong", *argv], check=False)
    assert "password authentication failed" in wrong.stderr
    assert run(net["client"], ["env", f"PGPASSWORD={USER}", *argv]).stdout == "1\n"


def test_a_setting_that_postgresql_does_not_have_is_one_line_of_its_log(net):
    server = PostgreSQL(net["client"], options=["no_such_setting=1"])
    with pytest.raises(ServiceError, match="unrecognized configuration parameter"):
        server.start()
