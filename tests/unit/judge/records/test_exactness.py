"""Whether boots give the same numbers is seen where it is not known."""

import pytest

from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.exactness import agree, is_exact, verdict_from

OWN = Terms(Charging.FREE, own_programs=True)


def boots(*means, random=False, sd=0.5, name="time_ms"):
    metrics = [{name: {"mean": mean, "sd": sd, "n": 10}} for mean in means]
    return [{"status": "ok", "random": random, "boot": at, "metrics": each} for at, each in enumerate(metrics, 1)]


@pytest.mark.parametrize(
    ("samples", "exact", "least"),
    [
        ([], False, 4),
        (boots(5.0), False, 4),
        (boots(5.0, 5.0, 5.0), False, 4),
        (boots(5.0, 5.0, 5.0, 5.0), True, 4),
        (boots(5.0, 5.0, 5.0, 5.0, 5.0), True, 4),
        (boots(5.0, 5.000001), False, 4),  # the second one goes through the cells backwards
        (boots(5.0, 5.000001, 5.0, 5.000001), True, 4),
        (boots(5.0, 5.000001, 5.000001), False, 3),
        (boots(5.0, 5.000001, 5.0, 5.0), False, 3),
        (boots(5.0, 5.01, 5.0, 5.01), True, 4),  # time that the kernel's timers make
        (boots(5.0, 5.03, 5.0, 5.03), False, 3),
        (boots(500.0, 500.4, 500.0, 500.4), True, 4),
        (boots(500.0, 500.6, 500.0, 500.6), False, 3),
        (boots(5.0, 5.01, 5.0, 5.01, name="page_s"), False, 3),
        (boots(5.0, 5.01, 5.0, 5.01, name="mbit_per_s"), False, 3),
        (boots(3e4, 3.1e4, 3e4, 3.1e4, name="requests_per_second"), True, 4),  # 0.033 and 0.032 ms a request
        (boots(10.0, 10.02, 10.0, 10.02, name="requests_per_second"), False, 3),
        (boots(5.0, 5.0, 5.0, 5.1), False, 3),
        (boots(5.0, 5.0, 5.0) + boots(5.0, sd=0.6), False, 3),  # two blocks of one boot
        (boots(5.0, 5.0, 5.0, 5.0)[:3] + boots(5.0, 5.0, 5.0, 5.0, sd=0.6)[3:], False, 3),
        (boots(5.0, 5.0, 5.0, 5.0)[:3] + boots(5.0, 5.0, 5.0, 5.0, name="other_ms")[3:], False, 3),
        (boots(5.0, 5.0, 5.0, 5.0, random=True), False, 3),
        (boots(5.0, 5.0, 5.0, 5.0, random=None), False, 4),
    ],
)
def test_four_boots_show_whether_unknown_programs_repeat(samples, exact, least):
    assert (is_exact(samples, OWN), verdict_from(samples, OWN)) == (exact, least)


def test_blocks_of_a_boot_may_differ_if_those_of_the_others_do_so_too():
    samples = [{**each, "boot": boot} for boot in (1, 2, 3, 4) for each in boots(5.0, 5.1)]
    assert agree(samples)
    assert is_exact(samples, OWN)
    assert not agree([*samples[:3], samples[0], *samples[4:]])


@pytest.mark.parametrize("random", [False, True])
def test_of_known_programs_one_boot_tells(random):
    assert is_exact(boots(5.0, random=random), Terms(Charging.FREE)) is not random
    assert verdict_from(boots(5.0, random=random), Terms(Charging.FREE)) == (3 if random else 1)


@pytest.mark.parametrize(
    ("terms", "least"),
    [
        (Terms(Charging.WORK), 1), (Terms(Charging.WORK, own_programs=True), 3), (Terms(Charging.TIME, own_programs=True), 3),
        (Terms(Charging.REAL, own_programs=True), 3), (Terms(Charging.FREE, chance=True), 1),
        (Terms(Charging.FREE, chance=True, own_programs=True), 3), (Terms(), 1),
    ],
)  # fmt: skip
def test_boots_before_any_was_measured(terms, least):
    assert verdict_from((), terms) == least
