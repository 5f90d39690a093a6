"""Parsers of the project's own programs, on output from a lab."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions import delayed_ack, exchange
from slownet.reproductions import queried_page as php_page
from slownet.reproductions import replication as commit_delay
from slownet.reproductions import rows_and_messages as row_pipeline

DATA = Path(__file__).parents[1] / "tools" / "data"
PARSERS = {
    "exchange-write-write-read": exchange.parse,
    "exchange-write-write-write": exchange.parse,
    "crafted-answered": delayed_ack.parse,
    "page-proxy": php_page.parse,
    "pipeline-batches": row_pipeline.parse,
}


def captured(name: str):
    return PARSERS[name]((DATA / f"{name}.json").read_text())


def test_all_but_the_first_exchange_stall():
    record = captured("exchange-write-write-read")
    assert (record.pattern, record.each, len(record.times_ms)) == ("write-write-read", 1, 100)
    metrics = record.metrics()
    assert metrics["stalls"] == {"mean": 99, "sd": 0.0, "n": 100}
    assert metrics["quick_exchanges"]["mean"] == 1
    assert 40 <= metrics["stall_ms"]["mean"] <= 48
    assert metrics["exchange_ms"]["mean"] == pytest.approx(0.99 * metrics["stall_ms"]["mean"], rel=1e-3)


def test_a_pattern_that_never_waits_is_timed_in_rounds():
    record = captured("exchange-write-write-write")
    assert (record.each, len(record.times_ms)) == (100, 5)
    assert record.metrics()["exchange_ms"]["mean"] == pytest.approx(sum(record.times_ms) / 500)
    assert record.facts() == {"messages": 500}


def test_crafted_segments_show_the_delay():
    record = captured("crafted-answered")
    assert record.quick == 1
    assert len(record.delayed_ms) == len(record.first_ms) - 1 == 49
    assert record.metrics()["answer_ms"]["mean"] < 0.1


def test_a_page_is_the_sum_of_its_queries():
    record = captured("page-proxy")
    metrics = record.metrics()
    assert metrics["stalls"]["mean"] == len(record.times_ms) == 1200
    assert metrics["page_s"]["mean"] == pytest.approx(1.2 * metrics["query_ms"]["mean"])
    # the relative width of a sum's interval is that of the mean's
    assert metrics["page_s"]["sd"] / metrics["page_s"]["mean"] == pytest.approx(
        metrics["query_ms"]["sd"] / metrics["query_ms"]["mean"]
    )


def test_a_copy_is_timed_in_batches_and_its_second_half_is_steady():
    record = captured("pipeline-batches")
    assert (record.way, record.each, record.rows) == ("batches", 100, 3000)
    metrics = record.metrics()
    assert metrics["row_ms"]["mean"] == pytest.approx(sum(record.times_ms) / 3000)
    assert metrics["steady_row_ms"]["n"] == 15
    assert metrics["steady_row_ms"]["mean"] == pytest.approx(sum(record.times_ms[15:]) / 1500)
    assert metrics["rows_per_second"]["mean"] == pytest.approx(1000 / metrics["row_ms"]["mean"])


COMMITS = (DATA / "replication-commits.txt").read_text()


def test_commits_are_told_apart_from_their_lag():
    record = commit_delay.parse(COMMITS)
    assert record.commit_ms[0] == pytest.approx((89378816 - 89363968) / 1e6)
    assert record.lag_ms[0] == pytest.approx((89436928 - 89363968) / 1e6)
    assert record.stale_ms[0] == pytest.approx((89436928 - 89378816) / 1e6)
    metrics = record.metrics()
    assert metrics["lag_max_ms"]["mean"] == max(record.lag_ms)
    assert metrics["lag_last_ms"]["mean"] == record.lag_ms[-1]
    assert metrics["commit_max_ms"] == {"mean": max(record.commit_ms), "sd": None, "n": 5}
    assert record.facts() == {"commits": 5}


def test_a_row_that_is_read_before_its_writer_has_the_answer_is_not_stale():
    text = '{"began_ns": [0, 10], "answered_ns": [10000000, 10]}\n{"applied_ns": [5000000, 20]}\n'
    assert commit_delay.parse(text).stale_ms == (0.0, 1e-05)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (COMMITS.splitlines()[0], "no applied_ns in the line 'nothing'"),
        ("Killed\n", "no began_ns and answered_ns in the line 'Killed'"),
        (COMMITS.replace("[89436928, ", "["), "5 commits began, 5 were answered, 4 reached the replica"),
    ],
)
def test_commits_that_do_not_add_up_are_shown(text: str, said: str):
    with pytest.raises(ToolError, match=said):
        commit_delay.parse(text)


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("text", ["", "Segmentation fault\n", '["pattern"]\n', "{}\n", "3\n"])
def test_anything_else_is_shown_and_kept(name: str, text: str):
    with pytest.raises(ToolError) as caught:
        PARSERS[name](text)
    assert (text.strip() or "nothing") in str(caught.value)
    assert caught.value.raw == text


@pytest.mark.parametrize("times", ["[]", '["fast"]', "7", "null"])
def test_malformed_times_are_shown(times: str):
    with pytest.raises(ToolError, match="times_ns is not a list of times"):
        php_page.parse(f'{{"connect_ns": 1, "times_ns": {times}}}')


def test_an_unknown_pattern_suggests_the_nearest():
    with pytest.raises(ToolError, match="did you mean 'write-write-read'"):
        exchange.exchange(None, "10.0.0.2", "write-wriet-read")
    with pytest.raises(ToolError, match="did you mean 'batches'"):
        row_pipeline.consume(None, "10.0.0.2", "10.0.0.3", "batch", 1)
