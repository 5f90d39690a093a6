"""Files that irtt 0.9, mtr 0.95, fping 5.5, vegeta 12.13, k6 0.49, wrk and oha wrote, against their sums; others by format."""

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from slownet.links.traces import histogram_logs, trace_summary
from slownet.links.traces.path_report import PathReport
from slownet.model.errors import TraceError

DATA, TOOLS = Path(__file__).parent / "data", Path(__file__).parents[2] / "tools" / "data"


def facts(tmp_path, content):
    path = tmp_path / "file"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return trace_summary.load(path).facts()


def test_irtt():
    log = trace_summary.load(DATA / "irtt.json")
    stated = json.loads((DATA / "irtt.json").read_text())["round_trips"]
    assert log.rtts == pytest.approx([each["delay"]["rtt"] / 1e9 for each in stated])
    assert log.loss == 0
    assert log.interval == pytest.approx(0.02, abs=0.005)


def test_irtt_with_losses_of_either_direction(tmp_path):
    found = json.loads((DATA / "irtt.json").read_text())
    for number, way in ((1, "true_up"), (2, "true_down"), (4, "true")):
        found["round_trips"][number] = {"seqno": number, "lost": way, "timestamps": {}, "delay": {}, "ipdv": {}}
    (tmp_path / "a").write_text(json.dumps(found))
    assert trace_summary.load(tmp_path / "a").lost == [False, True, True, False, True, False]


def test_mtr():
    report = trace_summary.load(DATA / "mtr.json")
    assert report == PathReport("mtr", "127.0.0.1", 1, 5, 0.0, 0.042 / 1000, 0.053 / 1000, 0.092 / 1000)
    assert report.facts()["condition"] == "+53 us RTT"


def test_mtr_with_losses_and_without_an_answer(tmp_path):
    found = json.loads((DATA / "mtr.json").read_text())
    found["report"]["hubs"][-1] |= {"Loss%": 20.0, "Avg": 40.0}
    assert facts(tmp_path, found)["loss_share"] == 0.2
    assert "+40 ms RTT" in facts(tmp_path, found)["condition"]
    found["report"]["hubs"][-1]["Loss%"] = 100.0
    with pytest.raises(TraceError, match=r"127\.0\.0\.1 did not answer"):
        facts(tmp_path, found)


def test_fping_with_clocks():
    log = trace_summary.load(DATA / "fping-clocks.json")
    assert [number for number, lost in enumerate(log.lost) if lost] == [4, 5, 6]
    assert log.interval == pytest.approx(0.1, abs=0.001)
    stated = json.loads((DATA / "fping-clocks.json").read_text().splitlines()[-1])["vSum"]["values"]
    assert log.rtts == pytest.approx([each / 1000 for each in stated if each is not None])


def test_fping_with_its_summary(tmp_path):
    log = trace_summary.load(DATA / "fping-summary.json")
    text = (DATA / "fping-summary.json").read_text()
    stated = json.loads(text.splitlines()[-1])["summary"]
    assert (len(log.pings), log.loss) == (stated["xmt"], stated["loss"] / 100)
    found = log.facts()
    times = (stated[name] / 1000 for name in ("rttMin", "rttAvg", "rttMax"))
    assert [found[f"{name}_rtt_s"] for name in ("min", "mean", "max")] == pytest.approx([*times], abs=0.5e-6)
    assert facts(tmp_path, "\n".join(text.splitlines()[:5]) + '\n{"resp": {"ho')["lost"] == 1  # ended suddenly


def test_pings_that_fping_could_not_send_are_lost(tmp_path):
    lines = (DATA / "fping-summary.json").read_text().splitlines()
    unsent = [line for line in lines if '"seq": 5' not in line and '"seq": 11' not in line]
    assert facts(tmp_path, "\n".join(unsent).replace('"rcv": 9', '"rcv": 8'))["lost"] == 4


