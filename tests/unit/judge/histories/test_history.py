"""Histories as files: what is read, what is refused with its line, and what follows from them."""

import json

import pytest

from slownet import History
from slownet.judge.histories.history import HistoryError

SECOND = 10**9


def line(time, process, kind, op="write", value=None, **more):
    return json.dumps({"time": time, "process": process, "type": kind, "op": op, "value": value, **more}) + "\n"


WHOLE = (
    line(0, 0, "invoke", value=7)
    + line(1, 1, "invoke", "read")
    + line(5, 0, "ok", value=7)
    + line(6, "faults", "info", "kill", "db")
    + line(7, 1, "info", "read", error="timed out")
    + line(8, 0, "invoke", value=8)
    + line(9, 0, "fail", value=8, error="refused")
    + line(10, 1, "invoke", "read")
    + line(11, 0, "invoke", value=9)
    + line(12, 0, "ok", value=[9, 1])
)


def test_operations_of_a_history():
    history = History.read(WHOLE)
    assert history.to_text() == WHOLE
    found = [(each.process, each.op, each.value, each.result, each.type, each.begin, each.end) for each in history.operations]
    assert found == [
        (0, "write", 7, 7, "ok", 0, 5),
        (1, "read", None, None, "info", 1, None),
        (0, "write", 8, None, "fail", 8, 9),
        (1, "read", None, None, "info", 10, None),
        (0, "write", 9, [9, 1], "ok", 11, 12),
    ]
    assert [each.error for each in history.operations] == ["", "timed out", "refused", "it never ended", ""]
    assert [(each.op, each.value) for each in history.faults] == [("kill", "db")]
    assert len(history.of("read")) == 2
    with pytest.raises(HistoryError, match="the history has no operation 'put': it has read, write"):
        history.of("put")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5\n", "line 1: it is not a JSON object, the history"),
        ("{\n", "line 1: Expecting"),
        ('{"time": 1}\n', "line 1: it has no 'process'"),
        (line(0, 0, "invoke", f="x"), "line 1: it has an unknown key 'f'"),
        (line(0.5, 0, "invoke"), "line 1: time is 0.5, not a whole number of nanoseconds"),
        (line(True, 0, "invoke"), "line 1: time is true"),
        (line(-1, 0, "invoke"), "line 1: time is -1"),
        (line(0, -1, "invoke"), 'line 1: process is -1, neither a whole number from 0 nor "faults"'),
        (line(0, "db", "invoke"), "line 1: process is db"),
        (line(0, 0, "begin"), "line 1: type is begin, none of invoke, ok, fail, info"),
        (line(0, 0, ["ok"]), 'line 1: type is ["ok"], none of'),
        (line(0, 0, "invoke", ""), "line 1: op is , not a name"),
        (line(0, 0, "invoke", error=5), "line 1: error is 5, not a text"),
        (line(0, "faults", "ok", "kill"), "line 1: the type of a fault is info"),
        (line(0, 0, "ok"), "line 1: 'write' of process 0 ends, but was not invoked"),
        (line(0, 0, "invoke") + line(1, 0, "ok", "read"), "line 2: 'read' of process 0 ends, but was not invoked"),
        (line(0, 0, "invoke") + line(1, 0, "invoke", "read"), "line 2: process 0 invokes 'read' before 'write' has ended"),
        (line(5, 0, "invoke") + line(4, 0, "ok"), "line 2: time goes back from 5 to 4"),
    ],
)
def test_a_line_that_is_wrong(text, message):
    with pytest.raises(HistoryError) as caught:
        History.read(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_histories_differ():
    history = History.read(WHOLE)
    assert history.differs_from(History.read(WHOLE)) == ""
    assert history.digest == History.read(WHOLE).digest
    shorter = History(history.events[:-1])
    assert history.differs_from(shorter) == "it has 9 lines, not 10"
    assert history.digest != shorter.digest
    later = History.read(WHOLE.replace('"time": 5', '"time": 2'))
    assert history.differs_from(later) == "the same operations, but times differ by up to 3 ns"
    other = History.read(WHOLE.replace('"value": 7', '"value": 6'))
    assert history.differs_from(other).startswith(
        'line 1: {"time": 0, "process": 0, "type": "invoke", "op": "write", "value": 7}, not'
    )


def broken(*clients):
    """Return a history whose fault ends at 2 s; clients: for each the seconds at which an operation was acknowledged."""
    events = [(1 * SECOND, "faults", "info", "cut"), (2 * SECOND, "faults", "info", "heal")]
    for number, ends in enumerate(clients):
        for end in ends:
            events += [(int(end * SECOND) - 1, number, "invoke", "write"), (int(end * SECOND), number, "ok", "write")]
    return History.read("".join(line(*each) for each in sorted(events, key=lambda each: each[0])))


@pytest.mark.parametrize(
    ("clients", "recovery"),
    [
        ([[0.5, 2.25, 3]], SECOND // 4),
        ([[0.5, 2.25], [0.6, 2.5]], SECOND // 2),
        ([[0.5, 2.25], [2.5]], SECOND // 4),  # a client that was not there before
        ([[0.5, 2.25], [0.6]], None),
        ([[2.5]], None),
    ],
)
def test_recovery_is_when_each_client_is_served_again(clients, recovery):
    assert broken(*clients).recovery_ns == recovery


def test_without_a_mended_fault_there_is_no_recovery():
    assert History.read(line(0, "faults", "info", "cut", "a from b")).recovery_ns is None
    assert History.read("").recovery_ns is None
