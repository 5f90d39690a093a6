"""pytest's plugins of others, in a session that runs in labs: those whose halves share what a lab does not."""

import json
import os
import re
import subprocess
import sys

import pytest
import wheels
from conftest import PATIENCE_S

from slownet.lab.build import cache
from slownet.lab.host import native

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs them in place")

PLUGINS = {
    "pytest_rerunfailures": ("pytest-rerunfailures", "1 passed, 2 rerun"),
    "pytest_retry.retry_plugin": ("pytest-retry", "1 passed, 1 retried"),
}

THIRD = """
import pytest

tries = 0


@pytest.mark.flaky(reruns=2, retries=2)
def test_a_third_time(net):
    global tries
    tries += 1
    assert tries == 3
"""
DRAWN = """
import json
import random

import pytest


@pytest.mark.parametrize("number", range(6))
def test_it(net, number):
    print(json.dumps([number, random.random()]))
"""


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """A folder with the plugins, as pip installs them."""
    folder = tmp_path_factory.mktemp("others")
    names = [*(name for name, _ in PLUGINS.values()), "pytest-randomly", "pytest-timeout", "pytest-benchmark", "py-cpuinfo"]
    subprocess.run([*wheels.PIP, "install", "--no-deps", "--target", folder, *names], check=True)
    return folder


@pytest.fixture
def session(built, others, tmp_path):
    """Run pytest with slownet's plugin, pytest-xdist and those that are named."""

    def run(text, *arguments):
        (tmp_path / "test_it.py").write_text(text)
        # Without the variables of the worker that runs this test: pytest-benchmark measures nothing where it sees one.
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST_")}
        environment = {
            **own, "PYTHONPATH": str(others), "XDG_CACHE_HOME": str(cache.root().parent),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }  # fmt: skip
        words = [sys.executable, "-m", "pytest", "-p", "slownet.pytest_plugin", "-p", "xdist", *arguments]
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )

    return run


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "a worker"])
@pytest.mark.parametrize("module", PLUGINS)
def test_a_test_is_tried_again_in_the_lab(session, module, workers):
    done = session(THIRD, "-p", module, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^=+ {PLUGINS[module][1]} in ", done.stdout, re.MULTILINE), done.stdout


def test_the_order_and_the_numbers_of_a_seed_are_the_same_in_each_lab(session):
    def drawn(seed):
        done = session(DRAWN, "-p", "pytest_randomly", f"--randomly-seed={seed}", "-rP")
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]

    first = drawn(7)
    assert len({number for number, _ in first}) == 6
    assert first == drawn(7) != drawn(8)


BUSY = """
import time

import pytest


@pytest.mark.timeout(60)
def test_it_may_wait_for_longer_on_the_labs_clock(net):
    time.sleep(3600)


@pytest.mark.timeout(2)
def test_a_loop_that_computes(net):
    while True:
        pass


@pytest.mark.timeout(2)
def test_a_loop_that_asks_for_the_time(net):
    while True:
        time.monotonic()
"""


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "a worker"])
def test_a_timeout_counts_real_seconds_and_ends_its_test_alone(session, workers):
    """Where computing is free a test that computes kept all else in its lab from running."""
    done = session(BUSY, "-p", "pytest_timeout", *workers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^=+ 2 failed, 1 passed in ", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert done.stdout.count("Failed: Timeout (>2.0s) from pytest-timeout.") >= 2
    assert "slownet/pytest_plugin" not in done.stdout  # the test's own line is what to look at


MEASURED = """
from slownet import ping


def test_a_round_trip(net, benchmark):
    with net.link("client", "switch").set(rtt="10ms"):
        benchmark(ping, net["client"], net["web"].IP(), count=1)


def test_a_sum(net, benchmark):
    benchmark(sum, range(100))
"""


def test_what_waits_is_benchmarked_and_what_only_computes_fails_in_a_line(session):
    """The calibration multiplied the calls of what takes no time by ten, for ever."""
    done = session(MEASURED, "-p", "pytest_benchmark.plugin", "--benchmark-columns=min,rounds", "--benchmark-max-time=0.2")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^=+ 1 failed, 1 passed", done.stdout, re.MULTILINE), done.stdout
    (row,) = re.findall(r"^test_a_round_trip +([\d.]+) +(\d+)", done.stdout, re.MULTILINE)
    assert 10 <= float(row[0]) < 10 + 4  # and at most a tick of the kernel, for the start and the end of ping
    assert 1 <= int(row[1]) <= 20
    assert "LabError: 1000 calls take no time, because computing is free here: nothing can be measured" in done.stdout
    assert "charge it with --slownet-tdf auto, or use --slownet-clock real" in done.stdout
