"""The record of `slownet.reproductions.stores`."""

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions.stores import parse, query_cost

TEXT = '{"connect": [5000000, 207000000, 7000000], "query": [1000000, 1000000], "ten_rows": [2000000]}\n'


def test_each_way_is_a_metric():
    found = parse(TEXT, system="redis")
    assert found.times_ms["connect"] == (5.0, 207.0, 7.0)
    assert {name: each["mean"] for name, each in found.metrics().items()} == {"connect_ms": 6, "query_ms": 1, "ten_rows_ms": 2}
    assert found.metrics()["connect_ms"]["values"] == [5, 7]  # without the slowest one
    assert found.facts() == {"system": "redis"}


@pytest.mark.parametrize("text", ["", "{}", '{"connect": [], "query": []}', '{"connect": [1], "query": "x"}'])
def test_an_output_that_is_not_understood(text):
    with pytest.raises(ToolError):
        parse(text)


def test_an_unknown_system_names_the_nearest(canned):
    with pytest.raises(ToolError, match=r"unknown system 'postgres': did you mean 'postgresql'\?"):
        query_cost(canned(TEXT), "10.0.0.2", system="postgres")
    host = canned(TEXT)
    assert query_cost(host, "10.0.0.2", system="redis", count=2).system == "redis"
    assert host.argv[0][-4:] == ["ask", "redis", "10.0.0.2", "2"]
