"""sysbench's parser on output from a lab (sysbench 1.0.20, TDF 3, MariaDB at 0.3 and 10.3 ms)."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.sysbench import Account, oltp, parse

DATA = Path(__file__).parent / "data"


def text(name: str) -> str:
    return (DATA / name).read_text()


def test_one_thread():
    record = parse(text("sysbench-1.txt"), ["sysbench", "run"])
    assert (record.reads, record.writes, record.others, record.queries) == (700, 200, 100, 1000)
    assert (record.threads, record.transactions, record.errors, record.reconnects) == (1, 50, 0, 0)
    assert (record.transactions_per_s, record.queries_per_s, record.seconds) == (58.22, 1164.48, 0.8586)
    assert (record.min_ms, record.avg_ms, record.p95_ms, record.max_ms) == (13.66, 16.75, 19.29, 21.42)
    assert record.histogram[0] == (13.704, 1)
    assert sum(count for _, count in record.histogram) == 50
    assert record.command == ("sysbench", "run")


def test_metrics_rest_on_the_histogram():
    record = parse(text("sysbench-1.txt"))
    found = record.metrics()
    assert found["queries_per_transaction"] == {"mean": 20.0, "sd": 0.0, "n": 50}
    assert found["latency_avg_ms"]["mean"] == 16.75
    assert found["latency_avg_ms"]["sd"] == pytest.approx(1.645928614)
    assert found["busy_threads"]["mean"] == pytest.approx(0.975, abs=0.001)
    assert found["busy_threads"]["sd"] is None
    assert found["latency_min_ms"] == {"mean": 13.66, "sd": None, "n": 50, "step": 0.01}
    assert "prepare_ms" not in found


def test_a_percentile_is_one_number_and_the_histogram_is_kept():
    found = parse(text("sysbench-1.txt")).metrics()
    assert found["latency_p95_ms"] == {"mean": 19.29, "sd": None, "n": 50, "percent": 95, "of": "latency_avg_ms"}
    assert found["latency_max_ms"] == {"mean": 21.42, "sd": None, "n": 50}
    steps = found["latency_avg_ms"]["steps"]
    assert (steps[0], steps[-1][1]) == ([13.704, 1], 50)
    assert steps == sorted(steps)


def test_transactions_that_met_a_deadlock_send_more_queries():
    record = parse(text("sysbench-10.txt"))
    assert (record.threads, record.transactions) == (10, 200)
    assert record.errors > 0
    assert record.queries / record.transactions > 20


def test_without_a_histogram_the_deviation_is_unknown():
    head, _, rest = text("sysbench-1.txt").partition("Latency histogram")
    record = parse(head + rest[rest.index("SQL statistics") :])
    assert record.sd_ms is None
    assert record.transactions == 50


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("", "sysbench printed no 'transactions'; its last line: 'nothing'"),
        (text("sysbench-1.txt").partition("General statistics")[0], "sysbench printed no 'total time'; its last line: '"),
        (text("sysbench-1.txt").replace("50     (58.22", "0      (58.22"), "sysbench completed no transaction"),
        (text("sysbench-1.txt").replace("(58.22 per", "(5.8.22 per"), "sysbench printed no 'transactions'; its last line: '"),
        (
            text("sysbench-1.txt").replace("(58.22 per", "(" + "5" * 5000 + " per"),
            "sysbench printed no 'transactions'; its last",
        ),
    ],
)
def test_unusable_output_is_an_error(printed: str, message: str):
    with pytest.raises(ToolError) as caught:
        parse(printed)
    assert message in str(caught.value)
    assert caught.value.raw == printed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "sysbench-no-table.txt",
            "sysbench prepare ended with status 1: mysql_stmt_prepare() failed; MySQL error: 1146 "
            "\"Table 'sbtest.sbtest1' doesn't exist\", host 'here'",
        ),
        (
            "sysbench-no-host.txt",
            "sysbench prepare ended with status 1: unable to connect to MySQL server on host '10.0.0.9', port 3306, "
            "aborting...; error 2002: Can't connect to server on '10.0.0.9' (115), host 'here'",
        ),
    ],
)
def test_sysbench_that_fails_says_why_and_cleans_up(name: str, message: str, canned):
    host = canned(text(name), status=1)
    with pytest.raises(ToolError) as caught:
        oltp(host, Account("10.0.0.2"))
    assert str(caught.value) == message
    assert caught.value.raw == text(name)
    assert [argv[-1] for argv in host.argv] == ["prepare", "cleanup"]


def test_the_table_is_filled_used_and_dropped(canned):
    host, counts = canned(text("sysbench-1.txt")), iter((100, 108))
    record = oltp(host, Account("10.0.0.2"), threads=1, transactions=50, rows=1000, statements=lambda: next(counts))
    assert [argv[-1] for argv in host.argv] == ["prepare", "run", "cleanup"]
    assert {"--mysql-host=10.0.0.2", "--table_size=1000", "--rand-seed=1"} <= set(host.argv[0])
    assert {"--threads=1", "--events=50", "--time=0", "--histogram"} <= set(host.argv[1])
    assert record.prepared is not None
    assert record.facts() == {
        "reads": 700, "writes": 200, "others": 100, "errors": 0, "table_rows": 1000, "prepare_statements": 8,
    }  # fmt: skip
    assert record.metrics()["prepare_ms"] == {"mean": record.prepared.seconds * 1000, "sd": None, "n": 1000}
