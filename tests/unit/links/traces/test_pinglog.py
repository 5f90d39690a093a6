"""Logs of iputils' ping 20240905, made in the lab: 30 ms with Pareto jitter of 2 ms, 4 % lost each way in bursts of 3."""

import json
from pathlib import Path

import pytest

from slownet.cli import app as cli
from slownet.links.conditions.impairment import GilbertElliott
from slownet.links.conditions.link import Condition
from slownet.links.traces import pinglog
from slownet.model.errors import ConditionError, TraceError

DATA = Path(__file__).parent / "data"
LOST = [45, 46, 47, 48, 49, 53, 54, 55, 56, 57]


def line(number, ms="20.0", clock=""):
    return f"{clock}64 bytes from 10.0.0.2: icmp_seq={number} ttl=64 time={ms} ms"


def test_a_log_with_times():
    log = pinglog.load(DATA / "ping-D-O.txt")
    assert [number for number, lost in enumerate(log.lost, 1) if lost] == LOST
    assert len(log.rtts) == 50
    assert log.pings[0].rtt == pytest.approx(0.0278)
    assert log.pings[1].at == pytest.approx(1795347736.479113 - 0.0344 - (1795347736.271503 - 0.0278), abs=1e-6)
    assert log.interval == pytest.approx(0.2, abs=0.002)
    # A lost ping lies between its neighbours, as ping -O reported it: one interval before the report.
    assert log.pings[46].at == pytest.approx(1795347745.688002 - 0.204 - (1795347736.271503 - 0.0278), abs=0.02)
    assert [each.at for each in log.pings] == sorted(each.at for each in log.pings)


def test_a_log_without_times_has_those_of_its_summary():
    log = pinglog.load(DATA / "ping-plain.txt")
    assert log.interval == pytest.approx(7.829 / 39)
    assert (log.loss, len(log.pings)) == (0, 40)
    assert log.bursts is None
    assert pinglog.load(DATA / "ping-plain.txt", interval="3s").pings[2].at == 6


def test_a_log_that_ends_suddenly():
    text = (DATA / "ping-D-O.txt").read_text()
    assert len(pinglog.parse(text[: text.index("---")]).pings) == 60
    assert len(pinglog.parse("\n".join([line(1), line(2), line(4)])).pings) == 4


def test_what_was_lost_at_the_end_and_the_beginning():
    summary = "6 packets transmitted, 2 received, 66.6667% packet loss, time 5000ms"
    assert pinglog.parse(f"{line(2)}\n{line(3)}\n\n--- 10.0.0.2 ping statistics ---\n{summary}\n").lost == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]


def test_numbers_that_begin_again_doubles_and_late_ones():
    log = pinglog.parse("\n".join(map(line, [65534, 65535, 0, 2, 1, 1])) + "\n" + line(3) + " (DUP!)")
    assert len(log.pings) == 6
    assert not any(log.lost)


def test_other_pings():
    answers = [f"64 bytes from 1.1.1.1: seq={number} ttl=57 time=9.614 ms" for number in (0, 2)]
    busybox = "\n".join(["PING 1.1.1.1 (1.1.1.1): 56 data bytes", *answers])
    assert pinglog.parse(busybox).lost == [False, True, False]
    unreachable = "\n".join([line(1), "From 10.0.0.1 icmp_seq=2 Destination Host Unreachable", line(3)])
    assert pinglog.parse(unreachable).lost == [False, True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{line(1)}\nhello\n", "'hello' is not a line of ping's, home.txt line 2: make the log with LC_ALL=C ping -D HOST"),
        (line(1).replace("time", "czas"), "is not a line of ping's, home.txt line 1"),
        (line(1), "too few pings were answered (1), home.txt"),
        (
            f"{line(1)}\n{line(2)}\n999999999 packets transmitted, 2 received, 99% packet loss, time 9ms\n",
            "999999999 pings, home.txt: a log has at most 10000000",
        ),
        (f"{line(1)}\n[{'9' * 400}.5] {line(2)}\n", "is not a line of ping's, home.txt line 2"),
        ("", "too few pings were answered (0)"),
    ],
)
def test_what_is_no_log(text, message):
    with pytest.raises(TraceError) as caught:
        pinglog.parse(text, "home.txt")
    assert message in str(caught.value)


def test_a_link_follows_the_log():
    text = "\n".join(map(line, [1, 2, 4, 7, 8], ["20", "40", "60", "80", "80"]))
    log = pinglog.parse(text, interval=0.5)
    states = list(log.schedule("1s").states(Condition.parse(rate="1Mbit")))
    assert [state.at for state in states] == [0, 1, 2, 3]
    assert [state.condition.rtt for state in states] == [0.030, 0.060, 0.060, 0.080]
    assert [state.condition.cut for state in states] == [False, False, True, False]
    assert 1 - (1 - states[1].condition.loss.mean) ** 2 == pytest.approx(0.5)
    assert all(state.condition.rate_up == 1e6 for state in states)
    assert log.schedule("1s").cuts
    again = log.schedule("1s", repeat=True).states(Condition())
    assert [next(again).at for _ in range(6)] == [0, 1, 2, 3, 4, 5]


def test_a_sample_of_a_log():
    log = pinglog.load(DATA / "ping-D-O.txt")
    condition = log.condition()
    assert condition.rtt == pytest.approx(sum(log.rtts) / 50)
    assert condition.up == pytest.approx(0.0138)
    assert condition.jitter_up == 0
    assert (1 - condition.loss.mean) ** 2 == pytest.approx(1 - log.bursts.mean)
    assert condition.loss.burst == log.bursts.burst == 5
    assert hash(condition) == hash(log.condition())
    with pytest.raises(ConditionError, match="2 numbers are not a distribution"):
        pinglog.parse(f"{line(1)}\n{line(2)}").condition()


def test_gilberts_model_of_losses():
    lost = [letter == "x" for letter in "....xx...x..xxx....."]
    assert GilbertElliott.fitted(lost) == GilbertElliott(3 / 13, 3 / 6)
    assert GilbertElliott.fitted([False, True, True]) == GilbertElliott(1.0, 1.0)
    with pytest.raises(ConditionError, match="0 of 2 packets lost"):
        GilbertElliott.fitted([False, False])


def test_the_command(capsys, tmp_path):
    def printed(*words):
        with pytest.raises(SystemExit) as ended:
            cli.main(["field", "trace", *map(str, words)])
        assert ended.value.code == 0
        return capsys.readouterr().out

    text = printed(DATA / "ping-D-O.txt")
    assert "lost             10\nloss             16.67 %\nmin rtt          27.6 ms\n" in text
    assert "bursts           gemodel 4.082% 20% (16.95 % in bursts of 5 pings)\n" in text
    (tmp_path / "mobile.up").write_text("\n".join(map(str, range(1, 2001))))
    found = json.loads(printed(tmp_path / "mobile.up", "--json"))
    assert (found["duration_s"], found["packets"], found["mean_rate_bit_s"], found["rate_p5_bit_s"]) == (2.0, 2000, 12e6, 12e6)
    assert "mean rate        12 Mbit\n" in printed(tmp_path / "mobile.up")


def test_the_command_and_a_bad_file(capsys, tmp_path):
    (tmp_path / "bad.up").write_text("1\n2\nthree\n")
    with pytest.raises(SystemExit) as ended:
        cli.main(["field", "trace", str(tmp_path / "bad.up")])
    assert ended.value.code == 2
    assert "'three' is not a time" in (line := capsys.readouterr().err)
    assert "bad.up line 3" in line
