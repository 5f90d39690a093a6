"""What a lab reports of an operation: its instants, and the last line of a server that fails."""

import contextlib
from types import SimpleNamespace

import pytest

from slownet.costs import inside
from slownet.costs.judging import RTTS
from slownet.model.errors import ServiceError

S = 10**9


def test_an_operation_begins_after_its_clock_was_read_and_ends_before_the_next_begins():
    found = inside._by_client([(0.1, 10 * S), (0.3, 10 * S + 100_010_000), (0.0, 12 * S)])
    assert [each.seconds for each in found] == [0.1, 0.3, 0.0]
    assert found[0].latest_ns == found[1].begin_ns - 1
    assert [each.begin_ns - inside.READING_NS for each in found] == [10 * S, 10 * S + 100_010_000, 12 * S]
    assert found[1].end_ns - found[1].begin_ns == 300_000_000 + inside.ROUNDING_NS
    assert found[1].latest_ns - found[1].begin_ns == 300_000_000 + inside.ENDING_NS


def test_a_begin_keeps_its_last_digit():
    """A float of seconds since 1970 is up to 119 ns off, while an answer and the next question are one us apart."""
    assert inside._ns("1795959951.732378") == 1795959951732378000
    assert inside._ns("") == 0


def test_operations_that_begin_at_one_instant_have_no_end_before_their_begin():
    assert all(each.latest_ns >= each.end_ns >= each.begin_ns for each in inside._by_client([(0.0, 10 * S), (0.0, 10 * S)]))


@pytest.mark.parametrize(("latest", "shown"), [(3.0, 3.0), (2.5, 2.0), (0, 2.0)])
def test_a_question_that_came_next_is_not_of_the_operation(monkeypatch, latest, shown):
    shown_until = {1: {"trips": 2.0, "parts": ["x"]}, 2: {"trips": latest, "parts": ["x"] if latest else []}}
    monkeypatch.setattr(inside, "account_of", lambda _, begin, end: shown_until[end])
    assert inside._shown(None, inside._Timed(0.1, 0, 1, 2))["trips"] == shown


@pytest.mark.parametrize(("trips", "agrees"), [(4.0, True), (3.5, False), (0, False)])
def test_an_account_agrees_if_it_has_the_round_trips_of_the_times(trips, agrees):
    """20 ms besides four round trips; the first time, at another delay, does not count."""
    taken = {20: {"get": 9.0}, **{rtt: {"get": 0.02 + 4 * rtt / 1000} for rtt in RTTS}}
    assert inside._agrees({"trips": trips, "parts": []}, "get", taken) is agrees


def test_packets_are_captured_again_for_what_has_not_agreed(monkeypatch):
    """Of two operations one shows another number the first time; once both agree, nothing is done any more."""
    taken = {rtt: {"a": 0.001 * rtt, "b": 0.002 * rtt} for rtt in RTTS}
    times = iter([{"a": 1.0, "b": 3.0}, {"a": 7.0, "b": 2.0}])
    monkeypatch.setattr(inside, "Captured", lambda net, client: contextlib.nullcontext(SimpleNamespace(stop=lambda: None)))
    monkeypatch.setattr(inside, "_timed", lambda net, item, served: next(times))
    monkeypatch.setattr(inside, "_shown", lambda captured, each: {"trips": each, "parts": ["x"]})
    shown = {}
    for _ in range(4):
        inside._account(None, {"index": 0}, {}, taken, shown)
    assert {name: each["trips"] for name, each in shown.items()} == {"a": 1.0, "b": 2.0}
    assert next(times, None) is None


def test_the_failure_of_a_server_has_the_last_line_of_its_log():
    error = ServiceError("x ended with status 3", "host 'server'", "its log is /gone", "first\nno config\n")
    assert inside._of_server(error) == "x ended with status 3, host 'server': its log ends with: no config"
    assert inside._of_server(ServiceError("x ended", "host 'server'", "its log is /gone")) == (
        "x ended, host 'server': its log is empty"
    )


@pytest.mark.parametrize(
    ("running", "says"),
    [(True, "refused"), (False, "x ended while it was measured, host 'server': its log ends with: no memory")],
)
def test_a_server_that_ended_is_why_its_client_failed(running, says):
    def error(what):
        return ServiceError(what, "host 'server'", "its log is /tmp/log", log="begun\nno memory\n")

    service = SimpleNamespace(running=running, name="x", error=error)
    failed = {1: "refused"}
    inside._blame(service, 1, failed)
    inside._blame(service, 2, failed)
    assert failed == {1: says}
