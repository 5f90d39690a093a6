"""Lines of logs get the time of the event by which they were there."""

from slownet.judge.histories.log_lines import LONGEST, LogLine
from slownet.tools.clients import LogWatch


def test_lines_have_the_time_of_the_next_look_and_old_ones_are_left_out(tmp_path):
    one, two = tmp_path / "one.log", tmp_path / "two.log"
    one.write_text("old\n")
    watch = LogWatch({"one": one, "two": two})
    watch.look(1)
    with one.open("a") as log:
        log.write("first\nsecond\n")
    watch.look(2)
    watch.look(3)
    two.write_text("x" * 1000 + "\n")
    with one.open("a") as log:
        log.write("third\n")
    watch.look(4)
    with one.open("a") as log:
        log.write("after the last look\n")
    assert watch.lines() == [
        LogLine(2, "one", "first"), LogLine(2, "one", "second"), LogLine(4, "one", "third"), LogLine(4, "two", "x" * LONGEST),
    ]  # fmt: skip


def test_without_logs_there_are_no_lines(tmp_path):
    watch = LogWatch({"gone": tmp_path / "gone.log"})
    watch.look(1)
    assert watch.lines() == []
