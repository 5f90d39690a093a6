"""Tests of several runs side by side."""

import re
from pathlib import Path

from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.report.html_page import page_figures, render_page
from slownet.report.overlay_figure import names, overlay_figure
from slownet.report.view import view
from slownet.theory.stats import Summary

TIME = "time_per_request_ms"


def around(value):
    return Summary(value, value - 1, value + 1, 9)


def run(directory, k, experiment="client_delay", metric=TIME, condition="rtt"):
    cells = tuple(
        Cell({condition: f"{d}ms"}, {f"{condition}_ms": float(d)}, ({"status": "ok"},), {metric: around(10 + k * d)})
        for d in (0, 10, 40)
    )  # fmt: skip
    return view(RunData(Path("runs") / directory, experiment, {"question": f"How slow is {directory}?"}, cells))


BEFORE, AFTER = run("a-client_delay", 4), run("b-client_delay", 5)


def test_a_run_is_named_by_its_experiment_or_by_its_directory():
    assert names([BEFORE, AFTER, run("c-other", 1, "other")]) == ["a-client_delay", "b-client_delay", "other"]


def test_runs_of_the_same_metric_share_a_picture_and_a_table():
    found = overlay_figure([BEFORE, AFTER])
    assert found.rows[:3] == (
        ("rtt 0ms", "a-client_delay", 10.0, 9.0, 11.0),
        ("rtt 0ms", "b-client_delay", 10.0, 9.0, 11.0),
        ("rtt 10ms", "a-client_delay", 50.0, 49.0, 51.0),
    )
    assert "b-client_delay, rtt 40ms: 210.0 (209.0 to 211.0) ms per request" in found.svg
    assert overlay_figure([BEFORE]) is None
    assert overlay_figure([BEFORE, run("c", 1, metric="commit_ms")]) is None


def test_runs_along_different_conditions_are_dots():
    found = overlay_figure([BEFORE, run("c", 5, "other", condition="delay_up")])
    assert len(re.findall('class="mark"', found.svg)) == 6


def test_the_page_has_each_answer_at_the_top_and_one_first_heading():
    page = render_page([BEFORE, AFTER])
    assert page.count("<h1") == 1
    assert "2 runs side by side" in page
    top = page.partition("How slow is a-client_delay?")[0]
    assert "A request costs 5.0" in top
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert all(f'id="{link}"' in page for link in re.findall(r'href="#([^"]*)"', page))


def test_each_figure_of_a_page_has_a_name_of_its_own():
    found = [name for name, _ in page_figures([BEFORE, AFTER])]
    assert found == ["together", "a-client_delay-time", "b-client_delay-time"]
