import json
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.competing import Competing, rates
from slownet.tools.ping import parse

DATA = Path(__file__).parent / "data"
TWO = (DATA / "iperf3-two-bbr.txt").read_text()
PINGS = parse((DATA / "ping-5.txt").read_text())


def test_what_arrived_of_each_connection_in_each_second():
    found = rates(TWO, "bbr")
    # The first second was omitted.
    octets = [(335_872, 344_064, 327_680), (131_072, 155_648, 155_648)]
    assert found == tuple(pytest.approx([8 * each / 1e6 for each in one], rel=0.01) for one in octets)


def test_shares_and_rates_are_those_of_each_second():
    carried = (((2.0, 4.0),), ((2.0, 0.0),))
    metrics = Competing(("iperf3",), "", PINGS, ("bbr", "cubic"), carried).metrics()
    assert list(metrics) == ["first_share", "mbit_per_s", "jain_index", "rtt_ms", "lost_percent"]
    assert metrics["first_share"]["values"] == [0.5, 1.0]
    assert metrics["mbit_per_s"]["values"] == [4.0, 4.0]
    assert metrics["jain_index"]["values"] == [64 / (2 * 40)]


def test_the_index_is_that_of_all_connections_in_each_ten_seconds():
    turns, fair = (1.0, 0.0) * 5, (1.0,) * 10
    carried = ((turns + fair + (9.0,), fair + fair + (9.0,)), (turns[::-1] + fair + (0.0,),))
    record = Competing(("iperf3",), "", PINGS, ("bbr", "cubic"), carried)
    assert record.metrics()["jain_index"]["values"] == [20**2 / (3 * 150), 1.0]
    assert record.metrics()["first_share"]["values"][-1] == 1


def test_a_second_in_which_nothing_arrives_has_no_share():
    record = Competing(("iperf3",), "", PINGS, ("bbr", "cubic"), (((0.0, 1.0),), ((0.0, 3.0),)))
    assert record.metrics()["first_share"]["values"] == [0.25]


def without(name):
    report = json.loads(TWO)
    del report["end"][name]
    return json.dumps(report)


@pytest.mark.parametrize(
    ("printed", "congestion", "message"),
    [
        ("iperf3: error", "bbr", "iperf3 printed no JSON"),
        ((DATA / "iperf3-refused.txt").read_text(), "bbr", "iperf3: unable to connect to server"),
        (TWO, "dctcp", "iperf3's sender used bbr where dctcp was asked for"),
        (without("sender_tcp_congestion"), "bbr", "iperf3 printed JSON without 'sender_tcp_congestion'"),
        (without("receiver_tcp_congestion"), "bbr", "iperf3 printed JSON without 'receiver_tcp_congestion'"),
    ],
)
def test_what_cannot_be_read_or_used_another_control_is_one_line(printed, congestion, message):
    with pytest.raises(ToolError) as caught:
        rates(printed, congestion)
    assert str(caught.value).startswith(message)
    assert caught.value.raw == printed
