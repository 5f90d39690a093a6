"""Sleeping calls, from the output of strace 6.13 in a lab."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.net import sleeping_calls
from slownet.net.sleeping_calls import of_lines, read, under_strace, written

OUTPUT = """\
31<python3> 1795959931.176463616 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, {tv_sec=60, tv_nsec=211511744}, NULL) = 0 <0.035047936>
31<python3> 1795959931.211517696 pselect6(0, NULL, NULL, NULL, {tv_sec=0, tv_nsec=20000000}, NULL) = 0 (Timeout) <0.020052992>
31<python3> 1795959931.231576832 poll([], 0, 20) = 0 (Timeout) <0.020052992>
31<python3> 1795959931.251635968 epoll_wait(3, [], 1023, 20) = 0 <0.020052992>
31<python3> 1795959931.271696128 futex(0x7f7fffeae5b0, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=60, tv_nsec=291744256}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.020047872>
31<python3> 1795959931.291983104 poll([{fd=4, events=POLLIN}], 1, 500) = 1 ([{fd=4, revents=POLLIN}]) <0.020052992>
31<python3> 1795959931.291983104 poll([{fd=4, events=POLLIN}], 1, 500) = 1 ([{fd=4, revents=POLLIN}]) <0.000002000>
31<my (odd> name> 1795959931.3 flock(5, LOCK_EX) = 0 <0.080000000>
31<python3> 1795959931.3 fcntl(5, F_GETFL) = 0x2 (flags O_RDWR) <0.080000000>
40<ping> 1795959931.227953664 setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=50000}}, NULL) = 0 <0.000002000>
40<ping> 1795959931.227953664 setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=0}}, NULL) = 0 <0.000002000>
40<sh> 1795959931.1 alarm(2) = 0 <0.000002000>
40<go> 1795959931.1 timerfd_settime(4, TFD_TIMER_ABSTIME, {it_interval={tv_sec=0, tv_nsec=0}, it_value={tv_sec=70, tv_nsec=0}}, NULL) = 0 <0.000002000>
50<b> 1795959931.100000000 poll([{fd=4, events=POLLIN}], 1, 30 <unfinished ...>
51<b> 1795959931.110000000 nanosleep({tv_sec=0, tv_nsec=10000000}, NULL) = 0 <0.010052992>
50<b> 1795959931.130000000 <... poll resumed>) = 0 (Timeout) <0.030052992>
52<b> 1795959931.140000000 epoll_wait(3, <unfinished ...>
52<b> 1795959931.150000000 <... epoll_wait resumed>[], 16, 10) = 0 <0.010052992>
60<c> 1795959931.16 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---
60<c> 1795959931.16 poll([{fd=4, eve"""  # noqa: E501


def test_each_call_that_slept_with_its_limit_and_how_it_ended():
    found = [(each.program, each.call, each.limit_ms, each.ended) for each in read("web", OUTPUT)]
    assert found == [
        ("python3", "sleep", 34.997936, "limit"),
        ("python3", "select", 20.0, "limit"),
        ("python3", "poll", 20.0, "limit"),
        ("python3", "epoll_wait", 20.0, "limit"),
        ("python3", "futex", 19.997872, "limit"),
        ("python3", "poll", 500.0, "woken"),
        ("my (odd> name", "flock", None, "woken"),
        ("ping", "setitimer", 50.0, "limit"),
        ("sh", "alarm", 2000.0, "limit"),
        ("b", "sleep", 10.0, "limit"),
        ("b", "poll", 30.0, "limit"),
        ("b", "epoll_wait", 10.0, "limit"),
    ]


def test_times_are_those_of_the_call_or_of_its_timer():
    found = {each.call: each for each in read("web", OUTPUT)}
    assert (found["sleep"].begin_ns, found["sleep"].end_ns) == (1795959931_110000000, 1795959931_120052992)
    assert found["alarm"].end_ns - found["alarm"].begin_ns == 2 * 10**9
    assert found["poll"].begin_ns == 1795959931_100000000  # when it was entered, not when it went on


def test_what_is_written_is_read_again():
    calls = list(read("web", OUTPUT))
    assert of_lines(written(calls)) == calls


@pytest.mark.parametrize(
    "change", [{"host": 1}, {"begin_ns": "1"}, {"begin_ns": True}, {"limit_ms": "x"}, {"more": 1}, {"process": None}]
)
def test_a_file_that_a_lab_has_made_up_is_one_line(change):
    (first, *_) = written(list(read("web", OUTPUT))).splitlines()
    with pytest.raises(ToolError, match="not a line of calls"):
        of_lines(json.dumps({**json.loads(first), **change}))
    with pytest.raises(ToolError, match="not a line of calls"):
        of_lines("[1]\n")


def test_programs_run_as_they_are_unless_calls_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.delenv(sleeping_calls.VARIABLE, raising=False)
    assert under_strace("web", ("true",), None) == ["true"]
    monkeypatch.setenv(sleeping_calls.VARIABLE, "1")
    monkeypatch.setattr(sleeping_calls.strace, "is_there", lambda: True)
    monkeypatch.setattr(sleeping_calls.owner, "directory", lambda: tmp_path)
    words = under_strace("web", ("true", "-x"), None)
    assert (words[0], words[-3:]) == ("strace", ["--", "true", "-x"])
    for plain in (["tcpdump"], ["strace", "true"], ["no-such-program-anywhere"]):
        assert under_strace("web", plain, None) == plain
    assert under_strace("web", ("/of/a/container/crun", "run"), None) == ["/of/a/container/crun", "run"]
    assert under_strace("web", ("/of/a/container/crun", "run"), None, mounted=True)[-3:] == [
        "--",
        "/of/a/container/crun",
        "run",
    ]
    monkeypatch.setattr(sleeping_calls.strace, "is_there", lambda: False)
    assert under_strace("web", ("true",), None) == ["true"]


def test_calls_of_the_time_that_is_asked_for_are_taken_once(monkeypatch, tmp_path):
    monkeypatch.setattr(sleeping_calls.owner, "directory", lambda: tmp_path)
    (tmp_path / "sleeping-calls-web").write_text(OUTPUT)
    found = sleeping_calls.taken(1795959931_000000000, 1795959931_125000000)
    assert [(each.host, each.call) for each in found] == [("web", "sleep")]
    assert sleeping_calls.taken(0, 2**63) == []
