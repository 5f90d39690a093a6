"""Load at a constant rate: its plan and its records with exact numbers, its sockets against a small server."""

import http.server
import json
import subprocess
import threading
import time

import pytest
from hdrh.histogram import HdrHistogram

from slownet.model.errors import SlownetError, ToolError
from slownet.tools.constant_rate import constant_rate, parse
from slownet.tools.programs import loader
from slownet.tools.programs.load import Recording, Schedule, mean_and_sd, spectrum, stalled


def test_requests_are_due_in_turns():
    plan = Schedule(rate=10, seconds=1, connections=3)
    assert plan.count == 10
    assert [round(each, 9) for each in plan.of(0)] == [0.0, 0.3, 0.6, 0.9]
    assert [round(each, 9) for each in plan.of(2)] == [0.2, 0.5, 0.8]
    assert sum(len(list(plan.of(number))) for number in range(3)) == 10


@pytest.mark.parametrize("fields", [{"rate": 0}, {"seconds": -1}, {"connections": 0}])
def test_a_load_of_nothing(fields):
    with pytest.raises(SlownetError, match="give more than 0"):
        Schedule(**({"rate": 1.0, "seconds": 1.0, "connections": 1} | fields))


def test_more_connections_than_select_can_wait_for():
    with pytest.raises(SlownetError, match=r"1001 connections, in a load: select\(2\) can wait for 1000 at most"):
        Schedule(1, 1, 1001)


def test_both_latencies_of_one_request():
    recording = Recording()
    recording.answered(planned=1.0, sent=3.0, done=3.5)
    told = recording.to_json()
    assert told["corrected"]["mean"] == recording.corrected.get_mean_value() / 1e6
    assert told["corrected"]["max"] == pytest.approx(2.5, rel=1e-3)
    assert told["uncorrected"]["max"] == pytest.approx(0.5, rel=1e-3)
    assert Recording().to_json()["corrected"] == {"count": 0}


def test_tenes_thought_experiment_by_arithmetic():
    told = stalled(rate=100, good_s=100, latency_s=0.001, stall_s=100).to_json()
    corrected, naive = told["corrected"], told["uncorrected"]
    assert corrected["count"] == 20_000
    assert corrected["mean"] == pytest.approx(25.0, rel=1e-3)
    assert [corrected["percentiles"][each] for each in ("50", "75", "99.99")] == pytest.approx([0.001, 50.0, 100.0], rel=1e-3)
    assert naive["count"] == 10_001
    assert naive["mean"] == pytest.approx(0.011, rel=1e-3)
    assert naive["percentiles"]["99.99"] == pytest.approx(0.001, rel=1e-3)


def test_a_spectrum_rises_and_a_histogram_survives_its_record():
    recording = stalled(rate=100, good_s=1, latency_s=0.001, stall_s=1)
    steps = spectrum(recording.corrected)
    assert steps == sorted(steps)
    assert steps[-1][1:] == (1.0, 200)
    again = HdrHistogram.decode(recording.to_json()["corrected"]["hdr"])
    assert again.get_total_count() == 200
    assert again.get_value_at_percentile(75) == recording.corrected.get_value_at_percentile(75)


def test_mean_and_deviation_are_histograms_own():
    corrected = stalled(rate=100, good_s=2, latency_s=0.001, stall_s=3).corrected
    assert mean_and_sd(corrected) == pytest.approx((corrected.get_mean_value(), corrected.get_stddev()), rel=1e-12)


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise each body waits 40 ms for the acknowledgement of its head
    status, stall_at, count, asked = 200, None, 0, ""

    def do_GET(self):
        kind = type(self)
        kind.count += 1
        kind.asked = self.path
        if kind.count == kind.stall_at:
            time.sleep(0.3)
        self.send_response(kind.status)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *words):
        pass


