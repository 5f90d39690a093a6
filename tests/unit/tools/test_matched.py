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
    ("pattern", "unit", "values"),
    [
        ("tps = ([0-9.]+)", "", {"tps": (81.49586,)}),
        ("tps = ([0-9.]+)", "1/s", {"tps_1_per_s": (81.49586,)}),
        (r"latency average = ([0-9.]+) ms", "", {"latency_average_ms": (12.27,)}),
        (r"latency average\s*=\s*([0-9.]+)\s+ms", "", {"latency_average_ms": (12.27,)}),
        (r"latency average = ([0-9.]+) ms", "us", {"latency_average_us": (12.27,)}),
        (r"latency (?:average|stddev) = ((?:[0-9]+)(?:[.][0-9]+)?)", "ms", {"latency_average_stddev_ms": (12.27, 0.344)}),
        (r"^latency average = (?P<mean_ms>\S+).*\n.* = (?P<sd_ms>\S+)", "", {"mean_ms": (12.27,), "sd_ms": (0.344,)}),
        (r"([0-9]+)/100$", "", {"value": (100.0,)}),
        (r"processed: ([0-9]+)/(?:\d+)", "%", {"processed_percent": (100.0,)}),
        (r"100/([()\d]+)", "", {"value_100": (100.0,)}),
    ],
)
def test_what_a_pattern_finds(pattern, unit, values):
    assert parse(PGBENCH, [named(pattern, unit)]).values == values


def test_metrics_of_one_and_of_several_values():
    found = parse("a 1\na 3\nb 2\n", [named("a (.)"), named("b (.)")]).metrics()
    assert (found["a"]["mean"], found["a"]["n"], found["a"]["values"]) == (2, 2, [1, 3])
    assert (found["b"]["mean"], found["b"]["sd"], found["b"]["n"]) == (2, None, 1)


@pytest.mark.parametrize(
    ("pattern", "unit", "line"),
    [
        ("tps", "", "the pattern 'tps' has no group: put the number in parentheses, as in 'tps = ([0-9.]+)'"),
        ("(a) (b)", "", "the pattern '(a) (b)' has 2 groups: name each, as in (?P<p50_ms>[0-9.]+), or write (?:...)"),
        ("(?P<a>.)", "ms", "a unit and names in the pattern '(?P<a>.)': let the names end with it: (?P<a_ms>...)"),
        ("[", "", "unclear pattern '[': unterminated character set at position 0: write a regular expression like"),
        ("(a", "", "unclear pattern '(a': missing ), unterminated subpattern at position 0: write a regular expression like"),
        ("a (.)", "m/ s", "unclear unit 'm/ s': write one such as ms, s, MB/s or %"),
    ],
)
def test_a_pattern_that_names_no_number(pattern, unit, line):
    with pytest.raises(ExperimentError) as error:
        named(pattern, unit)
    assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("qps = (.*)", "nothing in the output matches the pattern 'qps = (.*)'; its last line: 'tps = 81.495860 (without "
                       "initial connection time)': command: pgbench -t 100"),
        ("latency (.*) =", "the pattern 'latency (.*) =' finds 'average', which is no number: command: pgbench -t 100"),
    ],
)  # fmt: skip
def test_output_without_the_number(pattern, line):
    with pytest.raises(ToolError) as error:
        parse(PGBENCH, [named(pattern)], ("pgbench", "-t", "100"))
    assert (str(error.value), error.value.raw) == (line, PGBENCH)


def test_nan_is_no_number():
    with pytest.raises(ToolError, match="finds 'nan', which is no number"):
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
