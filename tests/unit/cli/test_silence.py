"""A lab that computes in silence is named once; one that prints, or waits, is not."""

import itertools
import subprocess
import sys
import time

from slownet.cli import unchanged


def watched(cpu, seconds=0.6, prints=False):
    said = []
    with unchanged.Silence(said.append, quiet_s=0.2, look_s=0.02, cpu=cpu) as watching:
        for _ in range(round(seconds / 0.05)):
            time.sleep(0.05)
            if prints:
                watching.heard()
    return said


def test_one_that_computes_is_named_once():
    assert watched(itertools.count(0, 10).__next__) == [unchanged.LINE]


def test_one_that_waits_is_not():
    assert watched(lambda: 7.0) == []


def test_one_that_prints_is_not():
    assert watched(itertools.count(0, 10).__next__, prints=True) == []


def test_the_time_of_what_was_started_is_counted():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            before = unchanged._cpu()
            deadline = time.monotonic() + 30
            while unchanged._cpu() < before + 0.1 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert unchanged._cpu() >= before + 0.1
        finally:
            process.kill()
