"""A comparison as a comment of a pull request, and the file that keeps the numbers of runs."""

import json
from dataclasses import replace

import pytest
from conftest import TIMES

from slownet.cli.app import main
from slownet.cli.outputs import Outputs
from slownet.comparison.comment import Entry, append, comment, course, read
from slownet.comparison.runs import compare_runs
from slownet.model.errors import ExperimentError

SLOWER = TIMES | {120: 540.0, 40: 169.0 * 1.2}


def test_what_differs_stands_first_the_largest_change_on_top(made):
    lines = comment(compare_runs(made(), made(SLOWER), 0.05)).splitlines()
    assert lines[0].startswith("### client\\_delay: ")
    rows = [line for line in lines if line.startswith(("| ❌", "| ✅", "| ❔"))]
    assert [row.split(" | ")[0] for row in rows] == [
        "| ❌ time\\_per\\_request\\_ms at rtt 40ms", "| ❌ time\\_per\\_request\\_ms at rtt 120ms"
    ]  # fmt: skip
    assert rows[0].split(" | ")[1:3] == ["169 ms", "202.8 ms"]
    assert rows[0].split(" | ")[3].startswith("+20.0 (")
    assert lines[-1] == "_2 other numbers in the job's summary; equal means within 5 %, intervals are 99 %._"


def test_equal_runs_show_one_number(made):
    text = comment(compare_runs(made(), made(), 0.05))
    assert text.count("✅") == 1
    assert "3 other numbers" in text


def test_a_comment_has_at_most_20_lines(made):
    many = {rtt: 9.0 + 4 * rtt for rtt in range(60)}
    text = comment(compare_runs(made(many), made({rtt: 2 * time for rtt, time in many.items()}), 0.05))
    assert text.count("❌") == 10
    assert len(text.splitlines()) <= 20


def test_what_was_0_has_no_change_in_percent(made):
    text = comment(compare_runs(made(dict.fromkeys(TIMES, 0.0)), made(), 0.05))
    assert "| 0 ms |" in text
    assert "nan" not in text


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ([], ""),
        ([3.0], ""),
        ([None, 3.0], ""),
        ([3.0, 3.0], "▁▁"),
        ([1.0, 2.0, None, 8.0], "▁▂ █"),
        ([-1.0, 0.0, 1.0], "▁▅█"),
    ],
)
def test_a_course_of_numbers(values, bars):
    assert course(values) == bars


def test_the_history_gives_the_course_of_each_number(made, tmp_path):
    file = tmp_path / "history.jsonl"
    for factor in (1.0, 1.5):
        append(file, Entry("2026-01-01", {f"time_per_request_ms at rtt {rtt}ms": factor * time for rtt, time in TIMES.items()}))
    text = comment(compare_runs(made(), made(), 0.05), read(file))
    assert "last 3 runs" in text
    assert "| last runs |" in comment(compare_runs(made(), made(), 0.05)), "the first"
    assert "▁█▁" in text


def test_a_comparison_is_added_once(made, tmp_path):
    history, wanted = tmp_path / "history.jsonl", tmp_path / "comment.md"
    first, second = made(), made()
    for each in (second, second, replace(second, facts=dict(second.facts) | {"started": "later"})):
        Outputs({"comment": wanted, "history": history}).write_comparison(compare_runs(first, each, 0.05))
    assert [entry.started for entry in read(history)] == [str(second.facts.get("started") or ""), "later"]
    assert wanted.read_text().count("###") == 1, "a comment is written anew, not appended to"
    assert "last 2 runs" in wanted.read_text()
    assert {len(json.loads(line)["numbers"]) for line in history.read_text().splitlines()} == {4}


@pytest.mark.parametrize("line", ["{", "[]", '{"started": "x"}', '{"started": "x", "numbers": {"a": "b"}}', "[" * 5000])
def test_a_damaged_line_is_named(tmp_path, line):
    file = tmp_path / "history.jsonl"
    append(file, Entry("2026-01-01", {"time_ms": 1.0}))
    with file.open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(ExperimentError, match=r"this is not a line of a history, .*history.jsonl line 2: leave the line out"):
        read(file)


def test_a_damaged_history_is_said_before_a_comparison(tmp_path, capsys):
    (history := tmp_path / "history.jsonl").write_text("{\n")
    with pytest.raises(SystemExit) as ended:
        main(["compare", "one", "two", "--out", f"history={history}"])
    assert ended.value.code == 2
    assert "this is not a line of a history" in capsys.readouterr().err


def test_a_file_that_is_none_is_one_line(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b" " * 5_000_001)
    for name in ("binary", "large"):
        with pytest.raises(ExperimentError, match="--out history: "):
            read(tmp_path / name)
    assert read(tmp_path / "absent") == []
