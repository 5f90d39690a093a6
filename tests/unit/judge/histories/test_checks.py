"""What must hold of histories: each check finds what it is for, in words, and nothing else."""

import pytest

from slownet import ExperimentError, History, no_lost_writes, nothing_invented, reads_never_go_back, recovers_within
from slownet.judge.histories.checks import violations
from slownet.judge.histories.history import Event, HistoryError

SECOND = 10**9


def history(*operations):
    """Return a history of (begin, end, process, op, value, result); a result of ... is an unknown one, None as end never."""
    events = []
    for begin, end, process, op, value, result in operations:
        events.append(Event(begin, process, "invoke", op, value))
        if end is not None:
            kind = "info" if result is ... else "fail" if result is NotImplemented else "ok"
            events.append(Event(end, process, kind, op, value if kind != "ok" else result))
    return History(tuple(sorted(events, key=lambda each: each.time)))


def said(check, *operations):
    return [str(each) for each in violations(history(*operations), [check])]


def test_an_acknowledged_write_that_is_lost():
    good = [(0, 1, 0, "write", 1, 1), (2, 3, 0, "write", 2, ...), (4, 5, 0, "write", 3, NotImplemented)]
    assert said(no_lost_writes(), *good, (6, 7, 1, "read", None, [1])) == []
    assert said(no_lost_writes(), *good, (6, 7, 1, "read", None, [2])) == [
        "1 of 1 acknowledged writes lost: 1 (acknowledged at 0.000 s) (no acknowledged write is lost)"
    ]
    many = [(n, n, 0, "put", [n], [n]) for n in range(1, 7)]
    assert said(no_lost_writes("put", "all"), *many, (8, 9, 1, "all", None, [[2]])) == [
        "5 of 6 acknowledged puts lost: [1] (acknowledged at 0.000 s), [3] (acknowledged at 0.000 s), "
        "[4] (acknowledged at 0.000 s) and 2 more (no acknowledged put is lost)"
    ]
    late = [(0, 9, 0, "write", 1, 1), (2, 3, 1, "read", None, [])]
    assert said(no_lost_writes(), *late) == []  # it was acknowledged after that


def test_a_last_read_that_nobody_saw():
    (line,) = said(no_lost_writes(), (0, 1, 0, "write", 1, 1), (2, 3, 0, "read", None, ...))
    assert line.startswith("no read was acknowledged")
    with pytest.raises(HistoryError, match=r"read at 0\.000 s has 5, not a list, the check"):
        said(no_lost_writes(), (0, 1, 0, "write", 1, 1), (2, 3, 0, "read", None, 5))


def test_what_was_never_written():
    writes = [(0, 1, 0, "write", 1, 1), (2, 3, 0, "write", 2, ...), (8, 9, 0, "write", 3, 3)]
    assert said(nothing_invented(), *writes, (4, 5, 1, "read", None, [1, 2])) == []
    assert said(nothing_invented(), *writes, (4, 5, 1, "read", None, None)) == []
    assert said(nothing_invented(), *writes, (4, 5, 1, "read", None, 3)) == [
        "read at 0.000 s has 3 (no read has what was never written)"  # before it was written
    ]
    assert len(said(nothing_invented(), *writes, (4, 5, 1, "read", None, [1, 7]))) == 1


@pytest.mark.parametrize(
    ("first", "then", "is_wrong"),
    [(1, 2, False), (2, 2, False), (2, 1, True), ([1], [1, 2], False), ([1, 2], [2], True), (None, 1, False), (1, None, True)],
)
def test_reads_that_go_back(first, then, is_wrong):
    one, other = (0, 1, 0, "read", None, first), (2, 3, 1, "read", None, then)
    assert bool(said(reads_never_go_back(), one, other)) is is_wrong
    assert said(reads_never_go_back(), one, (0, 3, 1, "read", None, then)) == []  # both at the same time


def test_reads_without_an_order():
    with pytest.raises(HistoryError, match=r"read at 0\.000 s has x, which has no order beside 1"):
        said(reads_never_go_back(), (0, 1, 0, "read", None, 1), (2, 3, 0, "read", None, "x"))


def test_a_client_that_is_not_served_in_time():
    def then(*operations):
        faults = [Event(1 * SECOND, "faults", "info", "kill", "db"), Event(2 * SECOND, "faults", "info", "start", "db")]
        whole = sorted([*faults, *history(*operations).events], key=lambda each: each.time)
        return [str(each) for each in violations(History(tuple(whole)), [recovers_within("500ms")])]

    before = (0, 1, 0, "write", 1, 1)
    assert then(before, (2 * SECOND, 5 * SECOND // 2, 0, "write", 2, 2)) == []
    assert then(before, (2 * SECOND, 3 * SECOND, 0, "write", 2, 2)) == [
        "a client was served only 1.000 s after the end of the faults (clients are served within 500 ms after the faults)"
    ]
    assert then(before)[0].startswith("a client was not served again after 2.000 s")
    assert then((2 * SECOND, 9 * SECOND, 0, "write", 2, 2)) == []


def test_functions_of_ones_own():
    def nothing_odd(history):
        return "an odd one" if any(each.value % 2 for each in history.operations) else None

    whole = history((0, 1, 0, "write", 1, 1))
    assert [str(each) for each in violations(whole, [nothing_odd])] == ["an odd one (nothing odd)"]
    assert violations(whole, [lambda history: None]) == []

    def broken(history):
        return 1 / 0

    with pytest.raises(ExperimentError, match=r"the check 'broken' raises ZeroDivisionError: division by zero: return a text"):
        violations(whole, [broken])

    def counts(history):
        return 5

    with pytest.raises(
        ExperimentError, match="the check 'counts' returns 5: return a text that describes the failure, or None"
    ):
        violations(whole, [counts])