@pytest.fixture
def page():
    handler = type("OnePage", (Page,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        handler.port = server.server_port
        yield handler
        server.shutdown()
        thread.join()


def job(page, **fields):
    wanted = {"rate": 100, "seconds": 1.0, "connections": 1, "patience": 5}
    return {"address": "127.0.0.1", "port": page.port, "path": "/", **wanted, **fields}


def test_every_planned_request_is_sent_and_counted(page):
    told = loader.run(job(page, rate=50, seconds=0.4, connections=4))
    assert [told[name] for name in ("planned", "answered", "failed", "unanswered")] == [20, 20, 0, 0]
    assert page.count == 20


def test_a_stall_is_many_slow_requests_corrected_and_one_uncorrected(page):
    page.stall_at = 10
    told = loader.run(job(page, rate=100, seconds=0.5))
    assert told["answered"] == 50
    assert told["corrected"]["mean"] > 2 * told["uncorrected"]["mean"]
    assert told["corrected"]["percentiles"]["75"] > told["uncorrected"]["percentiles"]["75"]


def test_answers_that_are_errors_are_failures(page):
    page.status = 503
    told = loader.run(job(page, rate=20, seconds=0.2))
    assert (told["answered"], told["failed"], told["why"]) == (0, 4, "HTTP/1.1 503 Service Unavailable")


def test_nobody_listens(page):
    told = loader.run(job(page, rate=20, seconds=0.2, port=1, patience=600))
    assert (told["answered"], told["failed"], told["unanswered"]) == (0, 4, 0)
    assert told["seconds"] < 600  # it does not wait
    assert told["why"] == "Connection refused"


def test_patience_ends(page):
    page.stall_at = 1
    told = loader.run(job(page, rate=20, seconds=0.1, patience=0.05))
    assert (told["answered"], told["unanswered"]) == (0, 2)


def test_the_tool_reads_what_the_loader_prints(page):
    text = json.dumps(loader.run(job(page, rate=50, seconds=0.4)))
    record = parse(text, ["loader"], 50)
    found = record.metrics()
    assert found["target_per_s"]["mean"] == 50
    assert found["answered_per_s"]["n"] == 20
    assert {"corrected_p99_99_s", "uncorrected_p50_s", "corrected_max_s"} <= set(found)
    assert {"corrected_spectrum", "uncorrected_hdr", "unanswered"} <= set(record.facts())


class Here:
    name = "here"

    def popen(self, argv, **options):
        return subprocess.Popen(argv, start_new_session=True, **options)


def test_the_page_with_its_query_is_asked(page):
    constant_rate(Here(), f"http://127.0.0.1:{page.port}/shop?article=3#top", rate=20, seconds=0.1)
    assert page.asked == "/shop?article=3"


def test_no_answer_says_why(page):
    page.status = 404
    with pytest.raises(ToolError, match=r"^none of the 2 requests succeeded \(HTTP/1.1 404 Not Found\), host 'here', http:"):
        constant_rate(Here(), f"http://127.0.0.1:{page.port}/", rate=20, seconds=0.1)


@pytest.mark.parametrize(
    ("url", "rate", "what"),
    [
        ("https://web/", 20, "'https://web/' is an https URL, and constant_rate speaks HTTP without TLS: give an http URL"),
        ("web:8000", 20, "'web:8000' is not an http or https URL: write it like http://web:8000"),
        ("http://web/", 0.4, "no request is due in 1 s at 0.4 a second, in a load: give a higher rate, or more seconds"),
    ],
)
def test_what_cannot_be_asked_is_one_line(url, rate, what):
    with pytest.raises(SlownetError) as caught:
        constant_rate(Here(), url, rate=rate, seconds=1)
    assert str(caught.value).startswith(what)


def test_the_rate_varies_as_its_batches_do():
    recording = Recording()
    for number in range(40):
        recording.answered(0.0, 0.0, number / 40 if number < 39 else 0.5)  # the last of the 20 parts has one fewer
    rates = recording.batches(1.0)
    assert (len(rates), rates[-1], rates[10], sum(rates)) == (20, 20, 60, 800)
    assert recording.batches(0.0) == []
    few = Recording()
    few.answered(0.0, 0.0, 0.5)
    assert few.batches(1.0) == []


@pytest.mark.parametrize("text", ["", "Traceback\nKeyError: 'x'\n", "{}", '{"planned": "many"}'])
def test_what_is_no_report(text):
    with pytest.raises(ToolError, match="report is not understood") as caught:
        parse(text)
    assert caught.value.raw == text
