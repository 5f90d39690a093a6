"""Linearizability by Porcupine: small histories whose answer is known."""

import shutil

import pytest
from test_checks import said

from slownet import linearizable
from slownet.judge.histories import linear
from slownet.judge.histories.history import HistoryError

needs_go = pytest.mark.skipif(not shutil.which("go"), reason="there is no Go compiler")


@needs_go
@pytest.mark.parametrize(
    ("operations", "is_right"),
    [
        ([(0, 1, 0, "write", 1, 1), (2, 3, 1, "read", None, 1)], True),
        ([(0, 1, 0, "write", 1, 1), (2, 3, 1, "read", None, 2)], False),
        ([(0, 1, 0, "write", 1, 1), (2, 3, 1, "write", 2, 2), (4, 5, 0, "read", None, 1)], False),
        ([(0, 9, 0, "write", 1, 1), (2, 3, 1, "write", 2, 2), (4, 5, 2, "read", None, 2), (6, 7, 2, "read", None, 1)], True),
        ([(0, 1, 0, "write", 1, 1), (2, 3, 1, "write", 2, ...), (4, 5, 0, "read", None, 1), (6, 7, 0, "read", None, 2)], True),
        (
            [(0, 1, 0, "write", 1, 1), (2, None, 1, "write", 2, ...), (6, 7, 0, "read", None, 2), (8, 9, 0, "read", None, 1)],
            False,
        ),
        ([(0, 1, 0, "write", 1, 1), (2, 3, 1, "write", 2, NotImplemented), (4, 5, 0, "read", None, 2)], False),
        ([(0, 1, 0, "cas", [None, 1], 1), (2, 3, 1, "cas", [1, 2], 1), (4, 5, 0, "read", None, 2)], True),
        ([(0, 1, 0, "cas", [None, 1], 1), (2, 3, 1, "cas", [7, 2], 1)], False),
        ([(0, 1, 0, "read", None, None)], True),
    ],
)
def test_registers(operations, is_right):
    assert (said(linearizable(), *operations) == []) is is_right


@needs_go
def test_what_is_said_of_an_operation_that_fits_into_no_order():
    operations = [
        (0, 1, 0, "set", ["a", 1], ["a", 1]),
        (2, 3, 1, "get", ["a", None], ["a", 7]),
        (2, 4, 2, "set", ["b", 1], ["b", 1]),
    ]
    check = linearizable(names={"set": "write", "get": "read"}, keyed=True)
    assert said(check, *operations) == [
        'get ["a", null] at 0.000 s, which gave ["a", 7], fits into no order of "a" (a linearizable register)'
    ]


@needs_go
def test_lists():
    appends = [(0, 1, 0, "append", 1, 1), (0, 2, 1, "append", 2, 2)]
    assert said(linearizable("list-append"), *appends, (4, 5, 0, "read", None, [2, 1])) == []
    assert said(linearizable("list-append"), *appends, (4, 5, 0, "read", None, [2])) != []
    assert said(linearizable("list-append"), (0, 1, 0, "read", None, [])) == []


@pytest.mark.parametrize(
    ("make", "operations", "message"),
    [
        (lambda: linearizable("queue"), [], "no model 'queue', linearizable()"),
        (linearizable, [(0, 1, 0, "put", 1, 1)], "the history has none of the operations read, write, cas"),
        (linearizable, [(0, 1, 0, "cas", 1, 1)], "cas 1 at 0.000 s is a cas without [old, new]"),
        (lambda: linearizable(keyed=True), [(0, 1, 0, "write", 1, 1)], "write 1 at 0.000 s has no [key, value] pair"),
    ],
)
def test_what_cannot_be_judged(make, operations, message):
    with pytest.raises(HistoryError) as caught:
        said(make(), *operations)
    assert message in str(caught.value)


def test_without_a_compiler_a_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(linear.shutil, "which", lambda name: None)
    with pytest.raises(HistoryError, match="there is no Go compiler, linearizable"):
        linear.program()


def test_a_damaged_checker_is_built_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(linear, "_build", lambda folder: (folder / linear.PROGRAM).write_text("whole"))
    linear.program().write_text("half")
    assert linear.program().read_text() == "whole"
