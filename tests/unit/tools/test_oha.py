"""oha's parser on JSON and databases of oha 1.16.0, with a server that takes 5 ms per request, one after another.

``sustained`` is at 50 requests per second, ``overload`` at 464; ``-uncorrected`` is without --latency-correction.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from slownet.lab.run import load_generators
from slownet.model.errors import SlownetError, ToolError
from slownet.tools import steady
from slownet.tools.oha import oha, parse, requests

DATA = Path(__file__).parent / "data"
REPLAY = """#!/bin/sh
test "$1" = --version && { echo "$VERSION"; exit; }
echo "$*" >> "$ASKED"
while test "$1" != --db-url; do shift; done
cp "$CAPTURE.db" "$2"
cat "$CAPTURE.json"
"""


def captured(name, **fields):
    return parse((DATA / f"oha-{name}.json").read_text(), requests(DATA / f"oha-{name}.db"), **fields)


@pytest.mark.parametrize("name", ["sustained", "overload"])
def test_the_corrected_latency_is_the_one_that_oha_prints(name):
    record = captured(name)
    printed = json.loads(record.raw)
    times = sorted(done - due for due, _, done, _ in requests(DATA / f"oha-{name}.db"))
    for percent in (50, 75, 90, 99):
        said = printed["latencyPercentiles"][f"p{percent}"]
        rank = len(times) * percent // 100
        assert said == pytest.approx(times[rank])  # oha's rank is one higher than HdrHistogram's
        assert record.corrected["percentiles"][f"{percent}"] == pytest.approx(times[rank - 1], rel=1e-3)
    assert record.corrected["mean"] == pytest.approx(printed["summary"]["average"], rel=1e-3)
    assert record.corrected["max"] == pytest.approx(printed["summary"]["slowest"], rel=1e-3)


@pytest.mark.parametrize("name", ["sustained", "overload"])
def test_the_uncorrected_latency_is_the_one_that_oha_prints_when_it_does_not_correct(name):
    record = captured(f"{name}-uncorrected")
    printed = json.loads(record.raw)
    assert record.uncorrected["mean"] == pytest.approx(printed["summary"]["average"], rel=1e-3)
    assert record.uncorrected["percentiles"]["50"] == pytest.approx(printed["latencyPercentiles"]["p50"], rel=0.02)
    assert record.corrected == {"count": 0}
    assert not [each for each in record.metrics() if each.startswith("corrected")]


def test_an_overload_shows_in_the_corrected_latency_only():
    near, over = captured("sustained", rate=50.0, planned=100), captured("overload", rate=464.0, planned=200)
    assert near.corrected["percentiles"]["99"] < 2 * near.uncorrected["percentiles"]["99"]
    assert over.corrected["percentiles"]["99"] > 5 * over.uncorrected["percentiles"]["99"]
    assert over.uncorrected["percentiles"]["50"] == pytest.approx(8 / 150.8, rel=0.1)  # eight connections in turn
    # The last request was due at 200/464 s, and the server took 1.33 s for all.
    assert over.corrected["max"] == pytest.approx(1.326 - 200 / 464, rel=0.02)
    found = over.metrics()
    assert found["target_per_s"]["mean"] == 464
    assert found["answered_per_s"] == {"mean": pytest.approx(150.787, rel=1e-4), "sd": pytest.approx(20.17, abs=0.01), "n": 20}
    assert sum(over.batches) / 20 == pytest.approx(150.787, rel=1e-4)
    assert found["counted_to_s"]["mean"] == 1.32637264
    assert len(over.facts()["uncorrected_spectrum"]) > 5


def test_a_database_with_text_that_is_none_is_an_error(tmp_path):
    damaged = (DATA / "oha-404.db").read_bytes().replace(b"CREATE TABLE", b"CREATE T\x80BLE")
    (tmp_path / "oha.db").write_bytes(damaged)
    with pytest.raises(ToolError):
        requests(tmp_path / "oha.db")


def test_error_responses_and_no_responses():
    missing, refused = captured("404", planned=20), captured("refused", planned=20)
    for record in (missing, refused):
        assert (record.answered, record.failed, record.unanswered) == (0, 20, 0)
    assert captured("sustained", planned=120).unanswered == 20


@pytest.fixture
def here(tmp_path, monkeypatch):
    """here(capture, version) returns this machine as a host whose oha writes captured output; ``asked`` holds its arguments."""
    program = tmp_path / "oha"
    program.write_text(REPLAY)
    program.chmod(0o755)
    monkeypatch.setenv("SLOWNET_OHA", str(program))

    class Here:
        name = "here"

        def __init__(self, capture, version="oha 1.16.0"):
            self._given = {"CAPTURE": str(DATA / f"oha-{capture}"), "VERSION": version, "ASKED": str(tmp_path / "asked")}

        def popen(self, argv, env, **options):
            return subprocess.Popen(argv, env={**env, **self._given}, start_new_session=True, **options)

        @property
        def asked(self):
            return (tmp_path / "asked").read_text().split()

    return Here


def test_the_command_of_oha(here):
    host = here("overload")
    record = oha(host, "http://x/", rate=464, seconds=200 / 464, connections=8)
    words = ["--no-tui", "--output-format", "json", "-n", "200", "-c", "8", "-q", "464", "--latency-correction", "--db-url"]
    assert host.asked[:-2] == words
    assert host.asked[-1] == "http://x/"
    assert (record.answered, record.planned, record.rate) == (200, 200, 464)
    assert record.facts()["version"] == "1.16.0"
    assert record.files == {"db": (DATA / "oha-overload.db").read_bytes()}
    assert not Path(host.asked[-2]).exists()


def test_an_older_oha_takes_whole_rates_and_has_another_option_for_json(here):
    host = here("overload", "oha 1.8.0")
    record = oha(host, "http://x/", rate=463.7, seconds=200 / 464, connections=8)
    assert host.asked[1:2] == ["-j"]
    assert host.asked[host.asked.index("-q") + 1] == "464"
    assert record.rate == 464


def test_a_rate_with_a_fraction(here):
    host = here("overload")
    assert oha(host, "http://x/", rate=463.75, seconds=0.1).rate == 463.75
    assert host.asked[host.asked.index("-q") + 1] == "463.75"


@pytest.mark.parametrize("name", ["404", "refused"])
def test_no_request_succeeds(here, name):
    with pytest.raises(ToolError, match="none of the 20 requests succeeded, host 'here', http://x/") as caught:
        oha(here(name), "http://x/", rate=100, seconds=0.2)
    assert caught.value.raw == (DATA / f"oha-{name}.json").read_text()


def test_unusable_output_is_an_error(here, tmp_path):
    with pytest.raises(ToolError, match=r"oha printed no version; its last line: 'hey 0.1'"):
        oha(here("overload", "hey 0.1"), "http://x/", rate=1, seconds=1)
    with pytest.raises(ToolError, match=r"oha's report is not understood \(.*\); its last line: 'panicked'") as caught:
        parse("panicked\n", [])
    assert caught.value.raw == "panicked\n"
    (tmp_path / "none.db").write_text("not a database, but long enough to be looked at")
    with pytest.raises(ToolError, match="oha's database is not understood: file is not a database"):
        requests(tmp_path / "none.db")
    with pytest.raises(SlownetError, match="rate is 0, in a load: give more than 0"):
        oha(here("overload"), "http://x/", rate=0, seconds=1)


def test_oha_is_not_installed(monkeypatch, canned):
    monkeypatch.delenv("SLOWNET_OHA", raising=False)
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr(load_generators, "FOLDERS", os.devnull)
    assert load_generators.path("oha") is None
    assert steady.there() == ["constant_rate"]
    with pytest.raises(ToolError, match="oha is not installed"):
        oha(canned("", "mnexec: oha: No such file or directory", 1), "http://x/", rate=1, seconds=1)


def test_where_the_callers_programs_are(tmp_path, monkeypatch):
    for name in ("wrk2", "oha"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
        monkeypatch.delenv(load_generators.variable(name), raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert load_generators.path("wrk2") == str(tmp_path / "wrk2")
    monkeypatch.setenv("SLOWNET_WRK2", "/mine/wrk")
    assert load_generators.path("wrk2") == "/mine/wrk"
    assert steady.there() == ["constant_rate", "wrk2", "oha"]
