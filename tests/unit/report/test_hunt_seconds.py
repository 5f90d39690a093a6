"""The page of a hunt: what breaks and what is wrong leads to the lines of logs of its second."""

from slownet import Faults, History, Violation
from slownet.judge.histories.history import Event
from slownet.judge.histories.log_lines import LogLine
from slownet.report.hunt_page import Drawn, seconds, write_hunt

S = 10**9
EVENTS = (Event(0, 0, "invoke", "put", 1), Event(S // 2, 0, "ok", "put", 1), Event(5 * S, 0, "invoke", "read", None))
LOGS = (LogLine(S // 2, "redis-db", "Ready <to> accept"), LogLine(4 * S + 5, "redis-db", "Loaded"))
BROKEN = Faults.parse("kill db at 1.25 s; start db at 4 s")


def page(folder, logs):
    wrong = [Violation("no acknowledged put is lost", "1 of 1 lost", S // 2)]
    drawn = Drawn("The smallest schedule", BROKEN, History(EVENTS), wrong, logs)
    written = write_hunt(folder / "page.html", "mine", "Does it?", "It breaks.", [drawn], [], [], [])
    return drawn, written.read_text()


def test_each_second_has_its_steps_violations_and_lines(tmp_path):
    drawn, text = page(tmp_path, LOGS)
    found = [(each.number, each.steps, len(each.violations), [line[2] for line in each.lines]) for each in seconds(drawn)]
    assert found == [
        (0, [], 1, ["Ready <to> accept"]), (1, ["kill db at 1.25 s"], 0, []), (4, ["start db at 4 s"], 0, ["Loaded"]),
    ]  # fmt: skip
    for number in (0, 1, 4):
        assert text.count(f'id="logs-1-{number}"') == 1
    assert '<a href="#logs-1-1">kill db at 1.25 s</a>' in text  # in words
    assert '<a href="#logs-1-1"><text' in text  # in the picture
    assert text.count('href="#logs-1-0"') == 2  # the violation in words and in the picture
    assert "Ready &lt;to&gt; accept" in text


def test_without_lines_nothing_leads_anywhere(tmp_path):
    drawn, text = page(tmp_path, ())
    assert seconds(drawn) == []
    assert 'href="#' not in text


def test_a_picture_with_links_is_no_image(tmp_path):
    assert [' role="group"' in page(tmp_path, logs)[1].partition("<svg")[2].partition(">")[0] for logs in (LOGS, ())] == [
        True, False,
    ]  # fmt: skip
