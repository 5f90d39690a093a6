"""Numbers of a measuring function's own, as a record."""

import json
import math

import numpy as np
import pytest

from slownet.judge.measured import Measured
from slownet.model.errors import ExperimentError
from slownet.theory.stats import from_moments
from slownet.tools.ping import Ping
from slownet.tools.user_metrics import Numbers, as_record


def test_a_dict_has_its_metrics_by_name():
    record = as_record({"checkout_ms": [12.0, 14.0], "queries": 6}, "checkout")
    assert record.metrics() == {
        "checkout_ms": {"mean": 13.0, "sd": pytest.approx(math.sqrt(2)), "n": 2, "values": [12.0, 14.0], "ordered": True},
        "queries": {"mean": 6.0, "sd": None, "n": 1},
    }
    assert json.loads(record.raw) == {"checkout_ms": [12.0, 14.0], "queries": [6.0]}
    assert record.command == ("checkout",)
    assert repr(record) == "<numbers: checkout_ms 13, queries 6>"
    assert record.checkout.mean == 13.0


@pytest.mark.parametrize("returned", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3])], ids=["list", "tuple", "array"])
def test_a_list_with_a_unit(returned):
    assert as_record(returned, "checkout", "ms") == Numbers({"checkout_ms": (1.0, 2.0, 3.0)}, ("checkout",))


def test_a_number_with_a_unit():
    assert as_record(np.float32(0.5), "checkout", "s").metrics() == {"checkout_s": {"mean": 0.5, "sd": None, "n": 1}}


def test_a_tools_record_stays():
    record = Ping.__new__(Ping)
    assert as_record(record, "checkout") is record


def test_numbers_of_tools_keep_their_values_and_stand_beside_ones_own():
    tool = as_record({"page_ms": [12.0, 14.0], "bytes": 5.0}, "a tool")
    page = tool.metrics()["page_ms"]
    record = as_record({"far_page_ms": tool.page, "rows": 3}, "checkout")
    assert record.metrics() == {"far_page_ms": page, "rows": {"mean": 3.0, "sd": None, "n": 1}}
    assert json.loads(record.raw) == {"far_page_ms": page, "rows": [3.0]}
    assert as_record(tool.page, "checkout").metrics() == {"page_ms": page}


def test_a_percentile_of_a_tool_does_not_name_what_is_left_behind():
    slow = {"mean": 9.0, "sd": None, "n": 100, "percent": 99.0, "of": "latency_ms"}
    record = as_record({"slow_ms": Measured("p99_ms", from_moments(9.0, 0.0, 100), metric=slow)}, "checkout")
    assert record.metrics() == {"slow_ms": {"mean": 9.0, "sd": None, "n": 100}}


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            {"page_s": Numbers({"page_ms": (1.0,)}).page},
            "page_ms has another unit, 'page_s' returned by checkout: name it with",
        ),
        (12.3, "a number without a unit"),
        ([12.3], 'write @experiment(..., unit="ms")'),
        (None, "no measurement: None"),
        ("12 ms", "no measurement: '12 ms'"),
        ({}, "no metric"),
        ({"a_ms": []}, "no number"),
        ({"a_ms": None}, "no measurement: None"),
        ({"a_ms": [1.0, float("nan")]}, "no finite number: nan"),
        ({"a_ms": [1.0, "2"]}, "no finite number: '2'"),
        ({"a_ms": True}, "no measurement: True"),
        ({"a_ms": {"b": 1}}, "no measurement"),
    ],
)
def test_anything_else_is_a_mistake(returned, said):
    with pytest.raises(ExperimentError) as error:
        as_record(returned, "checkout")
    assert said in str(error.value)
    assert "checkout" in str(error.value)
