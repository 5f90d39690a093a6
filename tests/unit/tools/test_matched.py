"""Numbers that patterns find in a program's output."""

import pytest

from slownet.model.errors import ExperimentError, ToolError
from slownet.tools import matched
from slownet.tools.matched import named, parse, words

PGBENCH = """
number of transactions actually processed: 100/100
latency average = 12.270 ms
latency stddev = 0.344 ms
tps = 81.495860 (without initial connection time)
"""


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        ("tps = ([0-9.]+)", {"tps": (81.49586,)}),
        (r"latency average = ([0-9.]+) ms", {"latency_average_ms": (12.27,)}),
        (r"latency average\s*=\s*([0-9.]+)\s+ms", {"latency_average_ms": (12.27,)}),
        (r"latency average = (?P<average_us>[0-9.]+)", {"average_us": (pytest.approx(12270),)}),
        (r"latency (?:average|stddev) = ((?:[0-9]+)(?:[.][0-9]+)?) ms", {"latency_average_stddev_ms": (12.27, 0.344)}),
        (r"^latency average = (?P<mean_ms>\S+).*\n.* = (?P<sd_ms>\S+)", {"mean_ms": (12.27,), "sd_ms": (0.344,)}),
        (r"([0-9]+)/100$", {"value": (100.0,)}),
        (r"100/([()\d]+)", {"value_100": (100.0,)}),
    ],
)
def test_what_a_pattern_finds(pattern, values):
    assert parse(PGBENCH, [named(pattern)]).values == values


def test_metrics_of_one_and_of_several_values():
    found = parse("a 1\na 3\nb 2\n", [named("a (.)"), named("b (.)")]).metrics()
    assert (found["a"]["mean"], found["a"]["n"], found["a"]["values"]) == (2, 2, [1, 3])
    assert (found["b"]["mean"], found["b"]["sd"], found["b"]["n"]) == (2, None, 1)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("tps", "the pattern 'tps' has no group: put the number in parentheses, as in 'tps = ([0-9.]+)'"),
        ("(a) (b)", "the pattern '(a) (b)' has 2 groups: name each, as in (?P<p50_ms>[0-9.]+), or write (?:...)"),
        ("[", "unclear pattern '[': unterminated character set at position 0: write a regular expression like"),
        ("(a", "unclear pattern '(a': missing ), unterminated subpattern at position 0: write a regular expression like"),
    ],
)
def test_a_pattern_that_names_no_number(pattern, line):
    with pytest.raises(ExperimentError) as error:
        named(pattern)
    assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (
            "qps = (.*)",
            "nothing in the output matches the pattern 'qps = (.*)'; its last line: 'tps = 81.495860 (without "
            "initial connection time)': command: pgbench -t 100",
        ),
        ("latency (.*) =", "the pattern 'latency (.*) =' finds 'average', which is not a number: command: pgbench -t 100"),
    ],
)
def test_output_without_the_number(pattern, line):
    with pytest.raises(ToolError) as error:
        parse(PGBENCH, [named(pattern)], ("pgbench", "-t", "100"))
    assert (str(error.value), error.value.raw) == (line, PGBENCH)


@pytest.mark.parametrize(
    ("printed", "milliseconds"),
    [
        ("800.00us", 0.8),
        ("40.00ms", 40.0),
        ("2.20s", 2200.0),
        ("1.02m", 61200.0),
        ("802 µs", 0.802),
        ("802μs", 0.802),
        ("120ns", 0.00012),
        ("1m30.5s", 90500.0),
        ("20 ms", 20.0),
        ("20", 20.0),
        ("1.5 sec", 1500.0),
        ("20ms/op", 20.0),
        ("3 requests", 3.0),
        ("5\nms", 5.0),
    ],
)
@pytest.mark.parametrize("pattern", [r"Latency +(?P<latency_ms>[0-9.]+)", r"Latency +(?P<latency_ms>\S+)"])
def test_a_printed_unit_is_read_with_each_number(printed, milliseconds, pattern):
    if pattern.endswith(r"\S+)") and not printed[-1].isalpha() | printed.isdigit():
        pytest.skip("what follows is none of the number")
    if pattern.endswith(r"\S+)") and printed.endswith("/op"):
        pytest.skip("not a number")
    found = parse(f"Latency   {printed} 1.11ms", [named(pattern)])
    assert found.values["latency_ms"] == (pytest.approx(milliseconds),)


def test_every_sample_has_its_own_unit():
    text = "Latency 800.00us\nLatency 40.00ms\nLatency 2.20s\n"
    assert parse(text, [named("Latency (?P<latency_ms>[0-9.]+)")]).values == {
        "latency_ms": (pytest.approx(0.8), 40.0, pytest.approx(2200))
    }
    assert parse(text, [named("Latency (?P<latency_s>[0-9.]+)")]).values == {
        "latency_s": (pytest.approx(0.0008), pytest.approx(0.04), 2.2)
    }


@pytest.mark.parametrize(
    ("pattern", "text", "line"),
    [
        (
            "Latency +([0-9.]+)",
            "Latency 800.00us",
            "finds 800.00us, and the metric is called latency: times are printed in changing units: name one in the pattern",
        ),
        (
            "Transfer: ([0-9.]+)",
            "Transfer: 1.21MB",
            "finds 1.21MB, and the metric is called transfer: sizes are printed in changing units",
        ),
        (
            "(?P<rate_mb_per_s>[0-9.]+)",
            "800.00KB/s",
            "finds 800.00KB/s, and the metric is called rate_mb_per_s: sizes are printed",
        ),
    ],
)
def test_a_unit_that_may_change_unseen_is_refused(pattern, text, line):
    with pytest.raises(ToolError) as error:
        parse(text, [named(pattern)])
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "text", "name", "value"),
    [
        ("(?P<rate_mb_per_s>[0-9.]+)", "8.5MB/s", "rate_mb_per_s", 8.5),
        ("tps ([0-9]+)", "tps 81requests", "tps", 81),
        ("time ([0-9]+)", "time 5 ms", "time", 5),
        ("(?P<requests_per_s>[0-9]+)", "200 ms", "requests_per_s", 200),
        ("loss ([0-9]+)%", "loss 5%", "loss_percent", 5),
        ("ping ([0-9]+)", "ping 5, ok", "ping", 5),
    ],
)
def test_other_units_are_left_alone(pattern, text, name, value):
    assert parse(text, [named(pattern)]).values == {name: (value,)}


def test_nan_is_no_number():
    with pytest.raises(ToolError, match="finds 'nan', which is not a number"):
        parse("a nan", [named("a (.*)")])


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pgbench -h db 'a b'", ["pgbench", "-h", "db", "a b"]),
        ("PGPASSWORD=x pgbench", ["sh", "-c", "PGPASSWORD=x pgbench"]),
        ("pgbench | tail -1", ["sh", "-c", "pgbench | tail -1"]),
        ("pgbench --set=a=b", ["pgbench", "--set=a=b"]),
    ],
)
def test_words_of_a_command(command, found):
    assert words(command) == found


def test_where_the_pattern_found_nothing(monkeypatch):
    class Host:
        name = "db"

    class Done:
        raw, argv = "nothing", ("x",)

    monkeypatch.setattr(matched, "run", lambda host, argv, timeout: Done())
    with pytest.raises(ToolError, match="its last line: 'nothing', host 'db': command: x"):
        matched.matched(Host(), "x", [named("a (.)")])
