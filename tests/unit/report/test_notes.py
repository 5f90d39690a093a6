"""Notes below a table: which outliers are worth one, and where values are too few for an interval."""

import pytest

from slownet.judge.records.result import gather
from slownet.report.view import sampling_notes

FREE = {"experiment": "shop", "clock": "virtual", "tdf": "inf"}
REAL = {"experiment": "shop", "clock": "real", "tdf": None}


def run(facts, *values, metric="time_per_request_ms"):
    """A run of one cell with these single values."""
    mean = sum(values) / len(values)
    record = {"mean": mean, "sd": 0.1, "n": len(values), "values": list(values)}
    sample = {
        "experiment": "shop", "cell": {"rtt": "0ms"}, "condition": {"rtt_ms": 0.0}, "index": 0, "status": "ok", "error": None,
        "metrics": {metric: record}, "boot": 1,
    }  # fmt: skip
    return gather([sample, {**sample, "index": 1, "boot": 2}], facts)


@pytest.mark.parametrize(
    ("facts", "metric", "values", "is_noted"),
    [
        (FREE, "time_per_request_ms", [0.201] * 9 + [0.208], False),
        (FREE, "time_per_request_ms", [0.201] * 9 + [0.301], True),
        (FREE, "time_per_request_ms", [480.189] * 9 + [480.244], False),
        (FREE, "time_per_request_ms", [480.189] * 9 + [480.8], True),
        (FREE, "page_s", [0.201] * 9 + [0.20104], False),
        (FREE, "page_s", [0.201] * 9 + [0.208], True),
        (FREE, "requests_per_second", [4975.0] * 9 + [4807.0], False),
        (FREE, "requests_per_second", [100.0] * 9 + [80.0], True),
        (FREE, "stalls", [1.0] * 9 + [1.01], True),
        (REAL, "time_per_request_ms", [0.201] * 9 + [0.208], True),
    ],
)
def test_an_outlier_within_linux_s_timer_slack_is_not_worth_a_note_where_the_cpu_is_free(facts, metric, values, is_noted):
    noted = [each for each in sampling_notes(run(facts, *values, metric=metric)) if "outlier" in each]
    assert bool(noted) is is_noted


def test_an_interval_that_would_reach_below_0_comes_first_with_its_reason_and_what_to_do():
    assert sampling_notes(run(REAL, 1.0, 2.0, 90.0)) == []
    noisy = gather(
        [
            {
                "experiment": "shop", "cell": {"rtt": "0ms"}, "condition": {"rtt_ms": 0.0}, "index": index, "status": "ok",
                "error": None, "metrics": {"time_per_request_ms": {"mean": mean, "sd": 0.1, "n": 1}}, "boot": index + 1,
            }
            for index, mean in enumerate([5.0, 60.0, 9.0])
        ],
        {**FREE, "sampling": {"why": "3 repetitions, as requested"}},
    )  # fmt: skip
    first, *others = sampling_notes(noisy)
    assert first == (
        "rtt 0ms: single values of time_per_request_ms differ more than their mean is large, so its interval reaches 0: "
        "measure 100 requests"
    )
    assert others[0] == "sampling: 3 repetitions, as requested"
