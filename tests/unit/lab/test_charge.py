"""How much CPU a lab's clock has charged, as two kernels tell it."""

import time

import pytest

from slownet.lab.host.native import INSIDE
from slownet.lab.run import charge

TIMERS = """\
cpu: 0
 clock 0:
  .nohz           : 1
  .idle_calls     : 1132
  .idle_exittime  : 11335238356 nsecs
  .idle_sleeptime : {idle} nsecs
  .iowait_sleeptime: {waited} nsecs
  .next_jiffies   : 4294895105
"""


def test_the_kernel_of_a_lab_on_the_virtual_clock_counts_it(tmp_path):
    (tmp_path / "skip_idle").write_text("charged 1500000000\nskipped 7\n")
    assert charge.charged_s(tmp_path / "skip_idle") == 1.5
    assert charge.charged_s(tmp_path / "none") is None


def test_on_the_exact_clock_it_is_the_time_that_the_processor_was_not_idle(tmp_path, monkeypatch):
    monkeypatch.setenv(INSIDE, "exact")
    monkeypatch.setattr(time, "clock_gettime", lambda clock: 20.0)
    timers = tmp_path / "timer_list"
    timers.write_text(TIMERS.format(idle=10_009_457_524, waited=500_000_000))
    assert charge.charged_s(timers=timers) == pytest.approx(20 - 10.509457524)
    assert charge.charged_s(timers=tmp_path / "none") is None
    timers.write_text("Timer List Version: v0.10\n")
    assert charge.charged_s(timers=timers) is None
