"""CSV that a spreadsheet shows and never computes."""

import csv

import pytest

from slownet.report import spreadsheet
from slownet.report.figure import Figure


@pytest.mark.parametrize(
    "value",
    ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", '=HYPERLINK("http://x/"&A1)', "-5 ms", "-inf", "--1"],
)
def test_texts_that_a_spreadsheet_would_compute_are_texts(value):
    (row,) = csv.reader(spreadsheet.text([(value, "x")]).splitlines(keepends=True))
    assert row == ["'" + value.replace("\r", "\n"), "x"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-1.5, "-1.5"), (-0.0, "-0.0"), (1e-9, "1e-09"), ("-3", "-3"), ("+1.5e3", "+1.5e3"), ("-.5", "-.5"), (None, ""),
        ("rtt 10ms", "rtt 10ms"), ("a=b", "a=b"), ("a\nb", "a\nb"), ("'=1", "'=1"), ("", ""),
    ],
)  # fmt: skip
def test_numbers_and_other_texts_stay_as_they_are(value, written):
    (row,) = csv.reader(spreadsheet.text([(value, "x")]).splitlines(keepends=True))
    assert row == [written, "x"]


def test_a_figure_escapes_the_names_of_its_columns_too():
    figure = Figure("time", "Time", "<svg></svg>", ("=condition", "ms"), (("-rtt", -1.0), ("@x", None)))
    assert figure.csv == "'=condition,ms\n'-rtt,-1.0\n'@x,\n"
