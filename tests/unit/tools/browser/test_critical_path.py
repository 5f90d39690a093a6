"""What the first paint of the captured page waited for, and how it is said."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from slownet.tools.browser import critical_path, loading
from slownet.tools.browser.loading import Load, Request

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def load():
    return loading.read(json.loads((DATA / "several_objects-http2.json").read_text()))


def test_the_path_leads_from_the_document_to_what_blocked_last(load):
    path = critical_path.critical_path(load)
    assert [each.url.rpartition("/")[2] for each in path] == ["page.html", "first.js"]


def test_it_is_said_with_round_trips_that_are_connections(load):
    said = critical_path.described(load, 40.0)
    assert said.startswith("The first paint, at 191 ms, waited for page.html (")
    assert "86 ms to connect" in said
    assert "→ first.js (" in said
    assert said.endswith("2.1 of 4.8 round trips before it are connections.")


def test_a_connection_to_another_host_on_the_path_is_what_preconnect_saves():
    document = Request("http://a/", "GET", "Document", 0.0, end=200.0, phases={"connect": (0, 100), "request": (100, 200)})
    style = Request(
        "http://cdn/s.css", "GET", "Stylesheet", 200.0, end=500.0, initiator="http://a/", blocks=True,
        phases={"connect": (200, 300), "tls": (300, 400), "request": (400, 500)},
    )  # fmt: skip
    image = Request("http://a/i.png", "GET", "Image", 200.0, end=900.0, initiator="http://a/")
    load = Load("http://a/", 0.0, (document, style, image), {"first_paint": 520.0, "load": 900.0, "dom_ready": 510.0})
    assert critical_path.critical_path(load) == [document, style]
    assert critical_path.preconnect_ms(load) == 200
    assert critical_path.described(load, 100.0).endswith(
        "3.0 of 5.2 round trips before it are connections: preconnect saves 2."
    )  # fmt: skip
    alone = replace(load, requests=(document, image))
    assert critical_path.critical_path(alone) == [document]
    assert critical_path.described(replace(alone, milestones={"load": 1.0, "dom_ready": 1.0})) == "Nothing was painted."
