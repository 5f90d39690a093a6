"""Timers of programs get the names of their calls."""

import pytest
from told import Told, opened

from slownet.net.sleeping_calls import SleepingCall
from slownet.waits import timers
from slownet.waits.account import Cause
from slownet.waits.account_text import answer, text
from slownet.waits.door import account

MS = 1_000_000
BEGAN = 1_700_000_000 * 10**9


@pytest.fixture
def slept(tmp_path):
    """An account of a page for which the web server waited 100 ms, from 60 ms on."""
    told = Told(tmp_path)
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET / HTTP/1.0\r\n\r\n")
    told.say("web", "client", "PA", 501, 119, at=160.0, came=180.0, ports=(80, 40000), payload=b"HTTP/1.0 200 OK")
    return account(told.captures())


def call(begin, end, *, name="sleep", program="php-fpm", process=7, limit=None, ended="limit", host="web"):
    return SleepingCall(host, program, process, name, BEGAN + int(begin * MS), BEGAN + int(end * MS), limit, ended)


def detail(found, cause=Cause.TIMER):
    (step,) = (each for each in found.of(cause) if each.ms > 1)
    return step.detail


def test_a_limit_that_ended_with_the_wait(slept):
    found = timers.named(slept, [call(60.01, 159.99, name="poll", limit=100.0)])
    assert detail(found) == "php-fpm: poll with limit 100 ms"
    assert answer(found).endswith("100 ms timer of the program on web (php-fpm: poll with limit 100 ms)")
    assert timers.unnamed(found) == timers.unnamed(slept) == timers.nameless(slept) == 100 * MS
    assert timers.nameless(found) == 0


def test_several_sleeps_of_one_process_are_counted(slept):
    calls = [call(60, 90, limit=30.0), call(90, 120, limit=30.0), call(120, 160, name="select", limit=40.0)]
    beside = [call(70, 80, process=8, program="cron", limit=10.0), call(60, 160, host="client", program="curl", limit=100.0)]
    assert detail(timers.named(slept, [*calls, *beside])) == "php-fpm: 2 x sleep of 30 ms, select with limit 40 ms"


def test_a_lock_is_told_from_a_sleep(slept):
    calls = [call(60, 140, name="flock", ended="woken"), call(140, 160, limit=20.0)]
    assert detail(timers.named(slept, calls)) == "php-fpm: lock flock for 80 ms, sleep of 20 ms"
    assert detail(timers.named(slept, [call(60, 160, name="flock", ended="woken")])) == "php-fpm: lock flock for 100 ms"


def test_what_began_with_the_wait_is_its_timer_not_what_ended_by_chance(slept):
    calls = [call(-900, 160, name="epoll_wait", program="redis", process=3, limit=1060.0), call(60, 160, limit=100.0)]
    assert detail(timers.named(slept, calls)) == "php-fpm: sleep of 100 ms"


@pytest.mark.parametrize(
    "other",
    [call(60, 158.9, limit=98.9), call(60, 160, ended="woken"), call(60, 160, host="client"), call(60, 161, limit=101.0)],
)
def test_another_call_gives_no_name(slept, other):
    assert detail(timers.named(slept, [other])) == detail(slept) == "nothing arrived meanwhile"


def test_a_packet_that_another_process_sent_a_little_later(slept):
    """A program slept, and asked the server on its host, whose calls strace delays; another one's limit ended long before."""
    calls = [call(60, 159.6, limit=99.6), call(60, 158.9, limit=98.9, process=8, program="cron")]
    assert detail(timers.named(slept, calls)) == "php-fpm: sleep of 99.6 ms"


def test_an_alarm(slept):
    assert detail(timers.named(slept, [call(20, 160.02, name="alarm", limit=140.0)])) == "php-fpm: alarm after 140 ms"


def test_names_of_a_second_measurement_go_to_the_waits_of_the_first(slept):
    other = timers.named(slept, [call(60, 160, name="poll", limit=100.0)])
    assert detail(timers.named_alike(slept, other)) == "php-fpm: poll with limit 100 ms"
    assert timers.named_alike(slept, other).elapsed_ns == slept.elapsed_ns


def test_a_wait_of_another_length_is_another_one(slept, tmp_path_factory):
    told = Told(tmp_path_factory.mktemp("other"))
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET / HTTP/1.0\r\n\r\n")
    told.say("web", "client", "PA", 501, 119, at=110.0, came=130.0, ports=(80, 40000), payload=b"HTTP/1.0 200 OK")
    other = timers.named(account(told.captures()), [call(60, 110, limit=50.0)])
    assert detail(timers.named_alike(slept, other)) == "nothing arrived meanwhile"


def test_the_text_has_lines_of_80_columns(slept):
    calls = [call(60 + 20 * each, 80 + 20 * each, name=name, limit=20.0 + each, program="a-long-name-of-a-process")
             for each, name in enumerate(("sleep", "select", "poll", "epoll_wait", "futex"))]  # fmt: skip
    lines = text(timers.named(slept, calls)).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("...") for line in lines)


@pytest.fixture
def queued(tmp_path):
    """An account of a question that was answered 100 ms after it had come; another one had been answered in the middle."""
    told = Told(tmp_path)
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"first", ports=(40001, 80))
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET / HTTP/1.0\r\n\r\n")
    told.say("web", "client", "PA", 501, 106, at=110.0, came=130.0, ports=(80, 40001), payload=b"first's")
    told.say("web", "client", "PA", 501, 119, at=160.0, came=180.0, ports=(80, 40000), payload=b"HTTP/1.0 200 OK")
    return account(told.captures(), whole=True)


def parts(found):
    return [(each.cause, each.ns // MS, each.detail) for each in found.steps if each.cause in (Cause.TIMER, Cause.WAITING)]


def test_a_process_that_slept_for_another_request_first(queued):
    """Also where both waits are those of a second measurement."""
    assert parts(queued) == [(Cause.TIMER, 100, "nothing arrived meanwhile")]
    own = [call(60, 110, limit=50.0), call(110.01, 160, limit=50.0)]
    split = [
        (Cause.WAITING, 50, "php-fpm: it worked for a request that had come before"),
        (Cause.TIMER, 50, "php-fpm: sleep of 50 ms"),
    ]
    found = timers.named(queued, own)
    assert parts(found) == parts(timers.named_alike(queued, found)) == split
    assert found.elapsed_ns == queued.elapsed_ns
    assert all(one.end_ns == other.begin_ns for one, other in zip(found.steps, found.steps[1:], strict=False))


@pytest.mark.parametrize(
    "calls",
    [
        [call(60, 160, limit=100.0), call(60, 110, limit=50.0, process=8)],  # a thread for each
        [call(60, 110, name="epoll_wait", limit=50.0), call(110, 160, name="epoll_wait", limit=50.0)],  # a loop has many
        [call(60, 90, limit=30.0), call(90, 160, limit=70.0)],  # none was answered then
        [call(60, 110, limit=50.0), call(110, 160, limit=50.0), call(60, 110, limit=50.0, process=8)],  # it may be the other
    ],
)
def test_a_process_that_slept_for_one_request(queued, calls):
    assert [cause for cause, _, _ in parts(timers.named(queued, calls))] == [Cause.TIMER]
