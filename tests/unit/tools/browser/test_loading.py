"""What Chromium said of a page of several objects over HTTP/2 and HTTP/3, at 40 ms of round trip and 5 Mbit/s."""

import json
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.browser import browse as browse_module
from slownet.tools.browser import loading
from slownet.tools.browser.browse import browse, parse, speed_index

DATA = Path(__file__).parent / "data"


def text(http):
    return (DATA / f"several_objects-http{http}.json").read_text()


@pytest.fixture(scope="module")
def load():
    return loading.read(json.loads(text("2")))


def test_requests_are_those_of_the_page_in_order(load):
    names = [each.url.rpartition("/")[2] for each in load.requests]
    assert names == [
        "page.html", "style.css", "first.js", "one.svg", "two.svg", "missing.svg", "late.js", "data.json",
    ]  # fmt: skip
    assert [each.status for each in load.requests] == [200, 200, 200, 200, 200, 404, 200, 200]
    assert {each.protocol for each in load.requests} == {"h2"}


def test_what_blocks_the_first_paint_is_known(load):
    assert [each.url.rpartition("/")[2] for each in load.requests if each.blocks] == ["style.css", "first.js"]


def test_phases_follow_each_other_from_the_handshake_to_the_last_byte(load):
    phases = load.document.phases
    assert list(phases) == ["connect", "tls", "request", "download"]
    assert phases["connect"][1] - phases["connect"][0] == pytest.approx(40, abs=1)
    assert phases["connect"][1] <= phases["tls"][0]
    assert load.milestones["first_byte"] == phases["request"][1] == pytest.approx(129.1, abs=0.1)
    assert load.connections == 1
    assert [each.connects for each in load.requests[1:]] == [False] * 7


def test_a_request_names_what_asked_for_it(load):
    by_name = {each.url.rpartition("/")[2]: each.initiator.rpartition("/")[2] for each in load.requests}
    assert by_name["style.css"] == "page.html"
    assert by_name["data.json"] == "late.js"
    assert by_name["page.html"] == ""


def test_milestones_are_in_the_order_of_a_load(load):
    times = load.milestones
    assert times["first_byte"] < times["first_paint"] < times["dom_ready"] <= times["load"]
    assert times["first_paint"] == pytest.approx(191.1, abs=0.1)
    assert times["largest_paint"] == 212


def test_errors_have_file_and_line(load):
    assert load.errors[-1] == "ReferenceError: undefinedFunction is not defined, https://10.0.0.2/late.js:2:1"
    assert "404" in load.errors[0]


def test_bytes_and_requests_by_kind_and_protocol(load):
    kinds = load.by("kind")
    assert kinds["Image"][0] == 3
    assert load.by("protocol") == {"h2": (8, 41215)}
    assert sum(size for _, size in kinds.values()) == load.received_bytes == 41215


def test_over_quic_a_connection_is_one_with_tls():
    found = loading.read(json.loads(text("3")))
    assert found.connections == 1
    assert "connect" not in found.document.phases
    assert {each.protocol for each in found.requests} == {"h3"}


def test_the_record_has_metrics_for_claims():
    metrics = parse(text("2")).metrics()
    assert metrics["load_ms"]["values"] == [pytest.approx(273.5, abs=0.1)]
    assert metrics["largest_paint_ms"]["step"] == 4
    assert metrics["first_paint_ms"]["waits"] == metrics["largest_paint_ms"]["waits"] == pytest.approx(16.667, abs=0.001)
    assert metrics["requests"]["mean"] == 8
    assert metrics["connections"]["mean"] == 1
    assert "speed_index_ms" in metrics
    assert "dns_ms" not in metrics  # an address needs none
    facts = parse(text("2")).facts()
    assert facts["by_protocol"] == {"h2": (8, 41215)}
    assert facts["browser"].startswith("Chrome/")


def test_warm_loads_beside_cold_ones_have_metrics_of_their_own():
    cold = json.loads(text("2"))
    both = "\n".join(json.dumps(each) for each in (cold, cold | {"again": True}))
    metrics = parse(both, cache="both").metrics()
    assert next(iter(metrics)) == "load_ms"
    assert metrics["load_ms"]["n"] == 1
    assert metrics["warm_load_ms"]["values"] == metrics["load_ms"]["values"]
    assert metrics["warm_requests"]["mean"] == 8
    with pytest.raises(ToolError, match="0 loads with a cold cache and 1 with a warm one"):
        parse(json.dumps(cold | {"again": True}))


def test_a_page_that_is_an_error_is_not_measured():
    heard = json.loads(text("2"))
    browse_module._confirm(parse(json.dumps(heard)), "2", "host 'client'")
    for each in heard["events"]:
        if each["method"] == "Network.responseReceived" and each["params"]["type"] == "Document":
            each["params"]["response"]["status"] = 404
    with pytest.raises(ToolError, match=r"the page's own answer is an error, status 404, host 'client': name a page"):
        browse_module._confirm(parse(json.dumps(heard)), "2", "host 'client'")


def test_unknown_caches_and_windows_name_the_known_ones():
    with pytest.raises(ToolError, match="no cache 'hot', in browse: write one of cold, warm, both"):
        browse(None, "http://a/", cache="hot")
    with pytest.raises(ToolError, match="no window 'open', in browse: write one of private, ordinary"):
        browse(None, "http://a/", window="open")


def test_speed_index_is_the_area_above_completeness():
    frames = [{"s": 10.0, "complete": 0.0}, {"s": 10.1, "complete": 0.5}, {"s": 10.3, "complete": 1.0}]
    assert speed_index(frames, 10.0) == 200.0
    assert speed_index(frames, 9.9) == 300.0
    assert speed_index([{"s": 10.0}], 10.0) is None
    assert speed_index([], 10.0) is None


@pytest.mark.parametrize("damaged", ["", "{", "{}", '{"events": [], "url": "http://a/", "loader": "1", "vitals": {}}'])
def test_damaged_output_is_an_error_in_one_line(damaged):
    with pytest.raises(ToolError, match="the browser"):
        parse(damaged)


def test_a_har_has_what_viewers_read(load):
    log = browse_module.archive([load])["log"]
    assert (log["version"], len(log["pages"]), len(log["entries"])) == ("1.2", 1, 8)
    first = log["entries"][0]
    assert first["request"]["url"] == "https://10.0.0.2/page.html"
    assert first["response"]["status"] == 200
    timings = first["timings"]
    assert timings["connect"] > timings["ssl"] > 40  # it includes that
    assert first["time"] == pytest.approx(load.document.end - load.document.start, abs=0.1)
    assert log["pages"][0]["pageTimings"]["onLoad"] == load.milestones["load"]
    assert json.loads(json.dumps(log)) == log
    for entry in log["entries"]:
        assert set(entry["timings"]) == {"blocked", "dns", "connect", "ssl", "send", "wait", "receive"}
        assert entry["startedDateTime"].endswith("Z")