def test_quiet_fping():
    values = trace_summary.load(DATA / "fping-quiet-values.json")
    assert [number for number, lost in enumerate(values.lost) if lost] == [4, 5, 6]
    assert values.rtts[:2] == [0.025 / 1000, 0.075 / 1000]
    report = trace_summary.load(DATA / "fping-quiet-summary.json")
    assert report == PathReport("fping", "10.8.0.9", 0, 12, 0.25, 0.036 / 1000, 0.041 / 1000, 0.054 / 1000)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"summary": {"host": "a", "xmt": 2, "rcv": 0, "loss": 100}}', "0 of 2 pings were answered"),
        ('{"warning": {"host": "no.such", "message": "Name or service not known"}}', "did not reach no.such: Name or service"),
        ('{"intSum": {"time": 1, "host": "a", "xmt": 4, "rcv": 4, "loss": 0}}', "neither pings nor a final summary"),
        ('{"resp": {"host": "a", "seq": 0, "rtt": 1}}\n{"resp": {"host": "b", "seq": 0, "rtt": 1}}', "2 hosts, a, b"),
        ('{"vSum": {"host": "a", "values": [true]}}', "is not a time"),
        ('{"resp": {"host": "a", "seq": 0, "rtt": 1, "timestamp": "soon"}}', "of another kind"),
    ],
)  # fmt: skip
def test_what_fping_did_not_measure_is_one_line(tmp_path, line, message):
    with pytest.raises(TraceError, match=message):
        facts(tmp_path, line)


def test_vegeta():
    report = trace_summary.load(DATA / "vegeta-report.json").facts()
    assert report["kind"] == "latencies of vegeta"
    assert (report["requests"], report["failed"]) == (20, 6)
    assert (report["min_latency_s"], report["latency_p50_s"], report["max_latency_s"]) == (
        0.000277813,
        0.001520239,
        0.004670831,
    )
    of_lines, of_table = (trace_summary.load(DATA / f"vegeta-requests.{kind}").facts() for kind in ("json", "csv"))
    assert of_lines == of_table
    for name in ("requests", "failed", "min_latency_s", "max_latency_s"):
        assert of_lines[name] == report[name]
    assert of_lines["mean_latency_s"] == pytest.approx(report["mean_latency_s"], abs=1e-9)
    assert of_lines["latency_p99_s"] == report["latency_p99_s"]


def test_oha_and_wrk():
    path = TOOLS / "oha-sustained.json"
    stated, found = json.loads(path.read_text()), trace_summary.load(path).facts()
    assert found["mean_latency_s"] == stated["summary"]["average"]
    assert found["latency_p99_s"] == stated["latencyPercentiles"]["p99"]
    assert found["requests"] == sum(stated["statusCodeDistribution"].values())
    found = trace_summary.load(TOOLS / "wrk.txt").facts()
    assert (found["requests"], found["failed"], found["requests_per_second"]) == (9943, 0, 1972.37)
    assert (found["mean_latency_s"], found["latency_p99_s"]) == pytest.approx((0.0018, 0.00685))
    assert trace_summary.load(TOOLS / "wrk-404.txt").facts()["failed"] > 0
    assert trace_summary.load(TOOLS / "wrk2-u.txt").facts()["requests"] > 0


@pytest.mark.parametrize("name", ["sustained", "sustained-uncorrected", "overload", "404"])
def test_ohas_database_has_the_numbers_of_its_own_summary(name):
    stated = json.loads((TOOLS / f"oha-{name}.json").read_text())
    found = trace_summary.load(TOOLS / f"oha-{name}.db").facts()
    assert found["kind"] == "latencies of oha"
    assert found["requests"] == sum(stated["statusCodeDistribution"].values())
    assert found["failed"] == sum(
        count for status, count in stated["statusCodeDistribution"].items() if not 200 <= int(status) < 400
    )
    for ours, own in (("mean", "average"), ("min", "fastest"), ("max", "slowest")):
        assert found[f"{ours}_latency_s"] == pytest.approx(stated["summary"][own], rel=1e-6)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"SQLite format 3\0" + bytes(500), "its database is not oha's"),
        (b"not a database", "a trace is plain text|is no"),
    ],
)
def test_another_database_is_refused_in_a_line(tmp_path, content, said):
    (tmp_path / "file.db").write_bytes(content)
    with pytest.raises(TraceError, match=said):
        trace_summary.load(tmp_path / "file.db")


