"""What a lab reports of an operation: its instants, and the last line of a server that fails."""

from itertools import pairwise

import pytest

from slownet.costs import inside
from slownet.model.errors import ServiceError


def test_an_operation_begins_after_its_clock_was_read_and_ends_before_the_next_begins():
    found = inside._by_client([(0.1, 10.0), (0.3, 10.10001), (0.0, 12.0)])
    assert [each.seconds for each in found] == [0.1, 0.3, 0.0]
    assert all(earlier.latest_ns < later.begin_ns for earlier, later in pairwise(found))
    assert [each.begin_ns - inside.READING_NS for each in found] == [10_000_000_000, 10_100_010_000, 12_000_000_000]
    assert found[1].end_ns - found[1].begin_ns == 300_000_000 + inside.ROUNDING_NS
    assert found[1].latest_ns - found[1].begin_ns == 300_000_000 + inside.ENDING_NS


def test_operations_that_begin_at_one_instant_have_no_end_before_their_begin():
    assert all(each.latest_ns >= each.end_ns >= each.begin_ns for each in inside._by_client([(0.0, 10.0), (0.0, 10.0)]))


@pytest.mark.parametrize(("latest", "shown"), [(3.0, 3.0), (2.5, 2.0), (0, 2.0)])
def test_a_question_that_came_next_is_not_of_the_operation(monkeypatch, latest, shown):
    shown_until = {1: {"trips": 2.0, "parts": ["x"]}, 2: {"trips": latest, "parts": ["x"] if latest else []}}
    monkeypatch.setattr(inside.accounts, "of", lambda _, begin, end: shown_until[end])
    assert inside._shown(None, inside._Timed(0.1, 0, 1, 2))["trips"] == shown


def test_the_failure_of_a_server_has_the_last_line_of_its_log():
    error = ServiceError("x ended with status 3", "host 'server'", "its log is /gone", "first\nno config\n")
    assert inside._of_server(error) == "x ended with status 3, host 'server': its log ends with: no config"
    assert inside._of_server(ServiceError("x ended", "host 'server'", "its log is /gone")) == (
        "x ended, host 'server': its log is empty"
    )
