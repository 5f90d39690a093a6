"""The parameters of Mininet's TCLink as conditions, with exact values."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.conditions.other_names import MEANT
from slownet.links.conditions.tclink import condition, numbers, shaper, unknown
from slownet.model.errors import ConditionError, SlownetError, UnitError


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
        *(({"bw": text}, {"rate": "10Mbit"}) for text in ("10", "10m", "10M", "10Mbit", "10 Mbit/s", "10Mb/s", "10mbits/sec")),
        ({"bw": "1.25MB/s"}, {"rate": "10Mbit"}),
        ({"bw": "500kbit"}, {"rate": "500kbit"}),
        ({"bw": "1Gbit"}, {"rate": "1Gbit"}),
        ({"loss": "0.5 %"}, {"loss": "0.5%"}),
        ({"loss": "1"}, {"loss": "1%"}),
        ({"max_queue_size": "100 packets"}, {"queue": "100 packets"}),
        ({"delay": "5 ms"}, {"delay": "5ms"}),
        ({"delay": "10 ms 2 ms"}, {"delay": "10ms", "jitter": "2ms"}),
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
        ({"bw": 0}, ConditionError, "bw=0 lets no packet through"),
        ({"bw": -1}, ConditionError, "bw=-1 lets no packet through"),
        ({"bw": "ten"}, ConditionError, "bw='ten' is not a number: give Mbit/s"),
        (
            {"bw": "10Mbps"},
            ConditionError,
            "bw='10Mbps': tc reads Mbps as bytes per second, most people as bits: give Mbit/s, such",
        ),
        ({"bw": "10MB"}, ConditionError, "bw='10MB' has an unknown unit: give Mbit/s, such as 10 or '10Mbit'"),
        ({"bw": "10 apples"}, ConditionError, "unknown unit"),
        ({"bw": True}, ConditionError, "bw=True is not a number"),
        ({"bw": float("inf")}, ConditionError, "is not finite"),
        ({"bw": 10, "use_hfsc": True, "use_tbf": True}, ConditionError, "one shaper limits a rate"),
        ({"use_hfsc": True}, ConditionError, "use_hfsc without bw"),
        ({"max_queue_size": 1.5}, ConditionError, "not a whole number of packets"),
        ({"max_queue_size": 0}, ConditionError, "is empty"),
        ({"max_queue_size": -1}, SlownetError, "max_queue_size=-1 is not a whole number of packets"),
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


@pytest.mark.parametrize("value", ["on", "True", True, 1, "yes"])
def test_a_text_may_turn_a_flag_on(value):
    assert numbers({"use_tbf": value, "gro": "off", "mine": "on"}) == {"use_tbf": True, "gro": False, "mine": "on"}


def test_a_flag_that_is_neither_on_nor_off_is_one_line():
    with pytest.raises(ConditionError, match="enable_ecn='perhaps' is neither on nor off: give True or False"):
        numbers({"enable_ecn": "perhaps"})


def test_texts_become_numbers_before_mininet_compares_them():
    assert numbers({"loss": "1%", "bw": "10Mbit", "delay": "5ms"}) == {"loss": 1.0, "bw": 10.0, "delay": "5ms"}


@pytest.mark.parametrize(
    ("params", "kind"),
    [({}, ""), ({"bw": 1}, "htb"), ({"bw": 1, "use_tbf": True}, "tbf"), ({"bw": 1, "use_hfsc": True, "delay": "1ms"}, "hfsc")],
)
def test_which_discipline_limits_the_rate(params, kind):
    assert shaper(**params) == kind


TAKEN = ("bw", "delay", "jitter", "loss", "max_queue_size", "latency_ms", "speedup", "use_hfsc", "enable_ecn")


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("bandwidth", "did you mean 'bw'?"),
        ("latency", "did you mean 'delay'?"),  # not latency_ms, which is nearer in letters
        ("max_queue", "did you mean 'max_queue_size'?"),
        ("packet_loss", "did you mean 'loss'?"),
        ("speed", "did you mean 'bw'?"),
        ("jiter", "did you mean 'jitter'?"),
        ("rtt", "give delay, which is one-way: half of the round trip"),
        ("duplicate", "net.link(...).set(duplicate=...)"),
        ("xyz", "choose from bw"),
    ],
)
def test_an_unknown_parameter_suggests_what_was_meant(name, fix):
    line = str(unknown(name, TAKEN, "a TCLink"))
    assert line.startswith(f"a TCLink has no parameter '{name}': ")
    assert fix in line


def test_what_is_meant_is_never_itself_a_name_to_replace():
    assert not set(MEANT) & set(MEANT.values())
