"""wrk's parser on output from a lab (Debian's 4.1.0), and on wrk2's own example.

wrk2-u.txt is "Example 1" of the README of giltene/wrk2, its spectra shortened.
"""

import re
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.wrk import Plan, _asked, parse, wrk, wrk2

DATA = Path(__file__).parent / "data"


def text(name: str) -> str:
    return (DATA / name).read_text()


def test_wrk():
    record = parse(text("wrk.txt"), ["wrk", "u"])
    assert (record.requests, record.seconds, record.requests_per_s) == (9943, 5.04, 1972.37)
    assert (record.mean, record.sd, record.max) == (0.0018, 0.00145, 0.00902)
    assert record.distribution.percentiles == {50: 0.0016, 75: 0.00229, 90: 0.00376, 99: 0.00685}
    assert (record.uncorrected, record.non_2xx, record.errors) == (None, 0, (0, 0, 0, 0))


def test_wrk_corrects_nothing_and_its_metrics_say_so():
    found = parse(text("wrk.txt")).metrics()
    assert found["uncorrected_p99_s"] == {
        "mean": 0.00685, "sd": None, "n": 9943, "percent": 99, "of": "uncorrected_mean_s",
    }  # fmt: skip
    assert found["uncorrected_mean_s"]["sd"] == 0.00145
    assert not [name for name in found if name.startswith("corrected")]


def test_wrk2_has_both_latencies_with_their_spectra():
    record = parse(text("wrk2-u.txt"))
    assert record.distribution.percentiles[99.99] == 0.01129
    assert record.uncorrected is not None
    assert record.uncorrected.percentiles[99.99] == 0.00699
    assert [count for _, _, count in record.distribution.spectrum] == [1, 3952, 19783, 39500]
    assert record.distribution.spectrum[2] == pytest.approx((0.006207, 0.5, 19783))
    assert (record.uncorrected.mean, record.uncorrected.sd) == (0.002757, 0.001254)
    assert (record.uncorrected.max, record.uncorrected.count) == (0.007012, 39500)
    found = record.metrics()
    assert found["corrected_mean_s"] == {
        "mean": 0.006178, "sd": 0.001836, "n": 39500,
        "steps": [[0.000677, 1], [0.003783, 3952], [0.006207, 19783], [0.011319, 39500]],
    }  # fmt: skip
    assert found["corrected_p99_99_s"]["mean"] == 0.01129
    assert found["uncorrected_p50_s"]["mean"] == 0.00268
    assert found["answered_per_s"]["mean"] == 2000.67
    assert len(record.facts()["uncorrected_spectrum"]) == 4


def test_socket_errors():
    line = "  Socket errors: connect 1, read 2, write 3, timeout 4\nRequests/sec"
    assert parse(text("wrk.txt").replace("Requests/sec", line)).errors == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("", "wrk printed no number of requests; its last line: 'nothing'"),
        ("unable to connect\n", "wrk printed no number of requests; its last line: 'unable to connect'"),
        (text("wrk.txt").replace("9943 requests", "0 requests"), "wrk received no answer"),
        (text("wrk.txt").replace("Requests/sec", "Anfragen/s"), "wrk printed no requests a second"),
    ],
)
def test_unusable_output_is_an_error(printed: str, message: str):
    with pytest.raises(ToolError) as caught:
        parse(printed)
    assert message in str(caught.value)
    assert caught.value.raw == printed


def test_a_line_of_no_percentile_is_no_line_of_the_table():
    assert parse(text("wrk.txt").replace(" 50%", " ..50%", 1)).raw


def test_error_responses(canned):
    with pytest.raises(ToolError, match=r"2299 of 2299 responses are errors .*, host 'here', http://x/"):
        wrk(canned(text("wrk-404.txt")), "http://x/", seconds=1)


def test_no_connection(canned):
    with pytest.raises(ToolError, match=r"wrk ended with status 1: unable to connect to 10.0.0.2:81 Connection refused"):
        wrk(canned("", text("wrk-refused.txt"), 1), "http://x/", seconds=1)


def test_the_command_of_wrk2(canned, monkeypatch):
    monkeypatch.setenv("SLOWNET_WRK2", "/mine/wrk")
    host = canned(text("wrk2-u.txt"))
    record = wrk2(host, "http://x/", rate=1999.6, seconds=19.5, connections=100, threads=2)
    assert host.argv == [["/mine/wrk", "-t2", "-c100", "-d30s", "-R2000", "-L", "-U", "http://x/"]]
    found = record.metrics()
    counted = {name: found[name]["mean"] for name in ("target_per_s", "counted_from_s", "counted_to_s")}
    assert counted == {"target_per_s": 2000.0, "counted_from_s": 10.25, "counted_to_s": record.seconds}
    assert record.rate == 2000
    with pytest.raises(ToolError, match="a test of 31 s took 30 s"):
        wrk2(host, "http://x/", rate=2000, seconds=20, connections=100, threads=2)
    assert host.argv[-1][3] == "-d31s"  # 20 s of measurement after 10.25 s of calibration