OHA_CSV = """\
request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status
0.002,0.0001,0.0005,0.0190,0.0200,11,200
0.004,0.0001,0.0005,0.0290,0.0300,11,404
1.002,0,0,0.0090,0.0100,11,200
"""


def test_ohas_table(tmp_path):
    found = facts(tmp_path, OHA_CSV)
    assert (found["kind"], found["requests"], found["failed"]) == ("latencies of oha", 3, 1)
    assert (found["min_latency_s"], found["latency_p50_s"], found["max_latency_s"]) == (0.01, 0.02, 0.03)
    assert found["duration_s"] == pytest.approx(1.01)
    older = OHA_CSV.replace("Response-delay,", "").replace("0.0190,", "").replace("0.0290,", "").replace("0.0090,", "")
    assert facts(tmp_path, older) == found
    with pytest.raises(TraceError, match="a row has 'soon' as its request-duration"):
        facts(tmp_path, OHA_CSV.replace("0.0300", "soon"))


def test_vegetas_own_format_is_refused_with_the_command_that_turns_it_into_one_that_is_read():
    with pytest.raises(TraceError, match=r"it is in vegeta's own format.*: turn it into JSON with vegeta encode"):
        trace_summary.load(DATA / "vegeta-results.gob")


def test_k6(tmp_path):
    times = {"avg": 120.0, "min": 100.0, "med": 110.0, "max": 190.0, "p(90)": 150.0, "p(95)": 160.0}
    exported = {"http_req_duration": times, "http_reqs": {"count": 40, "rate": 8.0}, "http_req_failed": {"value": 0.05}}
    expected = {"kind": "latencies of k6", "requests": 40, "failed": 2, "requests_per_second": 8.0, "min_latency_s": 0.1,
                "mean_latency_s": 0.12, "max_latency_s": 0.19, "latency_p50_s": 0.11, "latency_p90_s": 0.15,
                "latency_p95_s": 0.16}  # fmt: skip
    assert facts(tmp_path, {"root_group": {}, "metrics": exported}) == pytest.approx(expected)
    handled = {name: {"type": "trend", "values": values} for name, values in exported.items()}
    handled["http_req_failed"]["values"] = {"rate": 0.05}
    assert facts(tmp_path, {"metrics": handled}) == pytest.approx(expected)
    lines = [{"type": "Metric", "metric": "http_req_duration", "data": {"type": "trend"}}]
    for ms, failed in ((100.0, 0), (150.0, 1), (110.0, 0)):
        lines += [{"type": "Point", "metric": name, "data": {"time": "2026-01-01T00:00:00Z", "value": value}}
                  for name, value in (("http_req_duration", ms), ("http_req_failed", failed), ("vus", 1))]  # fmt: skip
    found = facts(tmp_path, "\n".join(map(json.dumps, lines)))
    assert (found["requests"], found["failed"], found["latency_p50_s"], found["max_latency_s"]) == (3, 1, 0.11, 0.15)


def test_k6s_own_files():
    """Four requests of k6 0.49, the third of which met no file: its table and its summary are of one run."""
    stated = json.loads((DATA / "k6-summary.json").read_text())["metrics"]["http_req_duration"]
    summary, table, points = (
        trace_summary.load(DATA / name).facts() for name in ("k6-summary.json", "k6.csv", "k6-points.json")
    )
    for found in (summary, table, points):
        assert (found["kind"], found["requests"], found["failed"]) == ("latencies of k6", 4, 1)
    for ours, own in (("min", "min"), ("mean", "avg"), ("max", "max")):
        assert summary[f"{ours}_latency_s"] == pytest.approx(stated[own] / 1000)
        assert table[f"{ours}_latency_s"] == pytest.approx(stated[own] / 1000, rel=1e-6)


