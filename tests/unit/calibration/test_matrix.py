import pytest

from slownet.calibration.cases import choose, groups, matrix
from slownet.links.ip import IPV4, IPV6
from slownet.model.errors import ExperimentError


def test_the_matrix_spans_what_can_be_set_on_links():
    cases = matrix()
    delays = [case.condition.up for case in cases if case.group == "delay"]
    assert (min(delays), max(delays)) == (0.0, 0.5)
    shares = [case.condition.loss.mean for case in cases if case.group == "loss"]
    assert (min(shares), max(shares)) == (0.001, 0.3)
    rates = [case.rate for case in cases if case.probe == "transfer"]
    assert (min(rates), max(rates)) == (200e3, 1e9)
    assert {case.condition.distribution for case in cases if case.group == "jitter"} == {
        "uniform", "normal", "pareto", "paretonormal",
    }  # fmt: skip
    assert groups() == [
        "delay", "jitter", "loss", "bursts", "markov", "duplicate", "corrupt", "reorder", "rate", "aqm", "queue", "mtu",
    ]  # fmt: skip


def test_random_cases_have_different_seeds():
    seeds = [case.fields.get("seed") for case in matrix(seed=3) if case.condition.chancy]
    assert None not in seeds
    # The other direction takes the seed after it.
    assert len({*seeds, *(seed + 1 for seed in seeds)}) == 2 * len(seeds)
    assert not set(seeds) & {case.fields.get("seed") for case in matrix(seed=4)} - {None}
    assert all("seed" not in case.fields for case in matrix() if not case.condition.chancy)


def test_quick_has_one_of_each_group():
    quick = choose(matrix(), quick=True)
    assert sorted(case.group for case in quick) == sorted(groups())


def test_only_takes_groups_and_suggests_the_nearest():
    chosen = choose(matrix(), ["mtu", "delay"])
    assert {case.group for case in chosen} == {"mtu", "delay"}
    with pytest.raises(ExperimentError, match="did you mean 'delay'"):
        choose(matrix(), ["dealy"])


def test_a_case_is_named_by_its_fields_without_the_seed():
    names = {case.name for case in matrix()}
    assert "delay 50ms, jitter 5ms, distribution normal" in names
    assert "rate 10Mbit, queue 100 packets" in names
    assert not any("seed" in name for name in names)


def test_over_ipv6_only_the_least_mtu_differs():
    over4, over6 = matrix(7), matrix(7, IPV6)
    assert {case.ip for case in over4} == {IPV4}
    assert {case.ip for case in over6} == {IPV6}
    differing = [(one.fields, other.fields) for one, other in zip(over4, over6, strict=True) if one.fields != other.fields]
    assert differing == [({"mtu": 576}, {"mtu": 1280})]
    assert [case.probe for case in over4] == [case.probe for case in over6]
