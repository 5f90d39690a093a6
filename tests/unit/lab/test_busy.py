"""How busy a machine was, from /proc/stat, and that the count is not below what really computed."""

import time

import pytest

from slownet.lab.host import busy
from slownet.lab.host.busy import Counts, Meter

STAT = """cpu  {user} 0 20 {idle} 7 1 2 3 0 0
cpu0 5 0 10 {idle} 4 0 1 1 0 0
cpu1 5 0 10 0 3 1 1 2 0 0
intr 12345
"""


def at(user, idle):
    return Counts.read(STAT.format(user=user, idle=idle))


def test_what_is_counted():
    assert at(10, 100) == Counts(2, 100, 10 + 20 + 7 + 1 + 2 + 3)


@pytest.mark.parametrize(
    ("user", "idle", "elapsed_s", "busy_s"),
    [
        (10, 100 + 390, 2.0, 0.10),  # of 4 s of two processors, 3.9 s were idle
        (10 + 25, 100 + 390, 2.0, 0.25),  # the samples say more
        (10, 100 + 400, 2.0, 0.0),
        (10, 100 + 420, 2.0, 0.0),  # rounding never makes it negative
        (10, 100, 2.0, 4.0),
    ],
)
def test_busy_is_not_idle_or_the_samples_if_they_say_more(user, idle, elapsed_s, busy_s):
    found = at(10, 100).busy_s(at(user, idle), elapsed_s)
    assert found == pytest.approx(busy_s + busy.UNIT_S)


def test_it_is_at_least_the_cpu_time_of_this_process():
    meter = Meter()
    with meter.running():
        before = time.process_time()
        while time.process_time() - before < 0.2:
            pass
    assert meter.busy_s >= 0.2
    assert meter.elapsed_s >= 0.2


def test_blocks_that_overlap_count_once_and_nothing_counts_between(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(busy.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(busy, "counts", lambda: at(int(10 * now[0]), int(200 * now[0])))
    meter = Meter()
    assert meter.take() == (0.0, None)
    with meter.running():
        now[0] = 1.0
        with meter.running():
            now[0] = 2.0
        now[0] = 3.0
    now[0] = 10.0
    assert meter.take() == (3.0, pytest.approx(0.3 + busy.UNIT_S))
    with meter.running():
        now[0] = 11.0
        assert meter.take()[0] == 1.0
        now[0] = 13.0
    assert meter.take()[0] == 2.0


def test_a_kernel_that_does_not_say(monkeypatch, tmp_path):
    monkeypatch.setattr(busy, "STAT", tmp_path / "none")
    meter = Meter()
    with meter.running():
        pass
    assert meter.busy_s is None
    (tmp_path / "none").write_text("cpu\n")
    assert busy.counts() is None
