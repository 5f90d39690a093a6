"""The figures of the captured load of a page."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from slownet.report import waterfall
from slownet.tools.browser import loading
from slownet.tools.browser.browse import Browse

DATA = Path(__file__).parents[1] / "tools" / "browser" / "data"


@pytest.fixture(scope="module")
def load():
    return loading.read(json.loads((DATA / "several_objects-http2.json").read_text()))


def test_a_row_for_each_request_with_its_phases(load):
    figure = waterfall.waterfall(load, "http 2", "waterfall-1", 40.0)
    ElementTree.fromstring(figure.svg)
    assert len(re.findall(r"data-says=\"[^\"]+, (?:Document|Stylesheet|Script|Image|Fetch), h2: from", figure.svg)) == 8
    assert [row[0] for row in figure.rows][:2] == ["page.html", "style.css"]
    assert [row[-1] for row in figure.rows][:4] == ["", "yes", "yes", ""]
    assert figure.title == "Requests of the page over time, http 2"
    assert "waited for page.html" in figure.note
    assert all(text in figure.svg for text in ("first paint 191", "largest paint 212", "load 273"))


def test_what_the_first_paint_waited_for_is_bold(load):
    svg = waterfall.waterfall(load, "", "w").svg
    assert re.findall(r'font-weight="bold">([^<]+)<', svg) == ["page.html", "first.js"]


def test_the_queue_is_on_the_axis_of_the_load(load):
    watched = replace(load, watched=(-20.0, 800.0))
    queue = {"seconds": [0.0, 0.12, 0.2], "queued_bytes": {"s-eth1": [0, 9000, 0], "s-eth2": [0, 0, 0]}, "in_flight": []}
    svg = waterfall.waterfall(watched, "", "w", queue=queue).svg
    assert "queue of s-eth1: 9 kB at most" in svg
    ElementTree.fromstring(svg)
    assert "queue of" not in waterfall.waterfall(load, "", "w", queue=queue).svg  # when it was read is not known


def test_many_requests_are_cut_and_said(load):
    many = replace(load, requests=[load.requests[0]] + [load.requests[1]] * 100)
    assert waterfall.waterfall(many, "", "w").note.endswith("41 more requests are not drawn.")


def test_a_filmstrip_has_the_last_picture(load):
    figure = waterfall.filmstrip(load, "", "filmstrip-1", 40.0)
    ElementTree.fromstring(figure.svg)
    assert figure.svg.count("<image ") == len(figure.rows) <= waterfall.MOST_PICTURES + 1
    assert figure.rows[-1][0] == load.frames[-1][0]
    assert "7.8 RTT" in figure.svg


def test_cold_and_warm_are_on_one_axis_and_compared(load):
    first, *rest = load.requests
    times = {"first_byte": 40.0, "load": 60.0, "dom_ready": 50.0, "first_paint": 55.0}
    warm = replace(load, milestones=times, requests=[replace(each, end=50.0, phases={}, received_bytes=0) for each in (first,)]
                   + [replace(each, cached=True, end=10.0, phases={}, received_bytes=0) for each in rest])  # fmt: skip
    record = Browse(("chromium",), "", (load,), cache="both", warm=(warm,))
    cold_figure, warm_figure, strip = waterfall._of_a_cell(record, "rtt 40ms", 1, 40.0, {})
    assert [each.name for each in (cold_figure, warm_figure, strip)] == ["waterfall-1", "waterfall-1-again", "filmstrip-1"]
    assert cold_figure.title.endswith("rtt 40ms, cold cache")
    assert warm_figure.note.endswith(
        "With a warm cache 7 of 8 requests need no server; 0 instead of 41.2 kB come over 0 instead of 1 new connections, and "
        "the load takes 60 instead of 273 ms."
    )
    ticks = [re.findall(r'text-anchor="middle">(\d+)<', each.svg) for each in (cold_figure, warm_figure)]
    assert ticks[0] == ticks[1]
