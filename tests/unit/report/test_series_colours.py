"""One series has one colour in all figures of a page, and no series that of published numbers where the page has some."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_answers_of_experiments import RUNS, captured

from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.report import series
from slownet.report.html_page import page_figures
from slownet.report.view import view

ENTRY = re.compile(r'<g transform="translate\([^)]*\)">((?:(?!<text).)*)<text x="22" y="4">([^<]+)</text></g>')
"""An entry of a legend."""
IPERF = Path(__file__).parents[1] / "tools/data/iperf3-cubic.txt"


def colours(figures):
    """Return the colours of each series of some figures, by its name in their legends, without what follows a colon."""
    found = {}
    for each in figures:
        for drawn, name in ENTRY.findall(each.svg):
            found.setdefault(name.partition(":")[0], set()).add(frozenset(re.findall(r"--(\w+)\)", drawn)))
    return found


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_series_has_one_colour_on_the_page_of_an_experiment(name):
    assert {
        series: seen for series, seen in colours(f for _, f in page_figures([view(captured(name))])).items() if len(seen) > 1
    } == {}


def measured(folder, *labels, published=None):
    (folder / "raw").mkdir()
    (folder / "raw/1-iperf3.txt").write_text(f"$ iperf3\n{IPERF.read_text()}")
    cells = [Cell(label, label, ({"status": "ok", "raw": ["raw/1-iperf3.txt"]},), {}) for label in labels]
    return RunData(folder, "x", {"published": published} if published else {}, tuple(cells))


def test_a_cell_keeps_its_colour_where_another_panel_lacks_one(tmp_path):
    labels = [{"cc": cc, "rate": rate} for rate in ("1Mbit", "9Mbit") for cc in ("cubic", "bbr", "reno")]
    run = measured(tmp_path, *labels[:3], *labels[4:])  # no cubic at 9 Mbit
    found = colours(series.of_run(run))
    assert len(found) == 3
    assert {name: len(each) for name, each in found.items()} == dict.fromkeys(found, 1)
    assert len(set.union(*map(set, found.values()))) == 3


def test_no_cell_has_the_colour_of_published_numbers_beside_them(tmp_path):
    labels = [{"cc": cc} for cc in ("cubic", "bbr", "reno")]
    run = measured(tmp_path, *labels)
    assert frozenset({"published"}) in set.union(*colours(series.of_run(run)).values())
    beside = replace(run, facts={"published": {"rows": []} | {"source": "an article"}})
    assert frozenset({"published"}) not in set.union(*colours(series.of_run(beside)).values())
