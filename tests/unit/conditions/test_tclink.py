"""The parameters of Mininet's TCLink as conditions, with exact values."""

import pytest

from slownet.conditions.link import Condition
from slownet.conditions.tclink import condition
from slownet.errors import ConditionError, SlownetError, UnitError


@pytest.mark.parametrize(
    ("params", "fields"),
    [
        ({}, {}),
        ({"delay": "5ms"}, {"delay": "5ms"}),
        ({"delay": "5000usec"}, {"delay": "5ms"}),
        ({"delay": "0.1sec"}, {"delay": "100ms"}),
        ({"delay": "10ms", "jitter": "2ms"}, {"delay": "10ms", "jitter": "2ms"}),
        ({"delay": "10ms", "jitter": "0ms"}, {"delay": "10ms"}),
        ({"delay": "10ms 2ms"}, {"delay": "10ms", "jitter": "2ms"}),
        (
            {"delay": "10ms 2ms 25% distribution normal"},
            {"delay": "10ms", "jitter": "2ms", "correlation": "25%", "distribution": "normal"},
        ),
        (
            {"delay": "10ms", "jitter": "2ms distribution pareto"},
            {"delay": "10ms", "jitter": "2ms", "distribution": "pareto"},
        ),
        ({"delay": 0, "loss": 0}, {}),
        ({"delay": "0"}, {}),
        ({"loss": 10}, {"loss": "10%"}),
        ({"loss": 0.001}, {"loss": "0.001%"}),
        ({"loss": "2%"}, {"loss": "2%"}),
        ({"bw": 10}, {"rate": "10Mbit"}),
        ({"bw": 0.5}, {"rate": "500kbit"}),
        ({"bw": 2500}, {"rate": "2500Mbit"}),  # Mininet ignores values above 1000
        ({"max_queue_size": 1000}, {"queue": "1000 packets"}),
        (
            {"bw": 10, "delay": "5ms", "loss": 10, "max_queue_size": 1000},
            {"rate": "10Mbit", "delay": "5ms", "loss": "10%", "queue": "1000 packets"},
        ),
        ({"bw": 10, "use_tbf": True}, {"rate": "10Mbit", "burst": "15000B", "queue": "12ms"}),
        ({"bw": 10, "use_tbf": True, "latency_ms": 50}, {"rate": "10Mbit", "burst": "15000B", "queue": "50ms"}),
        (
            {"bw": 10, "use_tbf": True, "max_queue_size": 20},
            {"rate": "10Mbit", "burst": "15000B", "queue": "20 packets"},
        ),
        ({"bw": 10, "enable_red": True}, {"rate": "10Mbit", "aqm": "red 30kB 35kB", "ecn": False, "queue": "1MB"}),
        (
            {"bw": 10, "enable_ecn": True, "max_queue_size": 100},
            {"rate": "10Mbit", "aqm": "red 30kB 35kB", "ecn": True, "queue": "100 packets"},
        ),
    ],
    ids=str,
)
def test_parameters_keep_their_meaning(params, fields):
    found = condition(**params)
    expected = Condition.parse(**fields)
    assert str(found).replace("30000B", "30kB").replace("35000B", "35kB") == str(expected)
    assert found.but(aqm=None, ecn=None) == expected.but(aqm=None, ecn=None)


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"delay": "10"}, UnitError, "has no unit"),
        ({"delay": "soon"}, UnitError, "'soon' is not a duration"),
        ({"delay": "-5ms"}, UnitError, "negative"),
        ({"delay": "1ms 1ms 1% 4"}, ConditionError, "more than a delay"),
        ({"jitter": "1ms"}, ConditionError, "jitter without delay"),
        ({"loss": 101}, ConditionError, "loss=101 is not a percentage"),
        ({"loss": -1}, ConditionError, "not a percentage"),
        ({"loss": "many"}, ConditionError, "loss='many' is not a number: give percent"),
        ({"bw": 0}, ConditionError, "bw=0 lets nothing through"),
        ({"bw": -1}, ConditionError, "bw=-1 lets nothing through"),
        ({"bw": "10m"}, ConditionError, "bw='10m' is not a number: give Mbit/s"),
        ({"max_queue_size": 0}, ConditionError, "holds nothing"),
        ({"max_queue_size": -1}, SlownetError, "-1 packets"),
        ({"bw": 1, "latency_ms": 5}, ConditionError, "latency_ms without use_tbf"),
        ({"enable_ecn": True}, ConditionError, "enable_ecn without bw"),
        ({"use_tbf": True, "delay": "1ms"}, ConditionError, "use_tbf without bw"),
    ],
    ids=str,
)
def test_what_mininet_passes_over_is_one_line(params, error, words):
    with pytest.raises(error) as caught:
        condition(**params)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
