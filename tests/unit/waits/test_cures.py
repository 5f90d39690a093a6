"""What would shorten an account: each promise is the time of steps that it names."""

import pytest
from accounts import Path, mixed, page, repeated

from slownet.waits.account import Cause
from slownet.waits.account_text import text
from slownet.waits.cures import cures


def found(account, cell=None, tool=""):
    return {each.name: each for each in cures(account, cell, tool)}


def test_slow_start_is_cured_by_a_larger_first_window():
    path = Path().shake("client", "web", 20.0)
    for _ in range(2):
        path.trip("web", "client", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
        path.trip("client", "web", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
    account = path.account()
    cure = found(account)["a first window of 100 segments"]
    assert (cure.saves_ns, cure.because, cure.not_switched) == (80_000_000, "2 round trips of window", "")
    assert dict(cure.settings) == {"initcwnd": "100", "initrwnd": "100"}
    assert cure.remains_ns(account) == 40_000_000
    assert "a first window of 100 segments saves 80 ms (2 round trips of window)" in text(account)
    assert "no slow start after a rest" not in found(account)


def test_a_connection_that_was_kept_may_have_rested():
    path = Path().trip("web", "client", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
    cure = found(path.account())["no slow start after a rest"]
    assert dict(cure.settings) == {"net.ipv4.tcp_slow_start_after_idle": "0"}


def test_a_handshake_is_saved_by_a_kept_connection_which_only_some_clients_can_be_told():
    path = Path().shake("client", "web", 20.0).trip("client", "web", 20.0, Cause.TLS, "ClientHello")
    path.trip("web", "client", 20.0, Cause.TLS, "ServerHello").shake("web", "db", 10.0)
    account = path.account()
    assert found(account, tool="ab")["a kept connection to web"].settings == {"keep-alive": "1"}
    assert found(account, tool="curl")["a kept connection to web"].not_switched == "a setting of the program"
    kept = found(account, tool="ab")
    assert kept["a kept connection to web"].saves_ns == 80_000_000
    assert kept["TLS with 0-RTT to web"].saves_ns == 40_000_000
    assert kept["a kept connection between db and web"].not_switched == "a setting of the program"


def test_a_wait_for_a_delayed_ack_has_two_cures():
    path = (
        Path().stay("web", 40.0, Cause.NAGLE, "the ACK was delayed").trip("web", "client", 5.0, Cause.NAGLE, "a small segment")
    )
    cured = found(path.account())
    assert (cured["every ACK at once"].saves_ns, dict(cured["every ACK at once"].settings)) == (40_000_000, {"quickack": "1"})
    assert cured["TCP_NODELAY, or one write"].saves_ns == 45_000_000


def test_a_loss_and_a_rate_are_switched_where_the_cell_has_them():
    path = Path().stay("client", 200.0, Cause.RETRANSMISSION, "timeout").stay("web", 30.0, Cause.SERIALISATION, "1,500 bytes")
    cell = {"loss": "1%", "rate": "10Mbit", "rtt": "40ms"}
    cured = found(path.account(), cell)
    assert cured["no loss"].conditions == {"loss": "0%"}
    assert dict(cured["a least timeout of 10 ms"].settings) == {"rto_min": "10ms"}
    assert (cured["twice the rate"].saves_ns, cured["twice the rate"].conditions) == (15_000_000, {"rate": "20Mbit"})
    without = found(path.account(), {"rtt": "40ms", "loss": "0%"})
    assert without["no loss"].not_switched
    assert without["twice the rate"].not_switched


def test_many_questions_that_differ_by_their_values_are_one():
    cure = found(page())["one question for 20: SELECT * FROM items WHERE id = ?"]
    assert cure.saves_ns == 190_000_000  # 19 of 20 round trips of 10 ms
    assert found(page())["a pipeline between db and web"].saves_ns == 190_000_000
    assert "a pipeline to web" not in found(page())  # one question and its answer


def test_a_whole_handshake_of_tls_1_2_is_twice_as_long_as_that_of_1_3():
    path = Path().shake("client", "web", 20.0)
    for detail in ("Hello", "Finished"):
        path.trip("client", "web", 20.0, Cause.TLS, detail).trip("web", "client", 20.0, Cause.TLS, detail)
    account = path.ask("client", "web").account()
    assert found(account)["TLS 1.3 to web"].saves_ns == 40_000_000
    assert found(account)["TLS with 0-RTT to web"].saves_ns == 80_000_000
    two = Path().shake("client", "web").trip("client", "web", 20.0, Cause.TLS).trip("web", "client", 20.0, Cause.TLS).account()
    assert not [name for name in found(two) if name.startswith("TLS 1.3")]


def test_the_largest_cure_comes_first_also_one_of_questions_and_is_whole():
    path = Path()
    for each in range(7):
        path.ask("client", "web", f"GET /{'long' * 30}/{each}", 10.0)
    account = path.stay("web", 3.0, Cause.TIMER, "nothing arrived meanwhile").account()
    lines = text(account).splitlines()
    most = cures(account)[0]
    first = next(at for at, line in enumerate(lines) if line.startswith(most.name))
    assert lines[first].startswith("a pipeline to web saves 120 ms (all but one of 7 round trips")
    assert not [line for line in lines[:first] if " saves " in line and "round trip less" not in line]
    assert "..." not in lines[first]


def test_a_wait_that_a_clock_cannot_tell_from_computing_is_no_faster_program():
    either = "or a timer: this clock charges for CPU, and cannot tell"
    path = Path().stay("client", 1001.0, Cause.COMPUTING, either).stay("client", 20.0, Cause.COMPUTING)
    path.stay("web", 20.0, Cause.COMPUTING, "the clock is read")
    cured = found(path.account())
    assert cured["a program that waits or computes less on client"].saves_ns == 1_001_000_000
    assert cured["a faster program on client"].saves_ns == 20_000_000
    assert "a faster program on web" not in cured


def test_what_only_a_program_can_change_is_named_with_its_host():
    assert found(page())["removing the wait of the program on web"].saves_ns == 12_000_000


@pytest.mark.parametrize("account", [page(), repeated(), mixed()], ids=["page", "repeated", "mixed"])
def test_no_cure_promises_more_than_there_is(account):
    for each in cures(account, {"loss": "1%", "rate": "1Mbit"}, "ab"):
        assert 0 < each.saves_ns <= account.elapsed_ns
        assert each.because
        assert bool(each.settings or each.conditions) != bool(each.not_switched)
