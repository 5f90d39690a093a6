"""wrk's parser on output from a lab (Debian's 4.1.0), and on wrk2's own example.

wrk2-u.txt is "Example 1" of the README of giltene/wrk2, its spectra shortened.
"""

from pathlib import Path

import pytest

from slownet.errors import ToolError
from slownet.tools.wrk import parse, wrk, wrk2

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
        (text("wrk.txt").replace("9943 requests", "0 requests"), "wrk got no answer"),
        (text("wrk.txt").replace("Requests/sec", "Anfragen/s"), "wrk printed no requests a second"),
    ],
)
def test_unusable_output_is_an_error(printed: str, message: str):
    with pytest.raises(ToolError) as caught:
        parse(printed)
    assert message in str(caught.value)
    assert caught.value.raw == printed


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
    assert counted == {"target_per_s": 2000.0, "counted_from_s": 10.0, "counted_to_s": record.seconds}
