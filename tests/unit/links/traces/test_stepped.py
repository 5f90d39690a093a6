"""Pensieve's and TheaterQ's recordings, in their documented forms; all numbers here are made up."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.traces import stepped, trace_summary
from slownet.model.errors import TraceError

PENSIEVE = "0.0 9.9\n0.5 2.0\n2.5 0\n3.0 1.5\n"
THEATERQ = "# made up\nKEEP,LATENCY,RATE,LOSS,LIMIT\n500000,20000000,10000000,0,100\n1500000,30000000,5000000,42949673,50\n"
EXTENDED = "1000000,20000000,1000000,8000000,0,100,0,0,0\n"


def test_a_line_of_pensieves_holds_from_the_one_before():
    steps = stepped.pensieve(PENSIEVE)
    assert [(each.seconds, each.rate) for each in steps.pieces] == [(0.5, 2e6), (2.0, 0), (0.5, 1.5e6)]
    assert (steps.seconds, steps.rate) == (3.0, pytest.approx(1.75e6 / 3))
    states = stepped.schedule(down=steps).states(Condition())
    first, pause, last, again = (next(states) for _ in range(4))
    assert [each.at for each in (first, pause, last, again)] == [0, 0.5, 2.5, 3.0]
    assert (first.condition.rate_down, last.condition.rate_down, first.condition.rate_up) == (2e6, 1.5e6, None)
    assert pause.condition.rate_down == 8 * 1514 / 2.005  # one frame in two seconds, and one just after
    assert again.condition == first.condition
    assert [each.condition.burst for each in (first, pause)] == [1514, 1514]


def test_theaterqs_directions_are_played_in_step():
    up, down = stepped.theaterq(THEATERQ), stepped.theaterq(EXTENDED)
    assert (up.seconds, down.pieces[0].jitter) == (2.0, 0.001)
    states = stepped.schedule(up, down).states(Condition())
    seen = {}
    for state in states:
        if state.at > 1.9:
            break
        seen[state.at] = state.condition
    assert sorted(seen) == [0, 0.5]
    assert (seen[0].up, seen[0].down, seen[0].rate_up, seen[0].rate_down) == (0.02, 0.02, 1e7, 8e6)
    assert (seen[0].jitter_up, seen[0].jitter_down, seen[0].loss_up) == (0, 0.001, None)
    assert seen[0.5].up == 0.03
    assert str(seen[0.5].loss_up) == "1 %"


def test_a_file_is_known_by_its_first_number(tmp_path):
    for name, text in (("p", PENSIEVE), ("t.csv", THEATERQ)):
        (tmp_path / name).write_text(text)
        found = trace_summary.load(tmp_path / name).facts()
        assert (found["kind"], found["duration_s"]) == ("rates over time", {"p": 3.0, "t.csv": 2.0}[name])
    assert stepped.load(tmp_path / "t.csv").pieces[0].limit == 100


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (stepped.pensieve, "0 1\n0 2\n", "0 s after 0 s, trace line 2: the times of a trace must increase"),
        (stepped.pensieve, "0 1\n1 2 3\n", "3 numbers, trace line 2: a line holds a time in s and a rate in Mbit/s"),
        (stepped.pensieve, "0 1\n1 -2\n", "'-2' is not a number from 0, trace line 2: correct the line"),
        (stepped.pensieve, "0 1\n", "the trace has no length, trace: it needs a line more"),
        (stepped.pensieve, "0 1\n1e9 1\n", "the trace is longer than a week, trace: cut it into parts"),
        (stepped.theaterq, "1,2,3\n", "3 numbers, trace line 1: a line holds KEEP,LATENCY,RATE,LOSS,LIMIT"),
        (
            stepped.theaterq,
            "1,2,0,0,9\n",
            "KEEP, RATE or LIMIT is 0, or LOSS above 4294967295, trace line 1: correct the line",
        ),
        (stepped.theaterq, "1,2,x,0,9\n", "'x' is not a number from 0, trace line 1: correct the line"),
    ],
)
def test_mistakes_are_one_line(read, text, line):
    with pytest.raises(TraceError) as error:
        read(text)
    assert str(error.value) == line


def test_a_schedule_needs_a_trace():
    with pytest.raises(TraceError, match="no trace is given"):
        stepped.schedule()
