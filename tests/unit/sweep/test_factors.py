"""The values of factors, read from texts."""

import pytest

from slownet.hypotheses import value_texts
from slownet.model.errors import ExperimentError, SlownetError, SweepError
from slownet.sweep import factors


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:30:10ms", ("0ms", "10ms", "20ms", "30ms")),
        ("0ms:1s:500ms", None),
        ("0:1:0.25%", ("0%", "0.25%", "0.5%", "0.75%", "1%")),
        ("0,0.1,1%", ("0%", "0.1%", "1%")),
        ("0ms,10,40ms", ("0ms", "10ms", "40ms")),
        ("1:8:x2Mbit", ("1Mbit", "2Mbit", "4Mbit", "8Mbit")),
        ("0:20:10ms,50,50ms", ("0ms", "10ms", "20ms", "50ms")),
        ("1:3:1", ("1", "2", "3")),
        ("LTE,GEO", ("LTE", "GEO")),
        ("none,5%", ("none", "5%")),
        ("2% in bursts of 8", ("2% in bursts of 8",)),
        ("100:900:400ms", ("100ms", "500ms", "900ms")),
    ],
)
def test_values(text, values):
    if values is None:
        with pytest.raises(ExperimentError, match="two units, s and ms"):
            value_texts.values_of("rtt", text, "--vary rtt")
    else:
        assert value_texts.values_of("rtt", text, "--vary rtt") == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rtt", "NAME=VALUES"),
        ("rtt=", "NAME=VALUES"),
        ("=1ms", "NAME=VALUES"),
        ("rtt=1ms,,2ms", "an empty value"),
        ("rtt=0:10", "unclear range"),
        ("rtt=10:0:1ms", "no end"),
        ("rtt=0:10:0ms", "no end"),
        ("rtt=0:10:x2ms", "no end"),
        ("rtt=1:10:x1ms", "no end"),
        ("rtt=a:10:1ms", "'a' is not a number"),
        ("rtt=0:10:-1ms", "'-1ms' is negative in the range"),
        ("rtt=-5:10:1ms", "'-5' is negative in the range '-5:10:1ms'"),
        ("rtt=0:10:-ams", "'-ams' is not a number in the range"),
        ("rtt=0:1000001:1us", "more than 1,000,000 values"),
        ("rtt=0-100ms", "'0-100ms' is not a value, --vary rtt: a range is written from:to:step, such as 0:100:10ms"),
    ],
)
def test_what_cannot_be_read_is_one_line(text, said):
    with pytest.raises(SlownetError, match=said) as error:
        factors.parse([text])
    assert "--vary" in str(error.value)


def test_a_factor_is_given_once():
    with pytest.raises(SweepError, match="'rtt' is given twice"):
        factors.parse(["rtt=1ms", "rtt=2ms"])


def test_factors_of_python_may_be_lists():
    asked = {"rtt": "0:20:10ms", "loss": ["0%", "1%", "0%"]}
    assert factors.of_mapping(asked) == {"rtt": ("0ms", "10ms", "20ms"), "loss": ("0%", "1%")}


def test_spaces_around_names_and_values_are_left_out():
    assert factors.parse([" rtt = 1ms, 2ms "]) == {"rtt": ("1ms", "2ms")}
