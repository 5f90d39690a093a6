"""Tests on the exact clock: the same digits each time, reported as any other test; what needs input is refused."""

import os
import re
import subprocess
import sys

import pytest
from needs_qemu import needs_qemu

pytestmark = needs_qemu
MINE = """
import time

import pytest

from slownet import ping


@pytest.mark.clock("exact")
def test_a_ping_takes_its_round_trip(net):
    with net.link("client", "switch").set(rtt="10ms"):
        found = ping(net["client"], net["web"].IP(), count=3)
    began = time.monotonic_ns()
    sum(range(100_000))
    print("TOOK", found, time.monotonic_ns() - began)
    assert "rtt_ms 10.00" in str(found)


def test_here():
    assert not __import__("os").path.exists("/opt/slownet/run")
"""


def pytest_of(tmp_path, *words):
    (tmp_path / "test_mine.py").write_text(MINE)
    argv = [sys.executable, "-m", "pytest", "-rP", "-p", "no:cacheprovider", *words]
    return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False, stdin=-3)


def test_a_marker_gives_a_test_the_exact_clock_and_the_same_digits_again(tmp_path):
    runs = [pytest_of(tmp_path, f"--basetemp={tmp_path / 'own'}") for _ in range(2)]
    assert [each.returncode for each in runs] == [0, 0], runs[0].stdout + runs[0].stderr
    assert all("2 passed" in each.stdout and "1 test in a lab, exact clock" in each.stdout for each in runs)
    took = [re.findall("^TOOK .*$", each.stdout, re.MULTILINE) for each in runs]
    assert took[0] == took[1] != []


@pytest.mark.parametrize(("words", "named"), [(("-n", "2"), "-n"), (("--pdb",), "--pdb"), (("--trace",), "--trace")])
def test_what_is_talked_to_is_refused_in_a_line(tmp_path, words, named):
    done = pytest_of(tmp_path, *words)
    assert done.returncode == 4
    lines = [line for line in done.stderr.splitlines() if "slownet" in line]
    assert len(lines) == 1
    assert f"leave out {named}, or the exact clock" in lines[0]


BUSY = """
import pytest


@pytest.mark.clock("exact")
@pytest.mark.timeout(1)
def test_a_loop(net):
    while True:
        pass


@pytest.mark.clock("exact")
def test_the_next_one(net):
    pass
"""


def test_pytest_timeout_counts_the_labs_seconds(tmp_path):
    (tmp_path / "test_busy.py").write_text(BUSY)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", "others", "pytest-timeout"],
        cwd=tmp_path,
        check=True,
    )
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_busy.py"]
    done = subprocess.run(
        argv, cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False, stdin=-3,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "others")},
    )  # fmt: skip
    assert "Failed: Timeout (>1.0s) from pytest-timeout." in done.stdout
    assert re.search("^=+ 1 failed, 1 passed in ", done.stdout, re.MULTILINE), done.stdout
