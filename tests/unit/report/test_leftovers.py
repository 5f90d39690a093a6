"""Leftovers that no page or table of an experiment may have: keys for words, wrong plurals, noise where the CPU is free."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console
from test_answers_of_experiments import RUNS, captured

from slownet.report import table
from slownet.report.html_page import write_page
from slownet.report.view import view

LEFT = {
    "one of several": re.compile(r"\b1 more (notes|cells|claims|samples)\b"),
    "nothing, on a line of its own": re.compile(r"^\s*none\.?\s*$", re.IGNORECASE),
    "a key in place of words": re.compile(
        r"(?<![\w.\"'`=<])(wall_s|[a-z]+(_[a-z]+)*_(ms|per_s|per_second|mbit|kbit|percent))(?![\w\"'`(=<])"
    ),
    "outliers, where the CPU is free": re.compile(r"\boutliers?\b"),
    "a bent line, where the CPU is free": re.compile(r"deviates? significantly"),
    "a value that is not there": re.compile(r"\b(None|nan|NaN)\b"),
    "a time below 0": re.compile(r"(?<![\w.])-\d[\d.,]* to [\d.,]+ (ms|s|us)\b"),
}
ENDS = ("p", "li", "td", "th", "h1", "h2", "h3", "div", "tr", "summary", "dt", "dd", "figcaption", "section", "text", "title")


class Words(HTMLParser):
    """The text that a page shows, a line for each of its blocks."""

    def __init__(self):
        super().__init__()
        self.lines, self.hidden = [""], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("style", "script", "code", "pre")
        if tag in ENDS:
            self.lines.append("")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "script", "code", "pre")
        if tag in ENDS:
            self.lines.append("")

    def handle_data(self, data):
        if not self.hidden:
            self.lines[-1] += " ".join(data.split()) + " "


def run_of(name):
    """A captured run, whose claims have the sentences that were kept of them."""
    run = captured(name)
    return replace(run, claims=tuple(replace(each, kind="") for each in run.claims))


def printed(run):
    console = Console(width=80, file=io.StringIO())
    console.print(table.show(run))
    return console.file.getvalue().splitlines()


def paged(run, folder):
    words = Words()
    words.feed(write_page(folder / "report.html", [view(run)]).read_text())
    return [each.strip() for each in words.lines if each.strip()]


@pytest.mark.parametrize("name", sorted(RUNS))
def test_nothing_is_left_over(name, tmp_path):
    run = run_of(name)
    stated = " ".join(each.name for each in run.claims)
    found = [
        (what, line)
        for line in (*printed(run), *paged(run, tmp_path))
        for what, left in LEFT.items()
        for match in left.finditer(line)
        if match.group() not in stated
    ]
    assert found == []


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_table_fits_80_columns(name):
    assert [each for each in printed(run_of(name)) if len(each.rstrip()) > 80] == []


def test_the_text_itself_is_tried():
    """The patterns match the leftovers that people met."""
    lines = ("1 more notes", "none.", "4 outliers of time_per_request_ms", "wall_s", "-11.39 to 24.24 ms", "is None ms")
    assert all(any(left.search(each) for left in LEFT.values()) for each in lines)
