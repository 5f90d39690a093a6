"""The pattern of a program's reads and writes, on real sockets and with a real database."""

import pytest

from slownet.reproductions.rows_and_messages import RowsAndMessages


@pytest.fixture(scope="module")
def programs(net, tmp_path_factory):
    with RowsAndMessages(net, tmp_path_factory.mktemp("programs")) as running:
        yield running


def time_ms(operation):
    return operation.metrics()["operation_ms"]["mean"]


def test_rows_pay_for_the_distance_alone_or_together(net, programs):
    near = time_ms(programs.row("row-by-row", 20))
    with net.link("db", "switch").set(rtt="10ms"):
        assert time_ms(programs.row("row-by-row", 20)) - near == pytest.approx(10, rel=0.1)
        assert time_ms(programs.row("batches", 400)) - near < 0.5


def test_two_small_writes_stall_unless_they_leave_at_once(programs):
    stalled, sent = (time_ms(programs.message(pattern, 10)) for pattern in ("write-write-read", "nodelay"))
    assert stalled > 30 > 5 > sent
