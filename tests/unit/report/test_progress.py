"""Progress: what is said of a run in progress, and how a terminal, a pipe and a notebook show it."""

import io
import re

import pytest
from rich.console import Console

from slownet.report import progress
from slownet.report.progress import Follower, Lines, RunProgress, Terminal, clock

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def cell(lab=1, **values):
    return {"event": "cell", "lab": lab, "cell": values}


def sample(mean, lab=1, error=None, virtual_s=1.0, sd=None, n=1):
    metrics = {"time_per_request_ms": {"mean": mean, "sd": sd, "n": n}}
    return {"event": "sample", "lab": lab, "error": error, "virtual_s": virtual_s, "metrics": metrics}


def test_time_left_and_time_saved():
    going = RunProgress("shop", 4)
    assert going.progress(100.0) == "0 of 4, 0:00"
    going.take({"event": "facts"}, 100.0)
    assert going.activity(101.0) == "services up"
    going.take(cell(rtt="10ms"), 102.0)
    going.take(sample(50.0, virtual_s=400.0), 110.0)
    assert going.progress(110.0) == "1 of 4, 0:10, 0:24 left"
    assert going.activity(110.0) == "rtt 10ms: 50.00 ms; 6:30 saved"
    going.take({"event": "planned", "cells": 8, "why": ""}, 120.0)
    assert going.progress(120.0) == "1 of 8, 0:20, 0:58 left"
    assert going.activity(120.0) == "booting again; 6:20 saved"
    assert going.summary(130.0) == "1 measurements in 0:30; the virtual clock saved 6:10"
    assert going.saved_s(1000.0) == 0


def test_a_boot_and_a_warm_up_are_no_part_of_what_a_measurement_takes():
    """Timings of a run of twelve measurements: a boot of 9 s, a warm-up of 53 s, then 4 s each; a second boot's plan later."""
    going = RunProgress("own", 12)
    going.take({"event": "facts"}, 9.0)
    going.take({"event": "warming", "index": 0, "cell": {"way": "a", "rtt": "0ms"}, "done": 5, "of": 30, "note": ""}, 12.0)
    assert going.activity(12.0) == "warming up way a rtt 0ms: 5 of 30"
    assert going.left_s(12.0) is None
    for number in range(12):
        began = 62.0 + 4 * number
        going.take(cell(rtt=f"{number}ms"), began)
        going.take(sample(1.0), began + 4)
        truth = 62.0 + 4 * 12 - (began + 4)
        assert (going.left_s(began + 4) or 0.0) == pytest.approx(truth)
    going.take({"event": "end", "virtual_s": 1.0}, 111.0)
    going.take({"event": "planned", "cells": 24, "why": ""}, 112.0)
    assert going.left_s(112.0) == pytest.approx(53.0 + 12 * 4)  # what the first boot took, and twelve more
    assert going.left_s(150.0) == pytest.approx(53.0 + 12 * 4 - 38)
    assert going.left_s(200.0) == pytest.approx(12 * 4)  # a boot that takes longer than the first
    going.take(cell(rtt="0ms"), 201.0)
    assert going.left_s(203.0) == pytest.approx(12 * 4 - 2)


def test_two_labs_at_once_take_half_the_time():
    going = RunProgress("own", 10)
    for number in range(4):
        for lab in (1, 2):
            going.take(cell(lab, rtt="0ms"), 10.0 + 4 * number)
        for lab in (1, 2):
            going.take(sample(1.0, lab), 14.0 + 4 * number)
    assert going.left_s(26.0) == pytest.approx(4.0)


def test_a_warm_up_that_real_time_ended_is_one_line(capsys):
    follower = Follower({"own": 4}, Lines)
    event = {
        "event": "warming",
        "index": 1,
        "cell": {},
        "done": 9,
        "of": 30,
        "note": "the warm-up ended after 11 s with 9 of 30 operations",
    }
    with follower:
        follower("own", event)
        follower("own", {**event, "index": 2})
    assert capsys.readouterr().err == "slownet: own: the warm-up ended after 11 s with 9 of 30 operations\n"