COMMAND = ["wrk2", "-t2", "-c100", "-d30s", "-R2000", "-L", "-U", "http://x/"]
ONE_TABLE = text("wrk2-u.txt").split("\n\n  Latency Distribution (HdrHistogram - Uncorrected")[0] + (
    "\n  60031 requests in 30.01s, 19.69MB read\nRequests/sec:   2000.67\nTransfer/sec:    671.88KB\n"
)
NO_TABLE = re.sub(r"(?s)  Latency Distribution.*?(?=  60031 requests)", "", text("wrk2-u.txt"))


@pytest.mark.parametrize(
    ("printed", "command"),
    [
        (ONE_TABLE, ["wrk2", "--latency", "-R2000", "--threads=2", "-c", "100", "-d", "30s", "http://x/"]),
        (ONE_TABLE, ["wrk"]),
        (NO_TABLE, ["wrk2", "-R2k", "-t2", "-c100", "-d30s", "http://x/"]),
        (NO_TABLE, ["wrk"]),  # it calibrated itself: so it is wrk2
    ],
    ids=("one table", "one table, command unknown", "no table", "no table, command unknown"),
)
def test_what_wrk2_prints_without_its_u_is_corrected(printed: str, command: list[str]):
    found = parse(printed, command).metrics()
    assert found["corrected_mean_s"]["mean"] == pytest.approx(0.00618, rel=0.01)
    assert not [name for name in found if name.startswith("uncorrected")]
    assert ("target_per_s" in found) == ("-R2000" in command or "-R2k" in command)


def test_a_test_shorter_than_the_calibration_counts_from_its_start():
    short = "\n".join(line for line in text("wrk2-u.txt").splitlines() if "calibration" not in line)
    short = short.replace("60031 requests in 30.01s", "60031 requests in 9.00s").replace("2000.67", "6670.11")
    assert parse(short, ["wrk2", "-t2", "-c100", "-d9s", "-R7000", "x"]).metrics()["counted_from_s"]["mean"] == 0


@pytest.mark.parametrize(
    ("words", "rate", "seconds", "connections", "threads"),
    [
        (["-R", "5k", "-c", "1k", "-t", "8", "-d", "2m"], 5000, 120, 1000, 8),
        (["--rate=2M", "--duration", "1h", "--latency"], 2_000_000, 3600, 10, 2),
        (["-LR100", "-B", "-H", "a: b", "--timeout", "3s", "-s", "x.lua", "x", "--", "-c5"], 100, 10, 10, 2),
    ],
)
def test_what_a_command_asks_for(words, rate, seconds, connections, threads):
    plan = _asked(["wrk2", *words], "")
    assert plan == Plan(rate, seconds, connections, threads)


def test_a_command_without_a_rate_is_not_wrk2s():
    assert _asked(["wrk", "-t1", "-c1", "-d5s", "--latency", "x"], "") is None
    assert _asked(["wrk", "--unknown"], "") is None
    for words in (["-Rmany"], ["-R0"], ["-R5", "-d", "soon"], ["-R5", "-c1", "-t2"], ["-R5kk"], ["-R5", "-d5sm"]):
        with pytest.raises(
            ToolError, match=r"a rate, a time or a number of connections that is not understood.*: command: wrk2"
        ):
            _asked(["wrk2", *words], "")


def changed(old: str, new: str, printed: str = "") -> str:
    printed = printed or text("wrk2-u.txt")
    assert old in printed
    return printed.replace(old, new)


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (
            changed("2000.67", "50025833.33", changed("60031 requests in 30.01s", "60031 requests in 1.20ms")),
            "wrk2 printed that a test of 30 s took 0.0012 s: it begins to count late if its threads leave no processor to it",
        ),
        (
            changed("2000.67", "8000.67", changed("60031 requests", "240100 requests")),
            "wrk2 printed 240100 requests, but at 2000 a second only 60100 are due in 30.01 s",
        ),
        (changed("2000.67", "666666666.67"), "wrk printed 6.66667e+08 requests a second, but 60031 in 30.01 s"),
        (
            changed("  Thread calibration: mean lat.: 9332 usec, rate sampling interval: 21 msec\n", ""),
            "only 1 of wrk2's 2 threads",
        ),
        (changed("Total count    =        39500", "Total count    =        99500"), "wrk2 counted 99500 latencies of 60031"),
        (
            changed(" 90.000%    8.46ms", " 90.000%    -nan"),
            "a line in wrk2's table of recorded latencies is not understood: '90.000%",
        ),
        (re.sub(r"#\[M.*\n", "", ONE_TABLE), "wrk2's table of recorded latencies is not complete"),
        (
            changed("  6.18ms    1.84ms  11.31ms", "  -nanus   -nanus   0.00us"),
            "wrk2 counted no latency: nothing was answered after",
        ),
        (
            " ---------- \nWe are about to crash and die (recoridng a negative #)" + text("wrk2-u.txt"),
            "its clock went backwards",
        ),
    ],
    ids=("duration", "too many", "rate", "calibration", "count", "line", "cut", "none counted", "negative"),
)
def test_what_wrk2_cannot_have_done_is_refused(printed: str, says: str):
    with pytest.raises(ToolError) as caught:
        parse(printed, COMMAND)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.raw == printed
