"""Tables in the form of LENS and of WetLinks; all numbers here are made up."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.traces import leo_tables, trace_summary
from slownet.links.traces.pinglog import Pinged
from slownet.model.errors import TraceError

PINGS = "timestamp,rtt\n1700000000.5,50.0\n1700000001.5,61.5\n1700000001.0,40\n"
IRTT = """timestamp,rtt,uplink,downlink
1700000000000000000,0,0,-1
1700000000010000000,120.5,-72.5,193.0
1700000000020000000,90,45,45
1700000000030000000,-1,0,0
"""
HEADER = "site_name,timestamp_start,timestamp_end,server,ip_protocol,transport_protocol,download,upload"
RATES = f"""{HEADER}
here,2024-01-31T12:00:00+00:00,2024-01-31T12:00:01+00:00,x,4,tcp,2e8,
here,2024-01-31T12:00:10+00:00,2024-01-31T12:00:11+00:00,x,4,tcp,1e8,2e7
"""
MERGED = f"""{HEADER},ping_packet_loss,ping_avg
here,2024-01-31 12:00:00+00:00,2024-01-31 12:00:15+00:00,x,4,tcp,1e8,2e7,0,40
here,2024-01-31 12:05:00+00:00,2024-01-31 12:05:15+00:00,x,4,tcp,5e7,1e7,19,60
"""


def test_lens_has_pings():
    log = leo_tables.lens(PINGS)
    assert log.pings == (Pinged(0, 0.05), Pinged(0.5, 0.04), Pinged(1.0, 0.0615))
    assert log.loss == 0


def test_lens_has_irtt_with_losses_in_any_direction_and_clocks_that_differ():
    log = leo_tables.lens(IRTT)
    assert [each.rtt for each in log.pings] == [None, 0.1205, 0.09, None]
    assert log.interval == pytest.approx(0.01, abs=1e-6)  # ns of this century do not fit into a float
    assert log.loss == 0.5


def test_wetlinks_has_rates():
    both = leo_tables.wetlinks(RATES)
    assert [(piece.seconds, piece.rate, piece.delay) for piece in both.down.pieces] == [(1, 1e8, None)]
    assert [piece.rate for piece in both.up.pieces] == [2e7]


def test_wetlinks_has_delays_and_losses_after_merging():
    both = leo_tables.wetlinks(MERGED)
    assert [(piece.seconds, piece.delay) for piece in both.down.pieces] == [(15, 0.02), (15, 0.03)]
    assert both.down.pieces[1].loss == pytest.approx(0.1)  # 19 % of round trips
    first = next(both.schedule().states(Condition())).condition
    assert (first.rate_up, first.rate_down, first.rtt) == (2e7, 1e8, pytest.approx(0.04))


def test_a_summary_knows_both_by_their_first_line(tmp_path):
    for name, text, kind in (
        ("a", PINGS, "log of pings"), ("b", IRTT, "log of pings"), ("c", MERGED, "rates over time, both directions"),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        assert trace_summary.load(tmp_path / name).facts()["kind"] == kind


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (
            leo_tables.lens,
            "time,rtt\n1,2\n",
            "it is not a table of LENS, table: its first line is timestamp,rtt or timestamp,rtt,uplink,downlink",
        ),
        (leo_tables.lens, "timestamp,rtt\n1,2\n2,x\n", "'x' is not a number, table line 3: correct the line"),
        (leo_tables.lens, "timestamp,rtt\n1,2\n2,-3\n", "a round trip of -3 ms at 2, table line 3: correct the line"),
        (leo_tables.lens, "timestamp,rtt\n1,2\n", "fewer than two round trips, table: give a longer table"),
        (
            leo_tables.wetlinks,
            PINGS,
            "it is not a table of WetLinks with rates, table: "
            "its columns are timestamp_start, timestamp_end, download, upload and others",
        ),
        (leo_tables.wetlinks, HEADER + "\n", "no measurement has both rates, table: give another table"),
        (
            leo_tables.wetlinks,
            HEADER + "\na,now,then,x,4,tcp,1,2\n",
            "'then' is not a time, table line 2: it is written like 2024-01-31T12:00:00+00:00",
        ),
        (leo_tables.wetlinks, RATES.replace("2e7", "-1"), "a negative number, table line 3: correct the line"),
    ],
)
def test_mistakes_are_one_line(read, text, line):
    with pytest.raises(TraceError) as error:
        read(text)
    assert str(error.value) == line
