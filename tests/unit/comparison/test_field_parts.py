"""Which part of a page's time differs between a run and the field."""

import pytest

from slownet.comparison.outcome import Part, cause, parts
from slownet.judge.records.result import gather
from slownet.model.errors import ExperimentError
from slownet.theory.stats import difference, from_moments


def part(name, first, second, sd=0.2):
    here, there = (from_moments(mean, sd, 30) for mean in (first, second))
    return Part(name, f"{name}_ms", here, there, difference(there, here))


def test_the_part_that_differs_most_is_the_cause():
    found = [part("connect", 25.0, 25.1), part("first byte", 35.0, 118.0), part("body", 40.0, 55.0)]
    assert cause(found, 0.05).startswith("most in first byte, 83.00 ms (")
    assert cause(found, 0.05).endswith(") more than the run predicts")
    assert cause([part("body", 40.0, 10.0)], 0.05).endswith(") less than the run predicts")


def test_no_part_is_the_cause_within_the_margin_of_the_whole_or_its_own_interval():
    found = [part("connect", 25.0, 25.0), part("body", 1.0, 4.0)]
    assert cause(found, 0.2) == ""
    assert cause(found, 0.05).startswith("most in body")
    assert cause([part("connect", 25.0, 25.0), part("body", 1.0, 4.0, sd=10.0)], 0.05) == ""
    assert cause([], 0.05) == ""


def test_only_parts_that_both_have_are_compared():
    sample = {"experiment": "x", "cell": {}, "condition": {}, "index": 0, "status": "ok", "error": None, "tool": "field"}
    metrics = {name: {"mean": 3.0, "sd": 0.1, "n": 20} for name in ("connect_rtt_ms", "tls_ms", "body_ms")}
    page = gather([sample | {"metrics": metrics, "facts": {}}], {}).cells[0]

    def predicted(metric):
        if metric == "tls_ms":
            raise ExperimentError("no metric 'tls_ms'")
        return from_moments(2.0, 0.1, 20)

    found = list(parts(predicted, page))
    assert [each.name for each in found] == ["connect", "body"]
    assert [each.difference.mean for each in found] == [pytest.approx(1.0)] * 2
    assert found[0].to_json()["metric"] == "connect_rtt_ms"