def test_a_table_of_k6_with_a_row_that_has_no_number(tmp_path):
    text = (DATA / "k6.csv").read_text().replace("20.558752", "long")
    with pytest.raises(TraceError, match="a row has 'long' as its metric_value"):
        facts(tmp_path, text)


def histogram(values):
    found = HdrHistogram(1, 3_600_000_000_000, 3)
    for each in values:
        found.record_value(each)
    return found.encode().decode()


def test_histogram_logs(tmp_path):
    near = [1_000_000 + 10_000 * number for number in range(100)]
    far = [40_000_000] * 10
    text = "\n".join([
        "#[made for a test]", "#[Histogram log format version 1.3]", "#[BaseTime: 1700000000.000 (seconds since epoch)]",
        "#[StartTime: 1700000000.000 (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
        f"0.000,1.000,1.5,{histogram(near[:50])}", f"1.000,1.000,2.0,{histogram(near[50:])}",
        f"Tag=far,0.000,2.000,40.0,{histogram(far)}",
    ])  # fmt: skip
    found = facts(tmp_path, text)
    assert (found["requests"], found["far_requests"], found["duration_s"], found["requests_per_second"]) == (100, 10, 2.0, 50.0)
    within = {"rel": 0.001}  # three digits
    assert found["min_latency_s"] == pytest.approx(0.001, **within)
    assert found["latency_p50_s"] == pytest.approx(0.00149, **within)
    assert found["max_latency_s"] == pytest.approx(0.00199, **within)
    assert found["far_mean_latency_s"] == pytest.approx(0.04, **within)
    broken = base64.b64encode(b"\x1c\x84\x93\x14" + bytes(8)).decode()
    with pytest.raises(TraceError, match="its histogram cannot be read"):
        facts(tmp_path, text + f"\n2.000,1.000,1.5,{broken}")
    with pytest.raises(TraceError, match=r"'2\.000,hello' is not a line of a histogram log"):
        facts(tmp_path, text + "\n2.000,hello")


def test_a_histogram_log_that_takes_much_memory_is_refused(tmp_path, monkeypatch):
    head = "#[Histogram log format version 1.3]\n"
    packed = zlib.compress(bytes(histogram_logs.MOST_OF_A_HISTOGRAM + 100), 9)
    bomb = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    assert len(bomb) < 30_000
    with pytest.raises(TraceError, match=r"its histogram has more than 16 MiB, unpacked.* line 2"):
        facts(tmp_path, f"{head}0.000,1.000,1.5,{bomb}\n")
    monkeypatch.setattr(histogram_logs, "MOST_COUNTS", 100_000)
    tags = "".join(f"Tag=t{number},0.000,1.000,1.5,{histogram([1000])}\n" for number in range(5))
    with pytest.raises(TraceError, match=r"its histograms have more than 100,000 counts"):
        facts(tmp_path, head + tags)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"a": 1}', "its JSON was not written by a program that slownet can read"),
        ('{"a": 1', "it is not JSON"),
        ('{"report": {"hubs": 3, "mtr": {}}}', "a field is missing or of another kind"),
        ('{"round_trips": [{"seqno": -1, "lost": "false"}], "config": {}}', "-1 is not a number of pings"),
        ('{"round_trips": [], "config": {"params": {"interval": 1}}}', r"too few pings were answered \(0\)"),
        ('{"latencies": {"min": NaN}, "requests": 1, "status_codes": {}}', "nan is not a number"),
        ("Running 5s test @ http://x/\n", "its count is missing"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, content, why):
    with pytest.raises(TraceError, match=why) as caught:
        facts(tmp_path, content)
    assert "\n" not in str(caught.value)
