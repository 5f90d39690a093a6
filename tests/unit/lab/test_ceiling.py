import json

import pytest

from slownet.lab.host import ceiling
from slownet.lab.run.clock import INF, Clock
from slownet.model.errors import LabError


class FakePlace:
    kind, python = "lab", "python"
    facts = {"kernel": "7.3.4"}  # noqa: RUF012

    def __init__(self, clock, status=0):
        self.clock, self.status, self.boots = clock, status, 0

    def run(self, argv, *, stdout, stderr):
        assert argv[1:] == ["-m", "slownet.calibration.carried"]
        self.boots += 1
        stdout(json.dumps({"bit_s": 1e6 * self.boots}).encode())
        stderr(b"some\nlast words\n")
        return self.status


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_it_is_measured_once_a_dilation_factor():
    place = FakePlace(Clock("virtual", 2))
    assert [ceiling.known(place), ceiling.known(place)] == [1e6, 1e6]
    assert ceiling.known(FakePlace(Clock("virtual", 3))) == 1e6
    assert place.boots == 1


def test_on_the_real_clock_it_is_measured_each_time():
    place = FakePlace(Clock("real"))
    assert [ceiling.known(place), ceiling.known(place)] == [1e6, 2e6]


def test_there_is_no_ceiling_if_the_cpu_is_free():
    place = FakePlace(Clock("virtual", INF))
    assert ceiling.known(place) is None
    assert place.boots == 0


def test_a_measurement_that_fails_is_one_line():
    with pytest.raises(LabError, match="what the CPU carries: last words"):
        ceiling.known(FakePlace(Clock("virtual", 2), status=1))
