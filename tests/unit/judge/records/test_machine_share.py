"""How much of a time on the real clock varies between boots: what was waited for a link does not."""

import pytest

from slownet.judge.records.charging import Block, Charging, Terms, metric_variation

REAL = Terms(Charging.REAL)
ALL = Charging.REAL.cpu_variation


def boots(mean=81.0, n=10, **sample):
    """One block of pings over a link of 80 ms, during which the machine was busy for 0.02 of 2 s, and late by 1 %."""
    known = {"charged_s": 0.02, "virtual_s": 2.0, "late": 0.01, "verified_rtt_ms": 80.5} | sample
    return [[Block({"mean": mean, "n": n, "sd": 0.3}, known)]]


def test_a_ping_is_mostly_its_link():
    assert metric_variation(boots(), "rtt_ms", REAL) == pytest.approx(ALL * 2 * 0.02 / 0.81 + 0.01)


def test_a_rate_is_that_of_its_times():
    assert metric_variation(boots(1 / 0.081), "requests_per_second", REAL) == pytest.approx(
        metric_variation(boots(), "rtt_ms", REAL)
    )


@pytest.mark.parametrize(
    "sample",
    [
        {"late": None}, {"verified_rtt_ms": None}, {"charged_s": None}, {"charged_s": 1.9}, {"late": 0.5},
        {"verified_rtt_ms": 200.0},  # no time of 81 ms contains such a round trip
    ],
)  # fmt: skip
def test_all_of_it_varies_where_nothing_is_known(sample):
    assert metric_variation(boots(**sample), "rtt_ms", REAL) == ALL


def test_it_never_varies_more_than_all_of_it():
    assert metric_variation(boots(late=0.11, charged_s=0.3), "rtt_ms", REAL) == ALL


def test_the_virtual_clock_charges_exactly_and_asks_no_link():
    found = metric_variation(boots(late=None), "rtt_ms", Terms(Charging.TIME))
    assert found == pytest.approx(Charging.TIME.cpu_variation * 0.02 / 0.81)
