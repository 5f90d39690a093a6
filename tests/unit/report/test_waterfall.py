"""The figures of the captured load of a page."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from slownet.report import waterfall
from slownet.tools.browser import loading

DATA = Path(__file__).parents[1] / "browser" / "data"


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
