"""ab's parser on output of ab on Debian 13."""

import math
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.ab import EXACT, Failures, Phase, ab, parse

DATA = Path(__file__).parent / "data"


def captured(name: str, times: bool = True):
    def optional(suffix: str) -> str:
        path = DATA / f"{name}{suffix}"
        return path.read_text() if times and path.exists() else ""

    return parse((DATA / f"{name}.txt").read_text(), csv=optional(".csv"), tsv=optional(".tsv"))


def test_a_report_is_read_to_the_digit():
    record = captured("ab-100")
    assert record.server == "nginx/1.26.3"
    assert record.document_length == 51686
    assert record.concurrency == 1
    assert record.time_taken_s == 0.017
    assert (record.complete, record.failed, record.non_2xx) == (100, 0, 0)
    assert record.total_transferred == 5192200
    assert record.html_transferred == 5168600
    assert record.requests_per_second == 5777.01
    assert record.time_per_request_ms == 0.173
    assert record.problem == ""
    assert record.facts() == {"document_length": 51686, "header_length": 236}


def test_connections_that_were_kept_are_counted():
    record = captured("ab-keep-alive")
    assert record.kept_alive == 50
    assert record.facts() == {"document_length": 51686, "header_length": 326, "kept_alive": 50}
    assert record.time_per_request_ms == 42.574
    assert captured("ab-100").kept_alive is None


def test_with_concurrency_the_time_per_request_is_the_users_and_not_the_servers():
    record = captured("ab-250")
    assert record.concurrency == 4
    assert record.time_per_request_ms == 0.657  # 0.164 is in the other line
    assert record.processing_ms == Phase(min=0, mean=1, sd=0.2, median=1, max=1)
    assert record.percentiles_ms == dict.fromkeys((50, 66, 75, 80, 90, 95, 98, 99, 100), 1.0)


def test_the_percentiles_of_a_hundred_requests_are_the_requests():
    record = captured("ab-100")
    assert len(record.times_ms) == 100
    assert record.times_ms == tuple(sorted(record.times_ms))
    assert record.times_ms[0] == 0.140
    assert record.times_ms[-1] == 0.344
    assert math.fsum(record.times_ms) / 100 == pytest.approx(0.15668, abs=1e-9)
    assert record.time_per_request_sd_ms == pytest.approx(0.028836662971, abs=1e-9)


def test_with_fewer_requests_the_percentile_beyond_the_last_is_left_out():
    """For 20 requests ab's 98th percentile is request 21, so 0.257 ms is what happened to be in memory there."""
    record = captured("ab-20")
    assert len(record.times_ms) == 20
    assert record.times_ms[-3:] == (0.265, 0.292, 0.293)
    assert 0.257 not in record.times_ms
    assert record.time_per_request_sd_ms == pytest.approx(0.050031437485, abs=1e-9)


def test_with_more_requests_times_are_whole_ms_and_the_rounding_is_corrected():
    record = captured("ab-250")
    assert record.complete > EXACT
    assert len(record.times_ms) == 250
    assert set(record.times_ms) == {0.0, 1.0}
    assert record.time_per_request_sd_ms == pytest.approx(0.301974759, abs=1e-9)


def test_times_stand_in_the_order_of_the_seconds_in_which_they_began():
    """-g has starts in whole seconds: 25 requests over three seconds are three groups, with unknown order within each."""
    record = captured("ab-seconds")
    assert record.groups == (4, 12, 9)
    assert record.times_ms[:4] == (80.128, 80.153, 80.198, 80.343)  # a warm-up, which sorted times do not show
    assert record.times_ms[4:16] == (
        80.119, 80.120, 80.121, 80.124, 80.124, 80.124, 80.124, 80.127, 80.129, 80.131, 80.132, 80.144,
    )  # fmt: skip
    assert record.times_ms[16:] == (80.119, 80.119, 80.121, 80.122, 80.123, 80.123, 80.126, 80.128, 80.161)
    assert not record.ordered
    metric = record.metrics()["time_per_request_ms"]
    assert (metric["groups"], metric["values"]) == ([4, 12, 9], list(record.times_ms))
    assert "ordered" not in metric
    assert record.raw.endswith("80\t40\n")  # with the rows of -g


def test_within_one_second_the_order_is_unknown():
    assert captured("ab-250").groups == (250,)
    assert not captured("ab-250").ordered
    assert captured("ab-100").groups == ()  # nothing without the file of -g


HEAD = "starttime\tseconds\tctime\tdtime\tttime\twait\n"


def rows(*seconds_and_ms):
    return HEAD + "".join(f"Sat Nov 21 02:01:32 2026\t{second}\t0\t{ms}\t{ms}\t0\n" for second, ms in seconds_and_ms)


def twenty(tsv):
    return parse((DATA / "ab-20.txt").read_text(), (DATA / "ab-20.csv").read_text(), tsv)


def test_with_one_request_a_second_the_order_is_known():
    record = twenty(rows(*((100 - rank, 0) for rank in range(20))))
    assert record.ordered
    assert record.times_ms == tuple(reversed(captured("ab-20").times_ms))
    assert record.metrics()["time_per_request_ms"]["ordered"] is True


