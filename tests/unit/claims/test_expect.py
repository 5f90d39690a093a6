import importlib
import pkgutil
from dataclasses import dataclass

import pytest

import slownet.tools
from slownet.claim import about, slowed
from slownet.errors import ExperimentError
from slownet.measured import Measured, Metrics, Setting, measured_under
from slownet.records.charging import Charging
from slownet.stats import from_moments

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
        "(4.170 to 4.609); 99 % interval; 60.00 against 51.80 expected; verified RTT 10.06 ms, real clock"
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
    assert str(open_one).endswith("a margin of 0 is kept by numbers that do not vary: give it some width, such as within=0.05")
    assert time(52.8) != open_one


def test_about():
    assert time(51.8) == about("52ms")
    assert time(51.8) == about(time(52.0))
    assert time(51.8) != about(60)


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
    for each in pkgutil.iter_modules(slownet.tools.__path__, "slownet.tools."):
        module = importlib.import_module(each.name)
        classes = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__)
        found += [kind for kind in classes if "metrics" in vars(kind)]
    assert len(found) > 1
    assert [kind.__name__ for kind in found if not issubclass(kind, Metrics)] == []
