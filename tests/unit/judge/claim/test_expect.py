# ruff: noqa: SIM300  # the left operand is what these tests are about
import dataclasses
import importlib
import pkgutil
import traceback
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import slownet
import slownet.reproductions
import slownet.tools
from slownet.judge import claim
from slownet.judge.claim import about, all_of, bound, law, not_, ratio, slowed
from slownet.judge.measured import Measured, Metrics, Setting, measured_under
from slownet.judge.records.charging import Charging
from slownet.judge.records.comparisons import Comparisons, compared_in
from slownet.model.errors import ExperimentError, UnitError
from slownet.model.truth import NoTruth
from slownet.theory.stats import from_moments

NAME = "time_per_request_ms"


NOWHERE = Setting()


def time(mean, sd=0.1, n=100, setting=NOWHERE):
    return Measured(NAME, from_moments(mean, sd, n), setting)


@pytest.mark.parametrize(
    ("far", "equals", "differs"),
    [(time(51.8), True, False), (time(60.0), False, True), (time(54.3, sd=2), False, False), (time(51.8, 0, 1), False, False)],
)
def test_the_interval_decides_both_ways(far, equals, differs):
    expected = slowed(time(11.8), round_trips=4, rtt="10ms", within=0.05)
    assert (far == expected) == equals
    assert (expected == far) == equals
    assert (far != expected) == differs


def test_the_text_names_everything():
    expected = slowed(time(11.8), round_trips=4, rtt="10ms")
    assert str(expected) == "4 round trips of 10 ms on 11.80 ms, within 5 %"
    assert time(60.0, setting=Setting(10.061, "real clock")) != expected
    assert repr(expected) == (
        "4 round trips of 10 ms on 11.80 ms, within 5 %: refuted: ratio 5.085 (5.081 to 5.088), expected 4.390 "
        "(4.170 to 4.609); 99 % interval; 60.00 against 51.80 expected; "
        "4.82 round trips instead of 4; verified RTT 10.06 ms, real clock"
    )
    assert expected.judgement.verdict == "refuted"
    assert not time(51.8, 0, 1) == expected  # noqa: SIM201
    assert "its interval is not known: measure more" in str(expected)


def test_a_time_of_nothing_can_be_slowed():
    assert time(40.008, 0) == slowed(time(0.0, 0), round_trips=4, rtt="10ms")
    assert time(40.0, 0) == slowed(0, round_trips=4, rtt="10ms", within=0)


def test_a_margin_of_nothing_takes_exact_numbers():
    assert time(51.8, 0) == slowed(time(11.8, 0), round_trips=4, rtt="10ms", within=0)
    open_one = slowed(time(11.8), round_trips=4, rtt="10ms", within=0)
    assert not time(51.8) == open_one  # noqa: SIM201
    assert not time(51.8) != open_one  # noqa: SIM202
    assert str(open_one).endswith("only numbers that do not vary can meet a margin of 0: widen it, such as within=0.05")
    assert time(52.8) != open_one


def test_about():
    assert time(51.8) == about("52ms")
    assert time(51.8) == about(time(52.0))
    assert time(51.8) != about(60)


@pytest.mark.parametrize("left", [51.2, 51, np.float64(51.2), np.float32(51.5), Fraction(51), "51ms", "0.052s", "51200us"])
def test_a_plain_number_on_the_left_is_exact(left):
    for expected in (
        lambda: slowed(11.8, round_trips=4, rtt="10ms"),
        lambda: slowed(time(11.8), round_trips=4, rtt="10ms"),
        lambda: about(time(52.0)),
    ):
        assert left == expected()
        assert expected() == left
        assert not left != expected()  # noqa: SIM202
        assert not expected() != left  # noqa: SIM202
    assert left != about(time(60.0))
    assert not left == about(time(60.0))  # noqa: SIM201


