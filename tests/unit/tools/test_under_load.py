import json
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.ping import parse
from slownet.tools.under_load import UnderLoad, carried

DATA = Path(__file__).parent / "data"
BOTH_WAYS = (DATA / "iperf3-bidir.txt").read_text()


def test_what_each_direction_carried():
    up, down = carried(BOTH_WAYS)
    assert up == pytest.approx(8 * 17_039_360 / 15.054896 / 1e6)
    total = json.loads(BOTH_WAYS)["end"]["sum_received_bidir_reverse"]
    assert len(down) == 15  # of 25 seconds, without the ten before
    assert sum(down) / 15 == pytest.approx(8 * total["bytes"] / total["seconds"] / 1e6, rel=0.01)


def test_metrics_begin_with_the_round_trip():
    record = UnderLoad(("iperf3",), "", parse((DATA / "ping-5.txt").read_text()), *carried(BOTH_WAYS))
    assert list(record.metrics()) == ["rtt_ms", "lost_percent", "upload_mbit_per_s", "download_mbit_per_s"]
    assert record.metrics()["download_mbit_per_s"]["ordered"]
    assert record.metrics()["download_mbit_per_s"]["mean"] == record.download_mbit_per_s
    assert record.metrics()["upload_mbit_per_s"]["mean"] == pytest.approx(9.05, abs=0.01)


def one_way():
    report = json.loads(BOTH_WAYS)
    for each in report["intervals"]:
        del each["sum_bidir_reverse"]
    return json.dumps(report)


def only_the_start():
    report = json.loads(BOTH_WAYS)
    return json.dumps(report | {"intervals": [each for each in report["intervals"] if each["sum"]["omitted"]]})


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("iperf3: error", "iperf3 printed no JSON"),
        ((DATA / "iperf3-refused.txt").read_text(), "iperf3: unable to connect to server"),
        (one_way(), "iperf3 printed JSON without 'sum_bidir_reverse'"),
        (only_the_start(), "iperf3 printed JSON without a second that counts"),
        ("{}", "iperf3 printed JSON without 'end'"),
    ],
)
def test_what_cannot_be_read_is_one_line(printed, message):
    with pytest.raises(ToolError) as caught:
        carried(printed)
    assert str(caught.value).startswith(message)
    assert caught.value.raw == printed
