"""The shape of a whole sample: every field that slownet.judge.records.samples describes, and none of another type."""

import json

import pytest

from slownet.model.sample import KEPT, SENT
from slownet.model.shapes import ShapeError
from slownet.runner.booting import grammar

WHOLE = {
    "experiment": "shop", "cell": {"rtt": "10ms"}, "condition": {"rtt_ms": 10.0}, "index": 0, "tool": "ab", "status": "ok",
    "error": None,
    "metrics": {
        "time_ms": {"mean": 1.5, "sd": 0.1, "n": 3, "values": [1, 1.5, 2.0], "ordered": True, "groups": [1, 2], "step": 0.5},
        "p99_ms": {"mean": 2.0, "sd": None, "n": 1, "percent": 99, "of": "time_ms", "steps": [[1.0, 1], [2.0, 3]]},
    },
    "verified_rtt_ms": 10.01, "unverified": ["a-b: no ping"], "raw": ["raw/ab.txt"], "virtual_s": 0.5, "wall_s": 0.1,
    "facts": {"server": "nginx"}, "links": {"a-b": "rtt 10 ms"}, "counters": {"a-b": {"up": {"dropped": 0}, "down": {}}},
    "captures": [{"file": "captures/a.pcap", "interface": "a-eth0", "packets": 3, "dropped": 0}], "rate_bit_s": None,
    "lab": 1, "boot": 2, "block": 1, "random": True, "seeds": [1, 2**32], "charged_s": 0.25,
}  # fmt: skip


def test_a_whole_sample_is_one():
    SENT(WHOLE, "sample")
    SENT({name: WHOLE[name] for name in ("cell", "index", "status")}, "sample")
    SENT({**WHOLE, "new": {"a": [1]}}, "sample")


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    "wrong", [object(), float("inf"), "\ud800", [[{"a": float("nan")}]]], ids=["object", "inf", "half", "nan"]
)
def test_no_field_is_of_another_type(name, wrong):
    with pytest.raises(ShapeError, match=rf"sample\.{name}"):
        SENT({**WHOLE, name: wrong}, "sample")


@pytest.mark.parametrize("wrong", [{"mean": 1.0}, {"n": 1}, {"mean": None, "n": 1}, {"mean": 1.0, "n": 1, "values": None}])
def test_a_metric_has_all_that_readers_use(wrong):
    for shape in (SENT, KEPT):
        with pytest.raises(ShapeError, match=r"sample\.metrics\.time_ms"):
            shape({**WHOLE, "metrics": {"time_ms": wrong}}, "sample")


def test_a_file_may_have_a_sample_of_an_older_version():
    KEPT({"cell": {"size": 3}, "index": 0, "status": "ok", "metrics": None, "boot": None}, "sample")
    with pytest.raises(ShapeError):
        SENT({"cell": {"size": 3}, "index": 0, "status": "ok", "metrics": None, "boot": None}, "sample")


def test_a_million_values_are_checked_without_a_call_for_each():
    values = json.loads("[" + "1.25," * 999_999 + "1.25]")
    SENT({**WHOLE, "metrics": {"time_ms": {"mean": 1.25, "n": len(values), "values": values}}}, "sample")
    values[500_000] = None
    with pytest.raises(ShapeError, match=r"^an item of sample\.metrics\.time_ms\.values is None, not a number$"):
        SENT({**WHOLE, "metrics": {"time_ms": {"mean": 1.25, "n": len(values), "values": values}}}, "sample")


def test_an_event_holds_a_whole_sample():
    shape = grammar([0])["sample"]
    shape({"index": 0, "sample": WHOLE}, "'sample'")
    with pytest.raises(ShapeError, match=r"^'sample'\.sample\.cell is None, not an object$"):
        shape({"index": 0, "sample": {**WHOLE, "cell": None}}, "'sample'")
    with pytest.raises(ShapeError, match="which is unknown"):
        shape({"index": 0, "sample": WHOLE, "status": "ok"}, "'sample'")
