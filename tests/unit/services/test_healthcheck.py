"""Health checks: when they run, when they fail, what is said."""

import subprocess
import sys

import pytest

from slownet.containers import healthcheck
from slownet.containers.config import Healthcheck
from slownet.containers.healthcheck import Probe, healthy
from slownet.model.errors import ServiceError


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(healthcheck, "time", clock)
    return clock


class Checks:
    """Checks that end with given statuses; None runs until it is killed."""

    def __init__(self, clock, folder, *statuses):
        self.clock, self.folder, self.statuses, self.at, self.words = clock, folder, list(statuses), [], []

    def begin(self, words, output):
        self.at.append(self.clock.now)
        self.words.append(list(words))
        status = self.statuses.pop(0)
        script = "import time; time.sleep(100)" if status is None else f"print('said {status}'); raise SystemExit({status})"
        with output.open("wb") as file:
            process = subprocess.Popen([sys.executable, "-c", script], stdout=file, start_new_session=True)
        if status is not None:
            process.wait()
        return process

    def until(self, check, most=1000):
        """Poll each second; return when it passed, or the error."""
        probe = Probe(check, self.begin, self.folder, lambda what, output: ServiceError(what, log=output))
        for _ in range(most):
            try:
                if probe.passes():
                    return self.clock.now - 100
            except ServiceError as error:
                return str(error)
            self.clock.now += 1
        raise AssertionError("it never ended")


def test_it_passes_at_once(clock, tmp_path):
    checks = Checks(clock, tmp_path, 0)
    assert checks.until(Healthcheck(("CMD", "a", "b"))) == 1
    assert checks.words == [["a", "b"]]


def test_intervals_begin_when_a_check_has_ended(clock, tmp_path):
    checks = Checks(clock, tmp_path, 1, 1, 0)
    checks.until(Healthcheck(("CMD-SHELL", "a | b"), interval_s=10))
    assert checks.at == [100, 111, 122]
    assert checks.words[0] == ["/bin/sh", "-c", "a | b"]


def test_so_many_failures_after_the_first_check(clock, tmp_path):
    checks = Checks(clock, tmp_path, 1, 2, 3)
    assert checks.until(Healthcheck(("CMD", "a"), interval_s=10, retries=2)) == (
        "2 health checks in 23 s have failed, the last ended with status 3\n    said 3"
    )


def test_failures_do_not_count_while_it_starts(clock, tmp_path):
    checks = Checks(clock, tmp_path, *[1] * 8)
    said = checks.until(Healthcheck(("CMD", "a"), interval_s=10, retries=1, start_period_s=12, start_interval_s=3))
    assert checks.at == [100, 104, 108, 112]
    assert said.startswith("1 health check in 13 s has failed")


def test_a_check_that_takes_too_long(clock, tmp_path):
    checks = Checks(clock, tmp_path, 1, None)
    assert checks.until(Healthcheck(("CMD", "a"), interval_s=10, timeout_s=5, retries=1)) == (
        "1 health check in 16 s has failed, the last took too long"
    )


IMAGE = Healthcheck(("CMD", "image"), 7, 8, 9, 10, 11)


def test_values_are_its_own_then_the_image_s_then_docker_s():
    assert healthy().of(IMAGE, "") == IMAGE
    assert healthy("own", interval=1, retries=2).of(IMAGE, "") == Healthcheck(("CMD-SHELL", "own"), 1, 8, 9, 10, 2)
    assert healthy(["CMD", "own"], start_period=0).of(None, "") == Healthcheck(("CMD", "own"), 30, 30, 0, 5, 3)
    with pytest.raises(ServiceError, match="the image has no health check, image one: name one"):
        healthy().of(None, "image one")


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["CMD"], {}, r"\['CMD'\] is not a test, healthy\(\): write"),
        (["pg_isready"], {}, r"\['pg_isready'\] is not a test"),
        (["NONE"], {}, r"\['NONE'\] is not a test"),
        ("true", {"retries": 0}, "0 retries are too few"),
    ],
)
def test_mistakes(words, options, said):
    with pytest.raises(ServiceError, match=said):
        healthy(words, **options)
