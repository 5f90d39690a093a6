"""A real broker, a real database and the consumer between them."""

import threading

import pytest

from slownet.model.errors import ToolError
from slownet.net.process import wait_until
from slownet.reproductions.rows_and_messages import WAYS, BrokerAndDatabase, consume, produce
from slownet.topologies import BrokerWorkerDatabase

TOPOLOGY = BrokerWorkerDatabase


@pytest.fixture
def pipeline(net, tmp_path):
    with BrokerAndDatabase(net, tmp_path) as running:
        yield running


@pytest.mark.parametrize("way", WAYS)
def test_every_row_comes_once_and_is_acknowledged(pipeline, way):
    assert pipeline.copy(way, 300).rows == 300  # it also counts the table's rows
    ((least, most, kinds),) = pipeline.mariadb.query("SELECT MIN(id), MAX(id), COUNT(DISTINCT id) FROM wordpress.copied")
    assert (least, most, kinds) == ("0", "299", "300")


def test_a_row_by_row_copy_pays_a_round_trip_to_a_database_far_away(net, pipeline):
    near = pipeline.copy("row-by-row", 20).metrics()["steady_row_ms"]["mean"]
    with net.link("db", "switch").set(rtt="20ms"):
        far = pipeline.copy("row-by-row", 20).metrics()["steady_row_ms"]["mean"]
    assert far - near == pytest.approx(20, rel=0.05)


def test_a_broker_with_too_few_rows_is_one_line(net, pipeline):
    pipeline.copy("batches", 200)
    broker, database = net["broker"].IP(), net["db"].IP()
    with pytest.raises(ToolError, match="the broker gave 0 rows instead of 1 after 0 of 5"):
        consume(net["worker1"], broker, database, "row-by-row", 5)


def test_a_database_that_dies_in_mid_run_is_one_line(net, pipeline):
    pipeline.copy("batches", 100)
    broker, database = net["broker"].IP(), net["db"].IP()
    pipeline.mariadb.query("TRUNCATE wordpress.copied")
    produce(net["broker"], broker, 2000)
    caught = []

    def consuming():
        with pytest.raises(ToolError) as error:
            consume(net["worker1"], broker, database, "row-by-row", 2000)
        caught.append(error.value)

    with net.link("db", "switch").set(rtt="2ms"):
        thread = threading.Thread(target=consuming)
        thread.start()
        assert wait_until(lambda: pipeline.redis.ask("XPENDING", "rows", "writers")[0] == "1", 30)
        pipeline.mariadb.stop()
        thread.join()
    assert "pipeline: OperationalError" in str(caught[0]) or "pipeline: InterfaceError" in str(caught[0])
    assert len(str(caught[0]).splitlines()) == 1


def test_a_broker_that_is_gone_is_one_line(net, pipeline):
    pipeline.redis.stop()
    with pytest.raises(ToolError, match="pipeline: ConnectionError"):
        produce(net["worker1"], net["broker"].IP(), 5)
