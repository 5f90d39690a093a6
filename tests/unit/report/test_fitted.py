"""Tables in narrow terminals: every number is there, whole, and the verdict in a row's first line."""

import io

import pytest
from rich.text import Text

from slownet.report.fitted import Fitted
from slownet.report.screen import Screen

ROWS = [
    ("rtt 0ms", "time_per_request_ms", "0.2020 ± 0.0007", "equivalent"),
    ("", "requests_per_second", "4943 ± 17", "differs"),
    ("rtt 10ms", "time_per_request_ms", "", "equivalent"),
]


def shown(width, titles=2):
    made = Fitted(titles)
    for name in ("condition", "metric", "the very first number", "verdict"):
        made.add_column(name)
    for row in ROWS:
        made.add_row(*row[:-1], Text(row[-1]))
    screen = Screen(width=width, file=io.StringIO())
    screen.print(made)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_a_row_is_a_line_where_that_fits():
    assert shown(80) == [
        "condition  metric               the very first number  verdict",
        "rtt 0ms    time_per_request_ms  0.2020 ± 0.0007        equivalent",
        "           requests_per_second  4943 ± 17              differs",
        "rtt 10ms   time_per_request_ms                         equivalent",
    ]


def test_first_the_titles_of_columns_are_wrapped():
    assert shown(62)[:3] == [
        "                                the very first",
        "condition  metric               number           verdict",
        "rtt 0ms    time_per_request_ms  0.2020 ± 0.0007  equivalent",
    ]


def test_what_does_not_fit_is_a_record_with_its_verdict_first():
    assert shown(56) == [
        "rtt 0ms, time_per_request_ms: equivalent",
        "  the very first number: 0.2020 ± 0.0007",
        "rtt 0ms, requests_per_second: differs",
        "  the very first number: 4943 ± 17",
        "rtt 10ms, time_per_request_ms: equivalent",
    ]


@pytest.mark.parametrize("width", range(20, 100, 7))
def test_nothing_is_cut(width):
    words = " ".join(shown(width)).split()
    assert words.count("equivalent") == 2
    assert words.count("differs") == 1
    assert {"0.2020", "4943", "time_per_request_ms", "requests_per_second"} <= {word.rstrip(":,") for word in words}
    assert not any("…" in word for word in words)


def test_extra_columns_are_left_out_from_the_last_until_the_table_fits():
    def lines(width):
        made = Fitted(extra=("ratio", "law"))
        for name in ("condition", "time", "ratio", "law", "verdict"):
            made.add_column(name)
        made.add_row("rtt 10ms", "50.21 \u00b1 0.01", "1.0000", "50.2000", "on the law")
        screen = Screen(width=width, file=io.StringIO())
        screen.print(made)
        return [line.rstrip() for line in screen.file.getvalue().splitlines()]

    assert lines(80)[1].split() == ["rtt", "10ms", "50.21", "\u00b1", "0.01", "1.0000", "50.2000", "on", "the", "law"]
    assert lines(50)[1:] == ["rtt 10ms   50.21 \u00b1 0.01  1.0000  on the law", "left out at this width: law"]
    assert lines(40)[1:] == ["rtt 10ms   50.21 \u00b1 0.01  on the law", "left out at this width: ratio, law"]
    assert lines(22) == ["rtt 10ms: on the law", "  time: 50.21 \u00b1 0.01", "  ratio: 1.0000", "  law: 50.2000"]
