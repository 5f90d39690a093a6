"""The picture of a field measurement: the parts of each request add up to its time."""

import re
from itertools import pairwise

import pytest

from slownet.comparison.field_page import requests_figure
from slownet.comparison.record import Field
from slownet.report.chart import COLOURS
from slownet.tools.web.request import Page


def test_the_parts_of_a_request_stand_on_each_other():
    pages = tuple(Page(float(at), 20.0, 40.0, 25.0, 90.0 + at, 200, "OK", None, 1000) for at in range(1, 4))
    figure = requests_figure(Field({"url": "https://shop.example/"}, pages))
    assert figure.head == ("request", "connection, ms", "TLS, ms", "to the first byte, ms", "body, ms")
    for (_, *parts), page in zip(figure.rows, pages, strict=True):
        assert sum(parts) == pytest.approx(page.total_ms)
    drawn = re.findall(r'stroke="var\(--(\w+)\)" d="M([\d.]+) ([-\d.]+)L[\d.]+ ([-\d.]+)"', figure.svg)
    by_request = {}
    for colour, x, bottom, top in drawn:
        by_request.setdefault(x, []).append((colour, float(bottom), float(top)))
    assert len(by_request) == len(pages)
    for parts in by_request.values():
        assert [colour for colour, _, _ in parts] == list(COLOURS)
        assert all(after[1] == pytest.approx(before[2]) for before, after in pairwise(parts))