@pytest.mark.parametrize("tsv", [rows(*[(7, 0)] * 19), rows(*[(7, 1)] * 20), HEAD + "x\n" * 20, rows(*[("7s", 0)] * 20)])
def test_rows_that_are_not_the_ranks_are_an_error(tsv):
    with pytest.raises(ToolError, match="ab wrote times that are not understood"):
        twenty(tsv)


def test_metrics():
    record = captured("ab-100")
    metrics = record.metrics()
    time = {"mean": 0.173, "sd": pytest.approx(0.028836662971), "n": 100, "values": list(record.times_ms)}
    assert metrics["time_per_request_ms"] == time
    rate = metrics["requests_per_second"]
    assert (rate["mean"], rate["n"]) == (5777.01, 100)
    assert rate["sd"] / rate["mean"] == pytest.approx(0.028836662971 / 0.173)


def test_without_its_files_the_deviation_is_that_of_the_table():
    record = captured("ab-20", times=False)
    assert record.times_ms == ()
    assert record.time_per_request_sd_ms == 0.1


def test_raw_holds_the_report_and_the_times_and_is_read_again():
    record = captured("ab-100")
    assert record.raw.startswith("This is ApacheBench")
    assert record.raw.endswith("99,0.344\n100,0.344\n")
    assert parse(record.raw).time_per_request_ms == record.time_per_request_ms


def test_a_run_that_took_no_time_has_no_rate():
    text = (DATA / "ab-100.txt").read_text()
    text = text.replace("5777.01 [#/sec]", "inf [#/sec]").replace("0.173 [ms]", "0.000 [ms]")
    assert parse(text).metrics().keys() == {"time_per_request_ms", "time_p99_ms"}


def test_responses_of_another_length_are_a_problem():
    record = captured("ab-length")
    assert record.failed == 4
    assert record.failures == Failures(length=4)
    why = "4 of 20 requests failed (connect 0, receive 0, length 4, exceptions 0)"
    assert record.problem == f"{why}; for responses whose length varies: varying=True"


def test_responses_may_vary_in_length():
    record = captured("ab-varying")
    assert (record.complete, record.failed, record.problem) == (20, 0, "")
    assert record.document_length == round(20063 / 20)
    assert record.facts() == {"document_length": 1003, "header_length": 114}


def test_connections_that_are_dropped_are_a_problem():
    assert captured("ab-drop").failures.length == 8
    assert captured("ab-drop").problem.startswith("8 of 9 requests failed")


def test_error_pages_are_a_problem():
    record = captured("ab-404")
    assert (record.failed, record.non_2xx) == (0, 10)
    assert record.problem == "10 of 10 responses are errors (Non-2xx responses: 10)"


def test_connections_without_an_answer_are_a_problem():
    record = captured("ab-no-answer")  # of https at a port that speaks http
    assert (record.complete, record.failed, record.total_transferred) == (3, 0, 0)
    assert record.problem.startswith("none of 3 requests was answered: no byte came back")


@pytest.mark.parametrize("name", ["ab-refused", "ab-timeout", "ab-unknown-host"])
def test_a_test_that_ended_early_is_an_error(name: str):
    with pytest.raises(ToolError, match="ab printed no 'Complete requests'; its last line: 'Benchmarking") as caught:
        captured(name)
    assert caught.value.raw.startswith("This is ApacheBench")


def test_no_output_is_an_error():
    with pytest.raises(ToolError, match="its last line: 'nothing'"):
        parse("")


@pytest.mark.parametrize(
    ("found", "instead", "message"),
    [
        ("Complete requests:      100", "Complete requests:      many", "'Complete requests: many'"),
        ("Complete requests:      100", "Complete requests:      99.5", "'Complete requests: 99.5'"),
        ("0.173 [ms] (mean)\n", "", "'Time per request: Time per request: 0.173"),
        ("Total:          0    0   0.0 ", "Total:          -    0   0.0 ", "connection times for 'Total'"),
    ],
)
def test_a_line_that_is_not_understood_is_shown(found: str, instead: str, message: str):
    text = (DATA / "ab-100.txt").read_text()
    assert found in text
    with pytest.raises(ToolError, match=message):
        parse(text.replace(found, instead, 1))


@pytest.mark.parametrize("csv", ["Percentage served,Time in ms\n0,x\n", "Percentage served,Time in ms\n0,1.0\n"])
def test_times_that_are_not_understood_are_an_error(csv: str):
    with pytest.raises(ToolError, match="ab wrote times that are not understood"):
        parse((DATA / "ab-100.txt").read_text(), csv=csv)


@pytest.mark.parametrize(("url", "asked"), [("http://web:8000", "http://web:8000/"), ("http://web/a", "http://web/a")])
def test_a_url_without_a_path_is_that_of_the_front_page(url, asked):
    class Host:
        name = "client"

        def popen(self, argv, **options):
            self.asked = argv[-1]
            raise FileNotFoundError

    host = Host()
    with pytest.raises(ToolError, match="ab is not installed"):
        ab(host, url)
    assert host.asked == asked
