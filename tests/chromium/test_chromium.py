"""Chromium in a lab, as a layer: pages over each version of HTTP, and bad ones, which are one line each."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAILURES = {
    "untrusted": "the server's certificate is not trusted (net::ERR_CERT_",
    "refused": "nothing listens there (net::ERR_CONNECTION_REFUSED)",
    "endless": "the page did not load within 5 s; 1 request is open: http://",
    "throws": "ReferenceError: undefinedFunction is not defined, http://",
    "wrong version": "the page was not loaded over HTTP/2: 1 over http/1.1",
    "unknown host": "its name does not resolve",
    "missing": "the page's own answer is an error, status 404",
    "page dies": "the page's process crashed",
    "browser dies": "Chromium ended (SIGKILL)",
    "no memory": "Chromium needs 450 MB of memory, ",
}


def slownet(*words, cwd):
    done = subprocess.run(
        [Path(sys.executable).with_name("slownet"), *words],
        cwd=cwd,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "page"
    slownet("init", str(folder), "--browser", "--ci", "none", cwd=folder.parent)
    slownet("lab", "build", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def samples(project):
    shutil.copy(HERE / "cases.py", project)
    done = json.loads(
        slownet("run", "cases.py", "--repeat", "1", "--labs", "1", "--memory", "1500", "--out", "json=-", cwd=project)
    )
    (run,) = done["runs"]
    folder = project / run["directory"] if "directory" in run else next((project / "runs").glob("*-cases"))
    found = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    return {each["cell"]["case"]: each for each in found}, folder


def mean(sample, metric):
    return sample["metrics"][metric]["mean"]


def least(sample, metric):
    return min(sample["metrics"][metric]["values"])


@pytest.mark.parametrize(("case", "protocol", "trips"), [("1.1", "http/1.1", 3), ("2", "h2", 3), ("3", "h3", 2)])
def test_the_first_byte_costs_the_round_trips_of_its_version(samples, case, protocol, trips):
    sample = samples[0][case]
    assert sample["error"] is None
    assert set(sample["facts"]["by_protocol"]) == {protocol}
    # The least of three loads: Chromium's own timers add 5 ms to most, and up to 18 ms to one in thirty.
    assert least(sample, "first_byte_ms") == pytest.approx(40 * trips, abs=12)
    assert mean(sample, "requests") == 5
    assert mean(sample, "first_byte_ms") < mean(sample, "first_paint_ms") < mean(sample, "load_ms") + 50


@pytest.mark.parametrize("metric", ["load_ms", "first_paint_ms"])
def test_no_load_waits_until_the_speed_of_a_counter_was_measured(samples, metric):
    values = samples[0]["many"]["metrics"][metric]["values"]
    # Chromium's Abseil sleeps for 255 ms if nobody tells it; its own timers and frames make a tenth of that.
    assert len(values) == 25
    assert max(values) - min(values) < 128


def test_a_warm_cache_asks_again_on_the_same_connection(samples):
    warm, cold = samples[0]["warm"], samples[0]["2"]
    assert mean(warm, "connections") == 0
    assert least(warm, "first_byte_ms") == pytest.approx(40, abs=12)
    assert mean(warm, "received_bytes") < mean(cold, "received_bytes")


def test_cold_and_warm_are_measured_beside_each_other(samples):
    both = samples[0]["both"]
    assert both["error"] is None
    assert [both["metrics"][name]["n"] for name in ("load_ms", "warm_load_ms")] == [2, 2]
    assert mean(both, "warm_connections") == 0
    assert mean(both, "warm_received_bytes") < mean(both, "received_bytes")
    assert mean(both, "load_ms") - mean(both, "warm_load_ms") > 2 * 40 - 12  # TCP and TLS


def test_an_ordinary_window_has_a_cache_too(samples):
    ordinary = samples[0]["ordinary"]
    assert ordinary["error"] is None
    assert mean(ordinary, "connections") == 0
    assert mean(ordinary, "received_bytes") < mean(samples[0]["2"], "received_bytes")


def test_names_of_hosts_are_resolved(samples):
    assert samples[0]["name"]["error"] is None


def test_a_phone_is_a_phone(samples):
    assert samples[0]["phone"]["error"] is None


@pytest.mark.parametrize("case", FAILURES)
def test_what_is_wrong_is_said_in_a_line_and_the_rest_goes_on(samples, case):
    sample = samples[0][case]
    assert sample["status"] == "failed"
    assert FAILURES[case] in sample["error"]
    assert "\n" not in sample["error"]
    assert samples[0]["again"]["status"] == "ok"


def test_what_is_kept_can_be_opened(samples):
    folder = samples[1]
    kept = {each.rpartition("-")[2]: folder / each for each in samples[0]["2"]["raw"]}
    assert kept["browse.png"].read_bytes().startswith(b"\x89PNG")
    log = json.loads(kept["browse.har"].read_text())["log"]
    assert [each["response"]["status"] for each in log["entries"]] == [200] * 15
    page = (folder / "report.html").read_text()
    assert "Requests of the page over time" in page
    assert "Filmstrip of the page" in page
    assert "waited for page.html" in page


def test_tests_in_playwrights_words_and_steps(project):
    shutil.copy(HERE / "ways.py", project / "test_ways.py")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--slownet-memory", "1500", "test_ways.py"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout


PLAIN = """
from slownet import TwoHosts, browse, experiment

@experiment(topology=TwoHosts, vary={"rtt": ["10ms"]}, tdf="inf", blocks=1, warm_up=0)
def plain(net, rtt):
    \"\"\"What is said without Chromium?\"\"\"
    return browse(net["client"], "http://10.0.0.2/")
"""


def test_without_chromium_a_run_says_what_to_write(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    slownet("run", "plain.py", "--repeat", "1", "--labs", "1", cwd=tmp_path)
    (kept,) = (tmp_path / "runs").glob("*-plain/samples.jsonl")
    (sample,) = map(json.loads, kept.read_text().splitlines())
    assert "Chromium is not installed" in sample["error"]
    assert 'packages = ["chromium"]' in sample["error"]


def test_the_project_of_init_decides_its_claim(project):
    done = json.loads(slownet("run", "page.py", "--memory", "1500", "--out", "json=-", cwd=project))
    assert [claim["verdict"] for claim in done["runs"][0]["claims"]] == ["supported"]
