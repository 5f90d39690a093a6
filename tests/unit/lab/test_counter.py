"""The host's instruction counter."""

import os
import subprocess
import sys

import pytest

from slownet.lab.host import counter
from slownet.lab.run import charge


def test_what_this_machine_has_is_found_by_counting():
    found = counter.scope()
    if found is None:
        assert counter.why_not()[1]
    else:
        assert found in (counter.PROCESSOR, counter.PROCESS)
        assert counter._counts(0, -1)
    assert os.sched_getaffinity(0)


def test_finding_out_leaves_the_process_where_it_was():
    code = (
        "import os; from slownet.lab.host import counter; before = os.sched_getaffinity(0), os.listdir('/proc/self/fd');"
        "counter.scope(); assert (os.sched_getaffinity(0), os.listdir('/proc/self/fd')) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_machine_has_none(monkeypatch):
    monkeypatch.setattr(counter.platform, "machine", lambda: "s390x")
    assert not counter._counts(0, -1)


def fail():
    raise FileNotFoundError


@pytest.mark.parametrize(
    ("paranoid", "why", "fix"),
    [
        (
            lambda: "4\n",
            "kernel.perf_event_paranoid=4 denies the instruction counter",
            "as root: sysctl kernel.perf_event_paranoid=2; or use --cpu time",
        ),
        (lambda: "2\n", "this machine has no instruction counter, or its hypervisor", "use --cpu time"),
        (lambda: "-1\n", "this machine has no instruction counter, or its hypervisor", "use --cpu time"),
        (fail, "this machine's kernel counts no instructions", "use --cpu time"),
    ],
)
def test_why_there_is_none(paranoid, why, fix):
    found = counter.why_not(paranoid)
    assert found[0].startswith(why)
    assert found[1] == fix


def test_what_a_lab_has_charged(tmp_path):
    clock = tmp_path / "skip_idle"
    assert charge.charged_s(clock) is None
    clock.write_text("charged 20804563\nskipped 0\nwork process\n")
    assert charge.charged_s(clock) == 0.020804563
    clock.write_text("something else\n")
    assert charge.charged_s(clock) is None