def test_plain_numbers_count_what_the_right_side_does():
    assert 50.55 == slowed(0.55, round_trips=5, rtt="10ms")
    assert 0.052 == slowed(Measured("page_s", from_moments(0.012, 0.0, 9)), round_trips=4, rtt="10ms")
    assert "52ms" == slowed(Measured("page_s", from_moments(0.012, 0.0, 9)), round_trips=4, rtt="10ms")
    assert 52.0 == about("52ms")
    assert 52.0 == about("0.052s")
    assert 52 == about(52)
    assert 0.2 == about(0.2)
    assert 100.0 != slowed(0.55, round_trips=5, rtt="10ms")
    wide = slowed(time(11.8, sd=50), round_trips=4, rtt="10ms")
    assert not 51.8 == wide  # noqa: SIM201
    assert not 51.8 != wide  # noqa: SIM202
    with pytest.raises(ExperimentError, match="'52ms' for lost_percent: give a plain number in the metric's unit"):
        assert "52ms" == about(Measured("lost_percent", from_moments(5.0, 0.0, 9)))


def test_a_summary_has_its_own_interval():
    assert from_moments(51.8, 0.1, 100) == slowed(11.8, round_trips=4, rtt="10ms")
    open_one = slowed(11.8, round_trips=4, rtt="10ms")
    assert not from_moments(54.3, 2, 100) == open_one  # noqa: SIM201
    assert not from_moments(54.3, 2, 100) != open_one  # noqa: SIM202
    assert 51.8 == slowed(from_moments(11.8, 0.1, 100), round_trips=4, rtt="10ms")
    assert 51.8 == about(from_moments(52, 0.1, 100))


@pytest.mark.parametrize("left", [None, True, False, [51.2], {"mean": 51.2}, float("nan"), float("inf"), np.array([51.2]), 1j])
def test_what_is_no_number_on_the_left_is_a_mistake(left):
    for compare in (lambda: left == about("52ms"), lambda: left != about("52ms"), lambda: about("52ms") == left):
        with pytest.raises(ExperimentError) as caught:
            compare()
        assert "is compared with 'about 52ms, within 5 %': write a measured number, a plain one, or a duration" in str(
            caught.value
        )
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(UnitError, match="has no unit"):
        assert "52" == about("52ms")


def test_an_expectation_is_itself():
    one, other = about(52), about(52)
    assert one == one
    assert one != other
    assert not one != one  # noqa: SIM202
    assert one.judgement is None


def test_order_goes_by_intervals():
    assert time(51.8) < 300
    assert time(51.8) < "0.3s"
    assert time(51.8) < time(52.0)
    assert not time(51.8, sd=2) < time(52.0)
    assert not time(51.8, sd=2) > time(52.0)
    assert time(51.8) >= 51
    assert time(51.8, 0) <= 51.8
    assert float(time(51.8)) == 51.8
    with pytest.raises(ExperimentError, match=r"'300ms' for loss: give a plain number"):
        assert Measured("loss", from_moments(0.1, 0.3, 100)) < "300ms"


@dataclass(frozen=True)
class Tail(Metrics):
    values: int

    def metrics(self):
        every = {"mean": 50.0, "sd": 10.0, "n": 1000, "values": [float(each) for each in range(self.values)]}
        return {"time_ms": every, "p99_ms": {"mean": 99.0, "sd": None, "n": 1000, "percent": 99, "of": "time_ms"}}


def test_a_printed_percentile_is_as_sure_as_the_clock():
    assert not Tail(0).p99 < 1000
    assert Tail(1000).p99 < 1000
    for charging in Charging:
        for random in (False, True, None):
            with measured_under(lambda charging=charging, random=random: Setting(charging=charging, random=random)):
                assert (Tail(0).p99 < 99.1) is (charging is Charging.FREE and random is False)


@dataclass(frozen=True)
class Waits(Metrics):
    sd: float

    def metrics(self):
        return {
            "wait_ms": {"mean": 10.0, "sd": self.sd, "n": 50},
            "longest_ms": {"mean": 20.0, "sd": None, "n": 50},
            "retries": {"mean": 3.0, "sd": None, "n": 50, "count": True},
        }


def test_a_test_does_not_know_whether_its_programs_are_random():
    """A program that waits 0 to 20 ms at random took 8.7 ms in one boot and 10.8 in another, with free CPU."""
    with measured_under(lambda: Setting(charging=Charging.FREE, random=False)):
        random, regular = Waits(5.8), Waits(0.0)
    assert random.wait != about(20)
    assert about(10, within=0.05).judge(random.wait).verdict == "inconclusive"
    assert random.wait.high - 10 == pytest.approx(2.68 * 5.8 / 50**0.5, rel=1e-3)
    assert regular.wait == about(10, within=0)
    assert random.longest == about(20, within=0)
    assert random.retries == about(3, within=0)


