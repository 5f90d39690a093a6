import pytest

from slownet.links.conditions.link import Condition
from slownet.links.traces import mahimahi
from slownet.links.traces.mahimahi import parse, runs
from slownet.model.errors import TraceError


def test_a_trace_in_numbers():
    trace = parse("10\n10\n20\n400\n1000\n")
    assert (trace.seconds, trace.bytes, trace.rate, trace.longest_pause) == (1.0, 7500, 60_000, 0.6)
    assert parse("5\n100\n").longest_pause == 0.095
    assert parse("300\n301\n").longest_pause == 0.3  # across its end


def test_bins_hold_every_packet():
    trace = parse("\n".join(map(str, [0, 1, 100, 101, 250, 299, 300, 1000])))
    assert trace.packets(0.1) == [3, 1, 3, 0, 0, 0, 0, 0, 0, 1]
    assert trace.packets(0.3) == [7, 0, 1]  # three bins of a third of a second
    assert trace.packets(60) == [8]


@pytest.mark.parametrize(
    ("packets", "expected"),
    [
        ([3, 4, 5], [(0, 1, 3), (1, 1, 4), (2, 1, 5)]),
        ([3, 0, 0, 5], [(0, 1, 2), (1, 2, 1), (3, 1, 5)]),  # the pause begins with the last packet before it
        ([1, 0, 0, 5], [(0, 3, 1), (3, 1, 5)]),
        ([0, 2, 5], [(0, 1, 1), (1, 1, 2), (2, 1, 4)]),  # across the end of the trace
        ([0, 2, 1], [(1, 1, 2), (2, 2, 1)]),
        ([0, 2, 1, 0], [(1, 1, 2), (2, 3, 1)]),
        ([2, 0, 1, 0, 3, 0], [(0, 1, 1), (1, 1, 1), (2, 2, 1), (4, 1, 2), (5, 1, 1)]),
    ],
)
def test_pauses_borrow_a_packet(packets, expected):
    assert runs(packets) == expected
    assert sum(count for _, _, count in expected) == sum(packets)
    assert sum(bins for _, bins, _ in expected) == len(packets)


def test_rates_over_time():
    ten = "\n".join(["50"] * 10 + ["150"] * 20 + ["300"])
    states = mahimahi.schedule(up=parse(ten), down=parse("1"), queue="20 packets").states(Condition())
    first, second, third, again = (next(states) for _ in range(4))
    assert [each.at for each in (first, second, third, again)] == [
        0,
        pytest.approx(0.1),
        pytest.approx(0.2),
        pytest.approx(0.3),
    ]
    # 10 frames of 1514 bytes in 100 ms, and the next one just after
    assert first.condition.rate_up == pytest.approx(8 * 1514 * 10 / 0.101)
    assert second.condition.rate_up == pytest.approx(8 * 1514 * 20 / 0.1005)
    assert third.condition.rate_up == pytest.approx(8 * 1514 / 0.105)
    assert again.condition == first.condition
    assert first.condition.rate_down == pytest.approx(1514 * 8 * 1000)
    assert (str(first.condition.queue), first.condition.burst) == ("20 packets", 1514)


def test_a_trace_that_begins_with_a_pause():
    whole, first = mahimahi.schedule(down=parse("300")).tracks
    assert [(step.at, dict(step.action.fields)["rate_down"]) for step in first] == [(0.0, pytest.approx(8 * 1514 / 0.205))]
    assert [(step.at, dict(step.action.fields)["rate_down"]) for step in whole.steps] == [
        (pytest.approx(0.2), pytest.approx(8 * 1514 / 0.305))
    ]
    assert mahimahi.schedule(down=parse("1")).tracks[0].every is None  # nothing to repeat
    states = mahimahi.schedule(down=parse("\n".join(["150"] * 9 + ["200"]))).states(Condition())
    assert [round(next(states).at, 6) for _ in range(4)] == [0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\nx\n", "'x' is not a time, f.up line 2"),
        ("1\n\n2\n", "'' is not a time, f.up line 2"),
        ("1.5\n", "'1.5' is not a time, f.up line 1"),
        ("5\n4\n", "4 ms after 5 ms, f.up line 2"),
        ("1\n604800001\n", "604800001 ms is later than a week, f.up line 2"),
        ("0\n0\n", "the trace has no length, f.up"),
        ("", "the trace has no length, f.up"),
    ],
)
def test_what_mm_link_would_not_take(text, message):
    with pytest.raises(TraceError) as caught:
        parse(text, "f.up")
    assert message in str(caught.value)


def test_files(tmp_path):
    (tmp_path / "a.up").write_text("1\n2\n")
    assert mahimahi.load(tmp_path / "a.up").ms == (1, 2)
    assert mahimahi.schedule(up=tmp_path / "a.up").tracks[0].steps[0].at == 0
    with pytest.raises(TraceError, match=r"cannot read it: No such file or directory, file .*nosuch"):
        mahimahi.load(tmp_path / "nosuch")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="it is not a text file"):
        mahimahi.load(tmp_path / "binary")
    with pytest.raises(TraceError, match="no trace"):
        mahimahi.schedule()
