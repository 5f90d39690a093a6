import json
from pathlib import Path

import pytest

from slownet.errors import ToolError
from slownet.tools.ping import parse
from slownet.tools.under_load import UnderLoad, carried

DATA = Path(__file__).parent / "data"
BOTH_WAYS = (DATA / "iperf3-bidir.txt").read_text()


def test_what_each_direction_carried():
    up, down = carried(BOTH_WAYS)
    assert (up, down) == pytest.approx((8 * 17_432_576 / 15.04069 / 1e6, 8 * 17_301_504 / 15.04069 / 1e6))


def test_metrics_begin_with_the_round_trip():
    record = UnderLoad(("iperf3",), "", parse((DATA / "ping-5.txt").read_text()), *carried(BOTH_WAYS))
    assert list(record.metrics()) == ["rtt_ms", "loss", "upload_mbit_per_s", "download_mbit_per_s"]
    assert record.metrics()["upload_mbit_per_s"]["mean"] == pytest.approx(9.27, abs=0.01)


def one_way():
    report = json.loads(BOTH_WAYS)
    del report["end"]["sum_received_bidir_reverse"]
    return json.dumps(report)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("iperf3: error", "iperf3 printed no JSON"),
        ((DATA / "iperf3-refused.txt").read_text(), "iperf3: unable to connect to server"),
        (one_way(), "iperf3 printed JSON without 'sum_received_bidir_reverse'"),
        ("{}", "iperf3 printed JSON without 'end'"),
    ],
)
def test_what_cannot_be_read_is_one_line(printed, message):
    with pytest.raises(ToolError) as caught:
        carried(printed)
    assert str(caught.value).startswith(message)
    assert caught.value.raw == printed
