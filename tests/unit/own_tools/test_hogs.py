"""Hogs take all that they can get, and end with the process that started them, however it ends."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slownet.lab.host import owner

FOLDER = Path(__file__).parents[2]
BESIDE = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {str(FOLDER)!r})
import hogs
with hogs.hogs(2, 19, memory=1) as found:
    print(*(each.pid for each in found), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def hogs(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("hogs")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_they_end_with_whoever_started_them(number):
    with subprocess.Popen([sys.executable, "-c", BESIDE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        began = [owner.started(pid) for pid in pids]
        assert len(pids) == 3
        assert None not in began
        process.send_signal(number)
    left = dict(zip(pids, began, strict=True))
    deadline = time.monotonic() + 60
    while left and time.monotonic() < deadline:
        left = {pid: start for pid, start in left.items() if owner.started(pid) == start}
        time.sleep(0.05)
    assert not left


@pytest.mark.parametrize("kind", ["busy", "memory"])
def test_one_spends_the_processor_from_the_first_line_on(hogs, kind):
    with hogs.hog(kind, 19) as process:
        began, before = time.monotonic(), _cpu_s(process.pid)
        while _cpu_s(process.pid) < before + 0.2:
            assert time.monotonic() < began + 60
            time.sleep(0.01)
    assert process.returncode == -signal.SIGKILL


def test_one_whose_parent_is_gone_does_not_begin(hogs):
    words = [sys.executable, hogs.__file__, "busy", str(os.getpid() + 1)]
    done = subprocess.run(words, capture_output=True, timeout=60, check=True)
    assert done.stdout == b""


def test_one_that_does_not_start_is_an_error(hogs):
    with pytest.raises(RuntimeError, match="a quiet hog did not start"), hogs.hog("quiet", 0):
        pass


def _cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
