"""The record of `slownet.reproductions.unary_calls`."""

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions.unary_calls import calls, parse

TEXT = '{"call": [660000000, 440000000, 220000000, 220500000]}\n'


def test_the_first_calls_are_left_out():
    found = parse(TEXT, skipped=2)
    assert found.times_ms == (660, 440, 220, 220.5)
    assert found.metrics()["call_ms"]["values"] == [220, 220.5]
    assert parse(TEXT).metrics()["call_ms"]["n"] == 4


@pytest.mark.parametrize("text", ["", "{}", '{"call": [1, 2, 3, 4]}', '{"call": "x"}'])
def test_an_output_that_is_not_understood(text):
    with pytest.raises(ToolError):
        parse(text, skipped=4)


def test_how_often_and_how_large(canned):
    host = canned(TEXT)
    assert calls(host, "10.0.0.2", size=30_000, every_s=0.5, count=2, skipped=2).metrics()["call_ms"]["n"] == 2
    assert host.argv[0][-5:] == ["ask", "10.0.0.2", "30000", "4", "0.5"]
