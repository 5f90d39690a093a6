"""A sample as a row."""

from slownet.judge.records.rows import row

SAMPLE = {"condition": {"rtt_ms": 10.0, "loss_percent": 1.0}, "metrics": {"rtt_ms": {"mean": 10.2, "sd": 0.1, "n": 5}}}


def test_a_condition_and_a_metric_of_one_name_are_two_columns():
    found = row(SAMPLE)
    assert (found["condition_rtt_ms"], found["rtt_ms"], found["rtt_ms_sd"], found["rtt_ms_n"]) == (10.0, 10.2, 0.1, 5)
    assert found["loss_percent"] == 1.0
    assert "condition_loss_percent" not in found
