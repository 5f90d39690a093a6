"""The rows of a run: cells are compared with each other and with the law by what varies within the run."""

import pytest

from slownet.records.result import gather
from slownet.report.view import view

TIME = "time_per_request_ms"


@pytest.fixture
def seen():
    """Three boots on a clock that charges CPU time, 100 ms of it a page: another run's pages may take a quarter more."""
    samples = [
        {
            "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "boot": boot,
            "metrics": {TIME: {"mean": 100 + 4 * rtt + 0.1 * boot, "sd": 1.0, "n": 100}},
        }
        for boot in (1, 2, 3) for rtt in (0, 1, 2, 3)
    ]  # fmt: skip
    return view(gather(samples, {"experiment": "pages", "clock": "virtual", "tdf": 1, "cpu": "time"}))


def test_a_time_has_the_interval_of_another_run(seen):
    assert all(row.time.half_width > 0.2 * row.time.mean for row in seen.rows)


def test_a_cell_is_compared_with_the_law_of_its_run(seen):
    assert [row.verdict for row in seen.rows] == ["baseline", "supported", "supported", "supported"]


def test_a_ratio_is_one_of_the_same_run(seen):
    assert seen.rows[3].ratio.half_width < 0.01