@dataclass(frozen=True)
class Record(Metrics):
    rate: float

    def metrics(self):
        return {NAME: {"mean": 51.8, "sd": 0.4, "n": 100}, "waiting_ms": {"mean": 3.0, "sd": None, "n": 1}}


def test_a_records_metrics_are_its_attributes():
    record = Record(9.0)
    assert record.time_per_request.name == NAME
    assert (record.time_per_request.mean, record.time_per_request.n) == (51.8, 100)
    assert record.time_per_request_ms.high == pytest.approx(51.8 + 0.4 / 10 * 2.6264, rel=1e-4)
    assert record.waiting.low == float("-inf")
    assert record.rate == 9.0
    with pytest.raises(AttributeError, match=r"no metric 'time_per_reqest', of record: did you mean 'time_per_request_ms'\?"):
        _ = record.time_per_reqest
    with pytest.raises(ExperimentError) as caught:
        _ = record.time_per_reqest
    assert "Did you mean" not in "".join(traceback.format_exception(caught.value))  # Python's own suggestion
    assert not hasattr(record, "_anything")


def test_a_record_knows_what_it_was_measured_under():
    with measured_under(lambda: Setting(10.06, "virtual clock, TDF inf")):
        inside = Record(9.0)
    assert repr(inside.time_per_request) == (
        "time_per_request_ms 51.80 (51.69 to 51.91) of 100, verified RTT 10.06 ms, virtual clock, TDF inf"
    )
    assert repr(Record(9.0).waiting).startswith("waiting_ms 3.00 (-inf to inf) of 1")


def test_every_tools_record_has_its_metrics_as_attributes():
    found = []
    rooms = [(slownet.tools, "slownet.tools."), (slownet.reproductions, "slownet.reproductions.")]
    for each in (each for room, prefix in rooms for each in pkgutil.iter_modules(room.__path__, prefix)):
        module = importlib.import_module(each.name)
        classes = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__)
        found += [kind for kind in classes if dataclasses.is_dataclass(kind) and "metrics" in vars(kind)]
    assert len(found) > 1
    assert [kind.__name__ for kind in found if not issubclass(kind, Metrics)] == []


def test_a_refuted_number_of_round_trips_says_how_many_were_measured():
    expected = slowed(time(11.8), round_trips=4, rtt="10ms")
    assert time(61.8) != expected
    assert "; 5.00 round trips instead of 4" in str(expected)
    held = slowed(time(11.8), round_trips=4, rtt="10ms")
    assert time(51.8) == held
    assert "instead of" not in str(held)


def test_a_ratio_to_a_time_that_means_nothing_is_not_shown():
    expected = slowed(time(0.001, 0), round_trips=4, rtt="10ms")
    assert time(40.001, 0) == expected
    assert (expected.judgement.measured, expected.judgement.expected) == (pytest.approx(4.0), 4.0)
    assert "ratio" not in str(expected)


@pytest.mark.parametrize("near", [0.1, 0.0, 0.99])
def test_with_a_free_cpu_a_wrong_number_of_round_trips_is_said_as_such(near):
    """It was "ratio 198.975, expected 100.010": to a time that means nothing."""
    free = Setting(20.0, charging=Charging.FREE)
    expected = slowed(time(near, 0.0, setting=free), round_trips=1, rtt="20ms")
    assert time(near + 40, 0.0, setting=free) != expected
    assert "found 2.00 round trips, expected 1 (0.95 to 1.05); " in str(expected) or near > 0.5
    assert "ratio" not in str(expected)
    assert "instead of" not in str(expected)
    assert (expected.judgement.measured, expected.judgement.expected) == (pytest.approx(2.0), 1.0)
    seconds = slowed(Measured("page_s", from_moments(near / 1000, 0, 9), free), round_trips=1, rtt="20ms")
    assert Measured("page_s", from_moments((near + 40) / 1000, 0, 9), free) != seconds
    assert "found 2.00 round trips, expected 1 (" in str(seconds)


