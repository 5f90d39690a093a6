"""CellReplay's files, in the form that its emulator reads; all numbers here are made up."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.traces import cellreplay, stepped, trace_summary
from slownet.model.errors import TraceError

DELAYS = "0 20 0 1 2\n100 40 0 0 3\n400 10 0\n"
OPPORTUNITIES = "10\n20\n90\n100\n150\n200\n"  # four packets in the first 100 ms, two in the second


def test_delays_are_interpolated_and_rates_are_of_1400_bytes(tmp_path):
    (tmp_path / "delay").write_text(DELAYS)
    (tmp_path / "pdo").write_text(OPPORTUNITIES)
    steps = cellreplay.load(tmp_path / "delay", tmp_path / "pdo")
    assert [piece.delay for piece in steps.pieces] == pytest.approx([0.030, 0.035, 0.025, 0.015])
    four, two = 8 * 4 * 1414 / 0.1, 8 * 2 * 1414 / 0.1
    assert [piece.rate for piece in steps.pieces] == pytest.approx([four, two, four, two])
    states = stepped.schedule(down=steps).states(Condition())
    assert next(states).condition.down == pytest.approx(0.030)


def test_a_summary_says_the_delays(tmp_path):
    (tmp_path / "delay").write_text(DELAYS)
    found = trace_summary.load(tmp_path / "delay").facts()
    assert (found["kind"], found["duration_s"], found["max_delay_s"]) == ("CellReplay's delays", 0.4, pytest.approx(0.035))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "0 20 0\n100 x 0\n",
            "'100 x 0' is not a line of delays, trace line 2: it holds a time and a delay in whole ms, then more times",
        ),
        ("5 20 0\n1 20 0\n", "1 ms after 5 ms, trace line 2: the times of a trace must not decrease"),
        ("0 20 0\n1 20 0\n", "there are too few lines, or they last longer than a week, trace: give 3 lines or more"),
        ("0 1\n0 1\n0 1\n", "there are too few lines, or they last longer than a week, trace: give 3 lines or more"),
    ],
)
def test_mistakes_are_one_line(text, line):
    with pytest.raises(TraceError) as error:
        cellreplay.delays(text)
    assert str(error.value) == line
