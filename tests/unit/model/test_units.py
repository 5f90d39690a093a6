import pytest

from slownet.compose import casts
from slownet.model import units
from slownet.model.errors import UnitError
from slownet.model.units import duration, rate, show_duration, size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0ms", 0.0), ("10ms", 0.010), ("0.1ms", 0.0001), ("0.1 ms", 0.0001), ("250us", 0.00025),
        ("7ns", 7e-9), (".5s", 0.5), ("2min", 120.0), ("1.5h", 5400.0), (" 40ms ", 0.040),
    ],
)  # fmt: skip
def test_duration(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("10", "duration '10' has no unit: write it like 10ms (units: ns us ms s min h)"),
        ("ten ms", "'ten ms' is not a duration: write a number and a unit, like 10ms"),
        ("-1ms", "duration '-1ms' is negative: write it like 10ms"),
        ("10m", "duration '10m' has an unknown unit 'm': units are ns us ms s min h"),
        ("10MS", "duration '10MS' has an unknown unit 'MS': units are ns us ms s min h"),
        ("", "'' is not a duration: write a number and a unit, like 10ms"),
        ("nan", "'nan' is not a duration: write a number and a unit, like 10ms"),
        ("1e3ms", "'1e3ms' is not a duration: write a number and a unit, like 10ms"),
        ("\u0661ms", "'\u0661ms' is not a duration: write a number and a unit, like 10ms"),
        (10, 'duration 10 has no unit: write it like "10ms" (units: ns us ms s min h)'),
    ],
)
def test_duration_says_what_is_wrong_in_one_line(text, line):
    with pytest.raises(UnitError) as caught:
        duration(text)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("2000kbit", 2_000_000), ("1Gbit", 1_000_000_000), ("1500bit", 1500), ("1Kibit", 1024),
        ("0.5mbit", 500_000),
    ],
)  # fmt: skip
def test_rate_is_read_as_tc_reads_it(text, bits):
    assert rate(text) == bits


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "10Mbps",
            "rate '10Mbps': Mbps is bytes per second to tc, bits to most people: write 10Mbit, or 80Mbit if it is bytes",
        ),
        ("2.5 kbps", "rate '2.5 kbps': kbps is bytes per second to tc, bits to most people: write 2.5kbit, or 20.0kbit if it"),
        ("100bps", "rate '100bps': bps is bytes per second to tc, bits to most people: write 100bit, or 800bit if it is bytes"),
    ],
)
def test_a_rate_that_reads_in_two_ways_is_refused(text, line):
    with pytest.raises(UnitError) as caught:
        rate(text)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("text", ["2000", "fast", "-1kbit", "10%", "5kb", "1Mbit/s"])
def test_rate_refuses(text):
    with pytest.raises(UnitError):
        rate(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("250MiB", 262_144_000), ("52kB", 52_000), ("1448B", 1448), ("0.5KiB", 512), ("0B", 0)],
)
def test_size(text, count):
    assert size(text) == count
    assert isinstance(size(text), int)


def test_size_is_whole_bytes():
    with pytest.raises(UnitError, match=r"size '0\.3B' is not a whole number of bytes"):
        size("0.3B")
    with pytest.raises(UnitError, match="size '52' has no unit"):
        size("52")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.010, "10 ms"), (0.0, "0 ms"), (0.0001, "100 us"), (3e-9, "3 ns"), (5e-10, "0.5 ns"),
        (0.0518251, "51.83 ms"), (0.00099999999, "1 ms"), (1.0, "1 s"), (119.0, "119 s"), (120.0, "2 min"),
        (8312.0, "2.309 h"), (-0.010, "-10 ms"), (36e6, "10000 h"),
    ],
)  # fmt: skip
def test_show_duration(seconds, text):
    assert show_duration(seconds) == text


@pytest.mark.parametrize("text", ["10 ms", "100 us", "2 min", "119 s", "2.309 h"])
def test_what_is_shown_can_be_read_again(text):
    assert show_duration(duration(text)) == text


@pytest.mark.parametrize("unit", units.TIMES, ids=[each.name for each in units.TIMES])
def test_a_unit_of_time_is_one_row(unit):
    """Texts, metrics and compose files take it from there."""
    assert [casts.seconds(f"2{name}") for name in unit.in_compose] == [2 * float(unit.seconds)] * len(unit.in_compose)
    assert units.milliseconds_of(f"page_{unit.name}") == (float(1000 * unit.seconds) if unit.of_metrics else None)
    if unit.is_read:
        assert units.duration(f"2{unit.name}") == float(2 * unit.seconds)
        assert units.show_duration(float(3 * unit.seconds)) == f"3 {unit.name}"