def test_where_the_cpu_is_charged_or_a_time_means_something_it_is_a_ratio():
    for setting, near in ((Setting(charging=Charging.WORK), 0.1), (Setting(charging=Charging.FREE), 1.1)):
        expected = slowed(time(near, setting=setting), round_trips=1, rtt="20ms")
        assert time(near + 40, setting=setting) != expected
        assert "ratio " in str(expected)
        assert "; 2.00 round trips instead of 1" in str(expected)


def real(mean, late=None, sd=0.1):
    """A time of 100 requests on the real clock, over a link that was late by this share."""
    return time(mean, sd, setting=Setting(11.15, charging=Charging.REAL, charged_s=0.1, took_s=0.1 * mean, late=late))


@pytest.mark.parametrize(
    ("far", "round_trips", "verdict"),
    [
        (real(31.15, late=0.2), 2, "inconclusive"),  # emulated beside other work
        (real(31.15, late=0.2), 3, "inconclusive"),
        (real(31.15, late=0.01), 2, "refuted"),
        (real(31.15, late=0.01), 3, "supported"),
        (real(31.15, late=None), 2, "refuted"),
        (real(31.15, late=0.2), 4, "refuted"),  # waking late makes nothing shorter
        (real(21.7, late=0.01), 2, "supported"),
    ],
)
def test_waking_late_in_every_boot_alike_is_no_round_trip(far, round_trips, verdict):
    expected = slowed(real(1.59), round_trips=round_trips, rtt="10ms", within=0.05)
    found = expected.judge(far)
    assert found.verdict == verdict, found.text
    assert ("woke late" in found.text) == (verdict == "inconclusive")


def test_how_late_a_time_may_be():
    assert real(31.15, 0.15).late == pytest.approx(0.3)
    assert real(31.15, 0.9).late == 1.0
    assert real(31.15).late == 0.0
    assert time(31.15, setting=Setting(charging=Charging.WORK, late=0.2)).late == 0.0


def test_further_boots_do_not_decide_what_is_late_in_each():
    with compared_in(comparisons := Comparisons()):
        for mean, late in ((31.1, 0.2), (31.2, 0.3), (31.15, 0.1), (31.1, 0.2)):
            comparisons.begin()
            found = slowed(real(1.59), round_trips=2, rtt="10ms", within=0.05).judge(real(mean, late=late))
        assert comparisons.boots == 4
        assert found.verdict == "inconclusive"
        assert "up to 40 % of it" in found.text
        assert comparisons.goes_on


CLAIMS = (
    law("time_ms", round_trips=4, within=0.05),
    bound("time_ms", at_most=300),
    ratio("time_ms", at={"rtt": "10ms"}, published=1.2),
    all_of(bound("time_ms", at_most=300), bound("time_ms", at_least=3)),
    not_(bound("time_ms", at_most=300)),
)


@pytest.mark.parametrize(
    "alone", [about(40, within=0.05), slowed(11.8, round_trips=4, rtt="10ms"), time(51.8), time(0.0, 0), *CLAIMS], ids=repr
)
def test_what_is_not_compared_or_judged_is_neither_true_nor_false(alone):
    """`assert about(40, within=0.05)` passed whatever was measured."""
    for ask in (bool, lambda each: not each, lambda each: each or None):
        with pytest.raises(ExperimentError, match="alone is neither true nor false") as error:
            ask(alone)
        assert error.value.fix


def test_all_claims_and_what_is_compared_are_of_that_kind():
    kinds = [each for each in vars(claim).values() if isinstance(each, type) and hasattr(each, "judge")]
    assert {claim.Expectation, claim.law, claim.any_of, claim.published_times} < {*kinds}
    assert [each.__name__ for each in kinds if not issubclass(each, NoTruth) and each is not claim.Claim] == []
    assert all(issubclass(each, NoTruth) for each in (Measured, slownet.Run, slownet.Compared))


def test_after_a_comparison_it_still_is_not_true():
    expected = about(40)
    assert time(40.0) == expected
    with pytest.raises(ExperimentError, match=r"'about 40.0, within 5 %: supported.* alone is neither true nor false"):
        bool(expected)
