"""The record of `slownet.tools.fetch`, with its program and a real server on this machine."""

import subprocess

import pytest
from pages import BODY, serving

from slownet.model.errors import ToolError
from slownet.tools.fetch import PARTS, fetch, parse


class Here:
    """This machine as a host."""

    name = "here"

    def IP(self):  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        return subprocess.Popen(argv, start_new_session=True, **options)


@pytest.fixture
def web():
    yield from serving()


def test_the_parts_make_up_the_time(web):
    page = fetch(Here(), f"{web.url}/shop", requests=4)
    assert [path for path, _, _ in web.seen] == ["/shop"] * 4
    metrics = page.metrics()
    parts = sum(metrics[name]["mean"] for name in PARTS if name in metrics)
    assert parts == pytest.approx(metrics["time_per_request_ms"]["mean"])
    assert metrics["name_ms"]["n"] == 1
    assert "tls_ms" not in metrics
    assert page.facts() == {"document_length": len(BODY), "http": "1.1", "tls": None}


def test_a_page_that_does_not_come_is_one_line(web):
    with pytest.raises(ToolError, match=r"/gone answers 404 Not Found: give the URL of a page that exists"):
        fetch(Here(), f"{web.url}/gone")
    web.seen.clear()
    with pytest.raises(ToolError, match=r"/tired answers 503 Service Unavailable, after 7 of 9 requests"):
        fetch(Here(), f"{web.url}/tired", requests=9)


@pytest.mark.parametrize("text", ["", "{}", '{"name_ms": 1, "pages": []}', '{"name_ms": 1, "pages": [{}]}'])
def test_an_output_that_is_not_understood(text):
    with pytest.raises(ToolError) as caught:
        parse(text)
    assert caught.value.raw == text