def test_an_estimate_has_an_interval():
    going = RunProgress("shop", 4)
    going.take(cell(rtt="10ms"), 0.0)
    assert going.activity(0.0) == "rtt 10ms"
    going.take(sample(50.0, sd=1.0, n=25), 1.0)
    first = going.estimate("rtt 10ms")
    assert (first.mean, first.half_width) == (50.0, pytest.approx(2.0639 / 5, rel=1e-4))  # Student's t with 24 degrees
    assert going.activity(1.0) == "rtt 10ms: 50.00 ± 0.41 ms"
    for mean in (51.0, 52.0):
        going.take(sample(mean), 2.0)
    several = going.estimate("rtt 10ms")
    assert (several.mean, several.half_width) == (51.0, pytest.approx(4.3027 / 3**0.5, rel=1e-4))  # with 2 degrees


def test_parallel_labs():
    going = RunProgress("shop", 4)
    for lab, rtt in ((2, "40ms"), (1, "10ms")):
        going.take(cell(lab, rtt=rtt), 0.0)
    going.take(sample(170.0, lab=2), 1.0)
    assert going.activity(1.0) == "rtt 10ms; rtt 40ms: 170.0 ms"
    going.take({"event": "end", "lab": 1}, 2.0)
    assert going.activity(2.0) == "rtt 40ms: 170.0 ms"


def test_another_metric_and_a_failed_sample():
    going = RunProgress("shop", 3)
    going.take(cell(loss="1%"), 0.0)
    going.take({"event": "sample", "error": "it broke", "metrics": {}}, 1.0)
    going.take({"event": "sample", "error": None, "metrics": {"mbit_per_s": {"mean": 93.2, "sd": None, "n": 1}}}, 1.0)
    assert (going.done, going.activity(1.0)) == (2, "loss 1%: 93.20 Mbit/s")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (760, "12:40"), (3723, "1:02:03")])
def test_a_duration(seconds, text):
    assert clock(seconds) == text


def shown(width, monkeypatch, **environment):
    """Return what a terminal of that many columns gets."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True)
    names = {"a_rather_long_experiment": 4, "shop": 2}
    follower = Follower(names, lambda runs: Terminal(runs, console))
    follower("shop", cell(rtt="10ms", loss="0.1%"))
    follower("shop", sample(50.0, error="遅い"))
    console.print(follower._shown)
    return file.getvalue()


def test_forty_columns_are_enough(monkeypatch):
    text = shown(40, monkeypatch)
    lines = ESCAPE.sub("", text).replace("\r", "").splitlines()
    assert max(map(len, lines)) <= 40
    assert any("1 of 2" in line for line in lines)
    assert any("rtt 10ms loss 0.1%: 50.00 ms" in line for line in lines)
    assert "━" not in text
    assert "━" in shown(80, monkeypatch)


def test_of_many_experiments_those_that_are_measured(monkeypatch):
    file = io.StringIO()
    console = Console(file=file, width=80, height=8, force_terminal=True)
    follower = Follower({f"shop{number}": 2 for number in range(9)}, lambda runs: Terminal(runs, console))
    for number in range(6):
        follower(f"shop{number}", cell(rtt="10ms"))
    for _ in range(2):
        follower("shop0", sample(50.0))
    console.print(follower._shown)
    lines = ESCAPE.sub("", file.getvalue()).splitlines()
    assert [line.split()[0] for line in lines if "0 of 2" in line] == ["shop1", "shop2", "shop3"]
    assert lines[-1] == "3 more, 3 waiting"
    assert len(lines) == 7


def test_no_color(monkeypatch):
    colours = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m|\x1b\[[0-9;]*38;")
    assert colours.search(shown(80, monkeypatch))
    assert not colours.search(shown(80, monkeypatch, NO_COLOR="1"))


def test_a_pipe_gets_whole_lines_now_and_then(monkeypatch, capsys):
    with Follower({"shop": 2}, Lines) as follower:
        follower("shop", cell(rtt="10ms"))
        follower("shop", sample(50.0))
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress, "EVERY_S", 0.0)
        follower("shop", cell(rtt="40ms"))
        follower("shop", sample(170.0, error="it broke"))
        follower("shop", sample(170.0, error="it broke"))
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"slownet: shop: 1 of 2, \d:\d\d, \d:\d\d left; rtt 40ms", lines[0])
    assert lines[1] == "slownet: shop: it broke"
    assert re.fullmatch(r"slownet: shop: 2 of 2, \d:\d\d; rtt 40ms: 170.0 ms", lines[2])
    assert lines.count("slownet: shop: it broke") == 1


def test_what_is_no_terminal_gets_lines(monkeypatch):
    assert progress._place() is Lines
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert progress._place() is Lines
    monkeypatch.setenv("TERM", "xterm")
    assert progress._place() is Terminal
