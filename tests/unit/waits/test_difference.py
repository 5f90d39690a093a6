"""Two accounts beside each other: which steps came, went or grew, and that all changes together are the difference."""

from dataclasses import replace

import pytest
from accounts import Path, mixed, page, repeated

from slownet.waits.account import Cause
from slownet.waits.account_text import LINES, WIDTH
from slownet.waits.difference import difference
from slownet.waits.difference_text import difference_answer, difference_text, effects, table

NAMES = ("runs/before", "runs/after")


def queries(*asked, ms=5.0, slept=0.0):
    path = (
        Path().shake("client", "web", 20.0).trip("client", "web", 20.0, asked="GET /", connection="10.0.0.1:4000 > 10.0.0.2:80")
    )
    for each in asked:
        path.trip("web", "db", ms, asked=each, connection="10.0.0.2:5000 > 10.0.0.3:3306")
        path.trip("db", "web", ms, asked="Response OK", connection="10.0.0.3:3306 > 10.0.0.2:5000")
    if slept:
        path.stay("web", slept, detail="nothing arrived meanwhile")
    path.trip("web", "client", 20.0, asked="HTTP/1.1 200 OK", connection="10.0.0.2:80 > 10.0.0.1:4000")
    return path.account()


def test_questions_that_came_and_went_are_named():
    found = difference(
        queries("SELECT a WHERE id = 1", "SELECT old"), queries("SELECT a WHERE id = 2", "SELECT b", "SELECT b", "SELECT b")
    )
    assert found.ns == 20_000_000
    assert difference_answer(found) == (
        "+20 ms (100 ms, then 120 ms): 3 more round trips between db and web (SELECT b), "
        "1 fewer round trip between db and web (SELECT old)"
    )
    assert [(each.kind.what, each.steps) for each in found.changes] == [("SELECT b", (0, 6)), ("SELECT old", (2, 0))]


def test_a_link_that_is_slower_is_one_effect():
    found = difference(
        queries("SELECT a", "SELECT b", "SELECT c", "SELECT d"), queries("SELECT a", "SELECT b", "SELECT c", "SELECT d", ms=20)
    )
    assert (
        difference_answer(found) == "+120 ms (120 ms, then 240 ms): 4 round trips between db and web 120 ms longer, 30 ms each"
    )
    assert [(each.ns, each.what) for each in table(found, 20)] == [(120_000_000, "4 kinds of messages, db - web")]


def test_more_of_them_that_are_slower_are_counted_apart():
    found = difference(queries("SELECT 1"), queries("SELECT 2", "SELECT 3", ms=10))
    (change,) = found.changes
    assert (change.difference_ns, change.grown_ns, change.counted_ns) == (30_000_000, 10_000_000, 20_000_000)


def test_a_program_that_sleeps_is_named_with_its_host():
    found = difference(queries("SELECT a"), queries("SELECT a", slept=35.0))
    assert difference_answer(found).endswith(": +35 ms timer of the program (nothing arrived meanwhile) on web")


def test_the_same_twice_is_no_difference():
    assert difference_answer(difference(page(), page())) == "no difference: 342 ms and 342 ms, of the same parts"
    assert difference(page(), page()).changes == ()


def test_the_order_of_questions_does_not_count():
    assert difference(queries("SELECT a", "SELECT b"), queries("SELECT b", "SELECT a")).changes == ()


def test_an_answer_belongs_to_its_question_also_if_the_server_speaks_first():
    ends = "10.0.0.3:3306 > 10.0.0.2:5000", "10.0.0.2:5000 > 10.0.0.3:3306"
    greeting = Path().trip("db", "web", asked="Server Greeting", connection=ends[0])
    asked = Path().trip("db", "web", asked="Server Greeting", connection=ends[0])
    asked.trip("web", "db", asked="SELECT a", connection=ends[1]).trip("db", "web", asked="Response", connection=ends[0])
    (change,) = difference(greeting.account(), asked.account()).changes
    assert (change.kind.what, change.steps) == ("SELECT a", (0, 2))


def test_a_service_whose_port_is_high_is_known_by_the_handshake():
    there, back = "10.0.0.1:40000 > 10.0.0.2:50051", "10.0.0.2:50051 > 10.0.0.1:40000"

    def call(*asked):
        path = Path().trip("client", "web", cause=Cause.HANDSHAKE, detail="SYN", connection=there)
        for each in asked:
            path.trip("client", "web", asked=each, connection=there).trip("web", "client", asked="OK", connection=back)
        return path.account()

    (change,) = difference(call("POST /a"), call("POST /a", "POST /b")).changes
    assert (change.kind.what, change.steps) == ("POST /b", (0, 2))


PAIRS = pytest.mark.parametrize(
    ("before", "after"),
    [(page(), repeated()), (mixed(), mixed(390)), (mixed(), page()), (queries("SELECT a"), queries("SELECT b", ms=7))],
    ids=["repeated", "mixed", "page", "queries"],
)


@PAIRS
def test_all_changes_together_are_the_difference(before, after):
    found = difference(before, after)
    assert sum(each.difference_ns for each in found.changes) == found.ns == after.elapsed_ns - before.elapsed_ns
    assert sum(each.ns for each in effects(found)) == found.ns
    for most in (5, 20, 1000):
        rows = table(found, most)
        assert len(rows) <= most
        assert sum(each.ns for each in rows) == found.ns
    back = difference(after, before)
    assert {each.kind: each.difference_ns for each in back.changes} == {
        each.kind: -each.difference_ns for each in found.changes
    }  # fmt: skip


@PAIRS
def test_a_text_has_at_most_40_lines_of_80_columns(before, after):
    found = difference(before, after)
    lines = difference_text(found, NAMES).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert difference_answer(found).startswith(lines[0].rstrip())


def test_what_could_not_be_known_is_printed_with_its_place():
    """The clock of both is one line; a command that failed in one of them is that one's."""
    failed = "curl ended with status 7: Failed to connect " * 9
    before, after = queries("SELECT a"), queries("SELECT a", "SELECT b")
    before = replace(before, notes=("the clock is real", *(f"lost {number}" for number in range(9))))
    after = replace(after, notes=("the clock is real", failed))
    lines = difference_text(difference(before, after), NAMES).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert lines[lines.index("note: the clock is real") - 1] == ""
    assert "note: before: lost 0" in lines
    assert lines[-1] == "  ..."
    lines = difference_text(difference(queries("SELECT a"), after), NAMES).splitlines()
    assert [each for each in lines if each.startswith("note: ")] == [
        "note: after: the clock is real", lines[-3]
    ]  # fmt: skip
    assert lines[-3].startswith("note: after: curl ended with status 7")
    assert "note" not in difference_text(difference(queries("SELECT a"), queries("SELECT b")), NAMES)
