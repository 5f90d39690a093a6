"""What real programs print when something is odd: either the right numbers, or one line that says what it is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools import ab, curl, iperf3, oha, ping, redis_benchmark, sysbench, wrk

DATA = Path(__file__).parent / "data"
PING = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n"
LINE = "64 bytes from 10.0.0.2: icmp_seq={} ttl=64 time={} ms{}\n"
TRANSFER = {
    "http_version": "1.1", "num_connects": 1, "size_download": 10, "time_total": 0.2, "time_starttransfer": 0.1,
    "time_connect": 0.05, "errormsg": None, "exitcode": 0, "url": "http://10.0.0.2/", "response_code": 200,
}  # fmt: skip


def iperf3_report(change: Callable[[dict], object]) -> str:
    report = json.loads((DATA / "iperf3-cubic.txt").read_text())
    change(report)
    return json.dumps(report)


def pings(*replies: tuple, counts: str, rtt: str = "rtt min/avg/max/mdev = 10.000/10.000/10.000/0.000 ms") -> str:
    lines = "".join(LINE.format(*each, *[""] * (3 - len(each))) for each in replies)
    return f"{PING}{lines}\n--- 10.0.0.2 ping statistics ---\n{counts} packet loss, time 1001ms\n{rtt}\n"


def one_line(parse: Callable[[str], object], text: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    assert caught.value.raw == text


def test_iperf3_without_a_count_of_retransmits_has_none():
    record = iperf3.parse(iperf3_report(lambda report: report["end"]["sum_sent"].pop("retransmits")))
    assert record.retransmits is None
    assert list(record.metrics()) == ["mbit_per_s"]


def test_iperf3s_report_is_found_between_warnings():
    text = (DATA / "iperf3-cubic.txt").read_text()
    record = iperf3.parse(f"warning: this system does not support IPv6\n{text}\niperf3: a warning\n")
    assert record.mbit_per_s == iperf3.parse(text).mbit_per_s
    one_line(iperf3.parse, text + text, "iperf3 printed no JSON")


def test_the_windows_of_several_connections_are_not_mixed():
    rows = "".join(f"[{each:3}]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    0   1.12 MBytes       \n" for each in (5, 7))
    assert iperf3.parse(iperf3_report(lambda report: report.update(server_output_text=rows))).windows == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda report: report["start"]["test_start"].update(protocol="UDP"), "iperf3 sent UDP"),
        (lambda report: report["start"]["test_start"].update(bidir=1), "--bidir has two throughputs"),
        (lambda report: report["end"].update(sum_received_bidir_reverse={}), "--bidir has two throughputs"),
        (lambda report: report["end"]["sum_received"].update(seconds=0), "measured for 0 s"),
        (lambda report: report["end"]["sum_received"].update(seconds=-1), "without a number for the seconds, but -1"),
        (lambda report: report["end"]["sum_received"].update(bytes="12"), "without a number for the bytes, but '12'"),
        (lambda report: report["intervals"][0]["sum"].update(bits_per_second=float("nan")), "a rate, but nan"),
        (lambda report: report.update(error="interrupt - the client has terminated"), "iperf3: interrupt - the client"),
    ],
)
def test_iperf3_that_measured_something_else(change, message):
    one_line(iperf3.parse, iperf3_report(change), message)


def test_pings_summary_counts_duplicates_but_a_round_trip_is_that_of_the_first_reply():
    found = ping.parse(
        pings(
            (1, "10.0"), (1, "110", " (DUP!)"), (2, "12.0"), (2, "112", " (DUP!)"),
            counts="2 packets transmitted, 2 received, +2 duplicates, 0%",
            rtt="rtt min/avg/max/mdev = 10.000/61.000/112.000/50.010 ms",
        )
    )  # fmt: skip
    assert found.duplicates == 2
    assert found.metrics()["rtt_ms"] == {"mean": 11.0, "sd": pytest.approx(2**0.5), "n": 2, "values": [10, 12], "ordered": True}


def test_a_damaged_reply_is_none():
    counts = "2 packets transmitted, 1 received, +1 corrupted, 50%"
    found = ping.parse(pings((1, "10.0"), (2, "10.0", " (BAD CHECKSUM!)"), counts=counts))
    assert [each.sequence for each in found.replies] == [1]


def test_replies_with_the_time_of_day_and_out_of_order():
    text = pings((2, "10.0"), (1, "10.0"), counts="2 packets transmitted, 2 received, 0%")
    stamped = text.replace("64 bytes", "[1764169200.123456] 64 bytes")
    assert [each.sequence for each in ping.parse(stamped).replies] == [2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (pings((1, "10"), counts="1 packets transmitted, 1 received, 0%", rtt="rtt min/avg/max/mdev = 10,0/10,0/10,0/0,0 ms"),
         "numbers with commas: run it in the C locale"),
        ("1 packets transmitted, 1 packets received, 0% packet loss\nround-trip min/avg/max = 0.1/0.1/0.1 ms\n",
         "another ping than iputils'; install iputils-ping"),
        (pings(counts="1 packets transmitted, 1 received, 0%", rtt=""), "too small to hold a time"),
        (f"{PING}\n--- 10.0.0.2 ping statistics ---\n0 packets transmitted, 0 received\n", "ping sent no packet"),
        (pings((1, "10"), counts="2 packets transmitted, 1 received, 10%"), "contradicts itself"),
        (pings((1, "10"), (2, "10"), counts="2 packets transmitted, 1 received, 50%"), "contradicts itself"),
        (2 * pings((1, "10"), counts="1 packets transmitted, 1 received, 0%"), "two summaries"),
    ],
)  # fmt: skip
def test_pings_of_another_kind_or_that_contradict_themselves(text, message):
    one_line(ping.parse, text, message)


@pytest.mark.parametrize(
    ("parse", "name", "old", "new", "message"),
    [
        (ab.parse, "ab-20", "request:       0.185", "request:       nan", "not understood: 'Time per request: nan"),
        (ab.parse, "ab-20", "request:       0.185", "request:       -0.185", "not understood: 'Time per request: -0.185"),
        (ab.parse, "ab-20", "second:    5396.65", "second:    53.65", "53.65 requests a second, but 20 in 0.004 s"),
        (ab.parse, "ab-20", "Complete requests:      20", "Complete requests:      0", "ab completed no request"),
        (sysbench.parse, "sysbench-1", "avg:                                   16.75",
         "avg:                                   1.675e+01", "no 'avg'"),
        (sysbench.parse, "sysbench-1", "avg:                                   16.75",
         "avg:                                   16,75", "no 'avg'"),
        (sysbench.parse, "sysbench-1", "0.8586s", "8.586e-01s", "no 'total time'"),
        (sysbench.parse, "sysbench-1", "(58.22 per sec.)", "(5822.00 per sec.)", "5822 transactions a second, but 50 in"),
        (sysbench.parse, "sysbench-1", "sysbench 1.0.20", "sysbench 0.4.12: ", r"sysbench 0\.4\.12; 1\.0 or newer"),
        (wrk.parse, "wrk", "50%    1.60ms", "50%    8.60ms", "percentiles that do not rise"),
        (wrk.parse, "wrk", "99%    6.85ms", "99%    6.85s", "percentiles that do not rise"),
    ],
)  # fmt: skip
def test_a_number_that_cannot_be(parse, name, old, new, message):
    text = (DATA / f"{name}.txt").read_text()
    assert old in text
    one_line(parse, text.replace(old, new, 1), message)


@pytest.mark.parametrize(("seconds", "rate"), [("120.001", "0.17"), ("4200.000", "0.00"), ("13.793", "1.45")])
def test_a_slow_pages_rate_is_more_exact_than_its_two_decimals(seconds, rate):
    text = (
        (DATA / "ab-20.txt").read_text().replace("0.004 seconds", f"{seconds} seconds", 1).replace("5396.65 [", f"{rate} [", 1)
    )
    assert ab.parse(text).requests_per_second == 20 / float(seconds)


def test_wrks_rate_has_two_decimals():
    text = (DATA / "wrk.txt").read_text()
    for old, new in (("9943 requests in 5.04s", "5 requests in 2.00m"), ("1972.37", "0.04")):
        assert old in text
        text = text.replace(old, new, 1)
    assert wrk.parse(text).requests_per_s == 0.04


def test_abs_requests_that_could_not_be_sent_and_failures_without_a_reason():
    text = (DATA / "ab-20.txt").read_text()
    unsent = ab.parse(text.replace("Failed requests:        0", "Failed requests:        0\nWrite errors:           3"))
    assert unsent.problem == "3 requests could not be sent (Write errors: 3)"
    assert ab.parse(text.replace("requests:        0", "requests:        3")).problem == "3 of 20 requests failed"
    assert ab.parse(text.replace("  99%      0", "  99%      12.5")).percentiles_ms[99] == 12.5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"exitcode": 7, "errormsg": "Failed to connect", "response_code": 0},
            r"failed \(http://10.0.0.2/\): Failed to connect",
        ),
        ({"response_code": 404}, "the response has status 404"),
        ({"response_code": 0}, "there was no response"),
        ({"time_total": -1}, "a number for time_total, but -1"),
        ({"time_total": "0.1"}, "a number for time_total"),
        ({"time_starttransfer": True}, "a number for time_starttransfer, but True"),
    ],
)
def test_a_transfer_of_curl_that_failed_before_others_succeeded(changed, message):
    one_line(curl.parse, f"{json.dumps(TRANSFER | changed)}\n{json.dumps(TRANSFER)}\n", message)


def oha_of(change: Callable[[dict], object], *rows: tuple) -> oha.Oha:
    report = json.loads((DATA / "oha-sustained.json").read_text())
    change(report)
    return oha.parse(f"warning: slow\n{json.dumps(report)}\n", rows, rate=10, planned=2)


def test_oha():
    assert oha_of(lambda _: None, (0.0, 0.0, 0.1, 200)).answered == 1
    for total in (None, float("nan"), -1):
        with pytest.raises(ToolError, match=r"a number for summary\.total"):
            oha_of(lambda report: report["summary"].update(total=total))  # noqa: B023  # called at once
    with pytest.raises(ToolError, match="took 0 s"):
        oha_of(lambda report: report["summary"].update(total=0))
    with pytest.raises(ToolError, match="a number for errorDistribution, but -3"):
        oha_of(lambda report: report.update(errorDistribution={"refused": -3}))
    with pytest.raises(ToolError, match="answered before it had sent"):
        oha_of(lambda _: None, (0.0, 0.2, 0.1, 200))


def test_an_old_redis_benchmark():
    one_line(redis_benchmark.parse, '"GET","12345.67"\n', "redis-benchmark printed no rate and latency")
    row = '"GET","12345.67","0.123"\n'
    assert redis_benchmark.parse(row, requests=10, at_once=50).metrics()["turn_ms"]["n"] == 1
