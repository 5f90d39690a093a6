"""Lines of logs with the times of a history: kept and read again, and what is none."""

import pytest

from slownet.judge.histories.history import HistoryError
from slownet.judge.histories.log_lines import MOST, LogLine, read, to_text

WRONG = [
    "{",
    "5",
    '{"time": 5, "service": "a"}',
    '{"time": 5, "service": "a", "line": 5}',
    '{"time": 1.5, "service": "", "line": ""}',
]


def test_lines_are_read_as_they_were_written():
    lines = [LogLine(5, "redis-db", "Ready \u00fc <b>"), LogLine(7, "redis-db", "")]
    assert read(to_text(lines)) == lines
    assert len(read(to_text(lines * MOST))) == MOST


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_line(text):
    with pytest.raises(HistoryError, match="no line of a log"):
        read(text)
