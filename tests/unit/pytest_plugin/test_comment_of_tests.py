"""The numbers that tests compare, as a comment of a pull request, and the file that keeps those of sessions."""

import json
from types import SimpleNamespace

import pytest

from slownet import about
from slownet.comparison.comment import Entry
from slownet.judge.measured import Measured
from slownet.judge.records import comparisons
from slownet.judge.records.comparisons import Comparisons, compared_in
from slownet.pytest_plugin import session_comment
from slownet.pytest_plugin.several_boots import COMPARISONS
from slownet.theory.stats import from_moments

pytest_plugins = "pytester"


def report(test="test_a.py::test_page", outcome="passed", when="call", numbers=None):
    return SimpleNamespace(nodeid=test, outcome=outcome, when=when, **{session_comment.ATTRIBUTE: numbers} if numbers else {})


def taken(*reports):
    found = session_comment.Tests()
    for each in reports:
        found.take(each)
    return found


def written(found, *before):
    now = Entry("now", {each.name: each.value.mean for each in found.all() if each.value})
    return session_comment.text(str(found), found.all(), [*before, now]).splitlines()


def test_a_report_has_what_its_test_compared():
    page = Measured("time_per_request_ms", from_moments(51.8, 0.4, 100))
    with compared_in(Comparisons()):
        found = comparisons.current()
        found.begin()
        assert page < 300
        assert page == about(52, within=0.05)
    item = SimpleNamespace(stash={COMPARISONS: found})
    passed = SimpleNamespace(when="call")
    session_comment.attach(item, passed)
    (one, other) = getattr(passed, session_comment.ATTRIBUTE)
    assert one == other == ["time_per_request_ms", 51.8, page.low, page.high]
    setup = SimpleNamespace(when="setup")
    session_comment.attach(item, setup)
    assert not hasattr(setup, session_comment.ATTRIBUTE)
    found.begin()
    assert found.compared == []


def test_what_failed_and_what_changed_most_stand_first():
    last = Entry("then", {"test_a.py::test_page: time_ms": 40.0, "test_a.py::test_image: time_ms": 10.0,
                          "test_a.py::test_image: time_ms (2)": 20.0, "test_a.py::test_same: rtt_ms": 5.0})  # fmt: skip
    found = taken(
        report(numbers=[["time_ms", 42.0, 41.0, 43.0]]),
        report("test_a.py::test_same", numbers=[["rtt_ms", 5.0, 5.0, 5.0]]),
        report(
            "test_a.py::test_image", outcome="failed", numbers=[["time_ms", 10.0, 10.0, 10.0], ["time_ms", 10.0, 9.0, 11.0]]
        ),
        report("test_a.py::test_broken", outcome="failed", when="setup"),
    )
    lines = written(found, last)
    assert lines[0] == "### Tests: 2 failed, 2 passed"
    assert lines[4:8] == [
        "| ❌ test\\_a.py::test\\_image: time\\_ms (2) | 20 ms | 10.0 (9.0 to 11.0) ms | -50.0 % | █▁ |",
        "| ❌ test\\_a.py::test\\_image: time\\_ms | 10 ms | 10 ms |  | ▁▁ |",
        "| ❌ test\\_a.py::test\\_broken |  |  |  |  |",
        "| ✅ test\\_a.py::test\\_page: time\\_ms | 40 ms | 42.0 (41.0 to 43.0) ms | +5.0 % | ▁█ |",
    ]
    assert lines[-1] == "_1 other number; intervals are 99 %._"


def test_a_comment_has_at_most_20_lines():
    many = taken(*(report(f"t.py::test[{number}]", "failed", numbers=[["a_ms", 1.0, 1.0, 1.0]] * 3) for number in range(30)))
    lines = written(many)
    assert sum(line.startswith("| ❌") for line in lines) == 10
    assert len(lines) <= 20
    assert "80 other numbers" in lines[-1]


def test_a_session_that_compared_nothing():
    assert written(taken(report())) == ["### Tests: 1 passed", "", "_intervals are 99 %._"]
    assert written(taken()) == ["### Tests: none ran", "", "_intervals are 99 %._"]


@pytest.mark.parametrize(
    "numbers",
    [
        "no list", {}, [1], [["a_ms", 1.0]], [["a_ms", "1", 1.0, 1.0]], [["a_ms", None, 1.0, 1.0]], [[3, 1.0, 1.0, 1.0]],
        [["a_ms", True, 1.0, 1.0]], [["a_ms", 10**400, 1.0, 1.0]], [["a_ms", float("nan"), 1.0, 1.0]],
    ],
)  # fmt: skip
def test_what_a_lab_says_is_taken_only_if_it_is_a_number(numbers):
    assert taken(report(numbers=numbers)).all() == []


def test_text_of_a_lab_stays_in_its_cell():
    found = taken(report("t.py::test[a|b\n\x1b[31m<script>]", numbers=[["x|y\n_ms" * 100, 1.0, None, None]]))
    lines = written(found)
    assert len(lines) == 7
    assert "\x1b" not in "".join(lines)
    assert "\\<script\\>" in lines[4]
    assert lines[4].count(" | ") == 4


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["passed", "passed", "passed"], "1 passed"),
        (["passed", "failed", "passed"], "1 failed"),
        (["passed", "passed", "failed"], "1 failed"),
        (["skipped", "passed"], "1 skipped"),
        (["passed", "rerun", "passed"], "1 passed"),
    ],
)
def test_the_worst_phase_of_a_test_counts(outcomes, said):
    assert str(taken(*(report(outcome=each, when="setup") for each in outcomes))) == said


def test_a_session_writes_both_files(pytester):
    pytester.makepyfile(test_it="def test_one(): pass\ndef test_two(): assert 0")
    words = ["-q", "-p", "slownet.pytest_plugin", "--slownet-comment=c.md", "--slownet-history=h.jsonl"]
    result = pytester.runpytest(*words)
    assert result.ret == 1
    assert (pytester.path / "c.md").read_text().splitlines()[0] == "### Tests: 1 failed, 1 passed"
    assert not (pytester.path / "h.jsonl").exists(), "no number was compared"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--slownet-comment=none/c.md"], "no folder "),
        (["--slownet-comment=."], " is a folder, --slownet-comment: name a file in it"),
        (["--slownet-history=h.jsonl"], "this is not a line of a history, "),
    ],
)
def test_files_that_cannot_be_are_refused_before_a_test_runs(pytester, options, said):
    pytester.makepyfile(test_it="def test_one(): assert 0")
    (pytester.path / "h.jsonl").write_text(json.dumps({"started": "x"}) + "\n")
    result = pytester.runpytest("-q", "-p", "slownet.pytest_plugin", *options)
    assert result.ret == 4
    assert said in str(result.stderr)
    assert "1 failed" not in str(result.stdout)
