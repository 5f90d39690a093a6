"""pytest-benchmark's calibration where computing is free: what takes no time fails, what waits is measured."""

from types import SimpleNamespace

import pytest

from slownet.model.errors import LabError
from slownet.pytest_plugin.other_plugins import Benchmarks

READING_S = 1e-6


class Fixture:
    """A fixture ``benchmark``, which calibrates as pytest-benchmark does, and what it measures, by both clocks."""

    def __init__(self, lab_s, real_s, reading_s=READING_S):
        self.lab_s, self.real_s, self.reading_s = lab_s, real_s, reading_s
        self.real = 0.0
        self.rounds = []

    def _calibrate_timer(self, runner):
        calls = 1
        while (took := runner(range(calls))) < 1e-5:
            calls *= 10
        return took, calls

    def __call__(self, calls):
        self.rounds.append(len(calls))
        self.real += len(calls) * self.real_s
        return self.reading_s + len(calls) * self.lab_s


def calibrated(fixture):
    item = SimpleNamespace(nodeid="test_it.py::test_it", funcargs={"benchmark": fixture})
    around = Benchmarks(lambda: fixture.real).pytest_runtest_call(item)
    next(around)
    return fixture._calibrate_timer(fixture)


@pytest.mark.parametrize(
    ("real_s", "what", "rounds"),
    [(1e-6, "1000 calls take no time", [1, 10, 100, 1000]), (0.3, "10 calls take no time", [1, 10]), (9, "a call takes", [1])],
)
def test_what_only_computes_fails_soon_in_a_line_that_says_how_to_measure_it(real_s, what, rounds):
    fixture = Fixture(0, real_s)
    with pytest.raises(LabError) as error:
        calibrated(fixture)
    assert fixture.rounds == rounds
    assert str(error.value).startswith(what)
    assert str(error.value).endswith(
        "because computing is free here: nothing can be measured, benchmark in test_it.py::test_it: "
        "charge it with --slownet-tdf auto, or use --slownet-clock real"
    )


@pytest.mark.parametrize("reading_s", [1.2e-5, 4e-5])
def test_a_clock_that_other_programs_read_meanwhile_does_not_end_the_calibration(reading_s):
    """One call seemed long enough then: it was measured, and its time was that of the readings."""
    fixture = Fixture(0, 1e-6, reading_s)
    with pytest.raises(LabError, match=r"^1000 calls take no time"):
        calibrated(fixture)


@pytest.mark.parametrize(("lab_s", "rounds"), [(0.02, [1]), (1e-5, [1, 10]), (1e-6, [1, 10, 100]), (2e-7, [1, 10, 100, 1000])])
def test_what_takes_time_is_calibrated_as_ever(lab_s, rounds):
    fixture = Fixture(lab_s, 1e-3)
    assert calibrated(fixture)[1] == rounds[-1]
    assert fixture.rounds == rounds


def test_a_test_without_the_fixture_or_with_another_version_of_it_is_left_alone():
    for funcargs in ({}, {"benchmark": object()}):
        around = Benchmarks(lambda: 0.0).pytest_runtest_call(SimpleNamespace(nodeid="it", funcargs=funcargs))
        next(around)
        with pytest.raises(StopIteration):
            next(around)
