"""A command that waits forever on the virtual clock is ended after a limit without output."""

import os

import pytest
from conftest import one_line

LIMIT = ["--tdf", "inf", "--limit", "1h"]


def said(waiting):
    return f"the command said nothing for 3600 s of the lab's clock; what waits: {waiting}: the lab was stopped"


def test_it_says_what_everything_waits_for(execute):
    script = "sleep 1000000 & sleep 1000000 & python3 -c 'import signal; signal.pause()' & wait"
    done = execute("sh", "-c", script, options=LIMIT)
    assert one_line(done) == said("sh in sigsuspend, 2 sleep in clock_nanosleep, python3 in pause")


@pytest.mark.parametrize("options", [["--tdf", "4"], ["--tdf", "inf"]], ids=" ".join)
def test_what_wakes_up_now_and_then_but_says_nothing_is_given_up_too(execute, options):
    done = execute("sh", "-c", "while :; do sleep 700; done", options=[*options, "--limit", "1h"])
    assert one_line(done) == said("sh in wait4, sleep in clock_nanosleep")


def test_who_says_something_in_time_goes_on(execute):
    done = execute("sh", "-c", "for i in 1 2 3; do sleep 3000; echo $i; done; sleep 3000", options=LIMIT)
    assert (done.returncode, done.stdout) == (0, b"1\n2\n3\n")


def test_who_may_still_be_told_something_is_waited_for(execute):
    reading, writing = os.pipe()
    command = execute.start("sh", "-c", "sleep 10000; echo slept; read word; echo $word", options=LIMIT, stdin=reading)
    os.close(reading)
    assert command.stdout.readline() == b"slept\n"
    os.write(writing, b"on\n")
    os.close(writing)
    assert command.communicate() == (b"on\n", b"")
    assert command.returncode == 0


def test_the_real_clock_has_no_limit(execute):
    done = execute("sleep", "2", options=["--clock", "real", "--limit", "1s"])
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("limit", "wrong"), [("0s", "a limit of 0s is too short, --limit: give a second or more"), ("9", "has no unit")]
)
def test_a_limit_that_is_none(execute, limit, wrong):
    assert wrong in one_line(execute("true", options=["--limit", limit]))
