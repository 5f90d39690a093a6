import json
from pathlib import Path

import pytest

from slownet.lab.build.kernel import Kernel
from slownet.lab.build.parts import Parts
from slownet.lab.host import calibrate
from slownet.lab.run.clock import Clock
from slownet.model.errors import LabError


class FakeLab:
    def __init__(self, outputs, status):
        self._outputs, self._status = outputs, status

    def run(self, argv, *, stdout):
        assert Path(argv[0]).name == "probe"
        stdout(json.dumps(self._outputs.pop(0)).encode())
        return self._status


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Parts whose native probe prints 10, 8 and 9 for each cost."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tools = tmp_path / "tools"
    tools.mkdir()
    probe = tools / "probe"
    probe.write_text(
        f"#!/bin/sh\n[ $1 = cpu ] || exit 1\nn=$(cat {tmp_path}/n 2>/dev/null || echo 0)\necho $((n + 1)) > {tmp_path}/n\n"
        'set -- 10 8 9\nshift $n\necho "{\\"trip\\": $1, \\"spawn\\": $1, \\"work\\": $1}"\n'
    )
    probe.chmod(0o755)
    return Parts(Kernel(tmp_path / "key" / "linux", "7.3.4", "linux-source"), None, tools)


@pytest.fixture
def inside(monkeypatch):
    """The probe's output in the lab, boot by boot."""
    state = {"outputs": [], "status": 0, "boots": 0, "clocks": []}

    def lab(self, clock, *, shares):
        assert clock in (Clock("virtual", 1), Clock("virtual", 1, counter="process"))
        state["clocks"].append(clock.counter)
        assert [each.path for each in shares] == [self.tools]
        state["boots"] += 1
        return FakeLab(state["outputs"], state["status"])

    monkeypatch.setattr(Parts, "lab", lab)
    return state


def costs(trip, spawn, work):
    return {"trip": trip, "spawn": spawn, "work": work}


def test_the_lowest_of_each_cost_counts_and_the_ratio_is_geometric(parts, inside):
    inside["outputs"] = [costs(90, 16, 999), costs(64, 99, 16), costs(99, 99, 99)]
    measured = calibrate.tdf(parts)
    assert measured == {
        "tdf": 3,  # (64/8 * 16/8 * 16/8) ** (1/3) = 3.175
        "ratio": 3.175,
        "native": costs(8, 8, 8),
        "lab": costs(64, 16, 16),
    }


def test_it_is_measured_once_for_a_kernel(parts, inside):
    inside["outputs"] = [costs(80, 80, 80)] * 3
    first = calibrate.tdf(parts)
    assert calibrate.tdf(parts) == first
    assert inside["boots"] == 3
    inside["outputs"] = [costs(10, 10, 10)] * 3
    (parts.tools.parent / "n").unlink()
    other = Parts(Kernel(parts.kernel.path, "6.12.1", "x"), None, parts.tools)
    assert calibrate.tdf(other)["ratio"] == 1.25


def test_a_lab_that_is_quicker_than_the_host_has_a_factor_of_one(parts, inside):
    inside["outputs"] = [costs(1, 1, 1)] * 3
    assert calibrate.tdf(parts)["tdf"] == 1


def test_a_probe_that_fails_is_one_line_and_nothing_is_kept(parts, inside, tmp_path):
    inside["outputs"] = [costs(1, 1, 1)]
    inside["status"] = 1
    with pytest.raises(LabError, match=r"^the CPU probe ended with status 1 in the lab$"):
        calibrate.tdf(parts)
    assert list((tmp_path / "cache").rglob("*.json")) == []


@pytest.fixture
def reference(monkeypatch):
    """A reference computer on which each cost is 5, and labs that alternately use 1 s and 2 s of CPU."""
    monkeypatch.setattr(calibrate, "REFERENCE", costs(5, 5, 5))
    spent = iter([0, 1, 1, 3, 3, 4, 4, 6.5, 7, 8, 8, 10])
    monkeypatch.setattr(calibrate, "_cpu_s", lambda: next(spent))


def test_work_is_compared_with_the_reference_and_its_price_with_time(parts, inside, reference):
    pages = [costs(7, 7, 7)] * 2
    inside["outputs"] = [costs(10, 20, 30), *pages, costs(20, 10, 30), *pages, costs(20, 20, 20), *pages]
    assert calibrate.work(parts, "process") == {
        "tdf": 3,  # (10/5 * 10/5 * 20/5) ** (1/3)
        "ratio": 2.52,
        "reference": costs(5, 5, 5),
        "lab": costs(10, 10, 20),
        "counter": "process",
        "price": 2.0,
    }
    assert inside["clocks"] == ["process", "", "process"] * 3


def test_what_work_costs_is_measured_once(parts, inside, reference):
    inside["outputs"] = [costs(5, 5, 5)] * 9
    assert calibrate.work(parts, "process") == calibrate.work(parts, "process")
    assert inside["boots"] == 9


@pytest.mark.parametrize(
    ("counter", "price", "worth"),
    [("process", 2.5, True), ("process", 2.51, False), ("processor", 1.1, True), ("processor", 4.6, True)],
)
def test_a_process_counter_is_taken_unless_it_is_dear(counter, price, worth):
    assert calibrate.worth({"counter": counter, "price": price}) is worth
