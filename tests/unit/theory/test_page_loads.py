"""Round trips of a page of many objects."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.page_loads import PROTOCOLS, round_trips


@pytest.mark.parametrize(
    ("objects", "size", "expected"),
    [(1, 1000, [3, 3, 3, 2]), (20, 1000, [22, 6, 4, 3]), (44, 1000, [46, 10, 5, 4]), (100, 1000, [102, 19, 6, 5]),
     (44, 4000, [46, 10, 6, 6]), (44, 6000, [46, 10, 7, 6])],
)  # fmt: skip
def test_pages_over_each_protocol(objects, size, expected):
    assert [round_trips(protocol=name, objects=objects, size=size) for name in PROTOCOLS] == expected


def test_six_connections_help_no_single_object():
    alone, six = list(PROTOCOLS)[:2]
    for objects, expected in ((1, 3), (6, 3), (7, 4), (12, 4), (13, 5)):
        assert round_trips(protocol=six, objects=objects, size=100) == expected
        assert round_trips(protocol=alone, objects=objects, size=100) == 2 + objects


def test_a_large_first_window_saves_flights_over_quic():
    pages = [(20, 1000, 2), (100, 1000, 2), (44, 4000, 3)]
    for objects, size, expected in pages:
        assert round_trips(protocol="HTTP/3", objects=objects, size=size, window=131_054) == expected


@pytest.mark.parametrize(
    ("asked", "says"),
    [({"protocol": "HTTP/4"}, "did you mean"), ({"objects": 0}, "objects is 0"), ({"size": 0}, "size is 0"),
     ({"protocol": "HTTP/1.1", "size": 15_000}, "give objects that fit")],
)  # fmt: skip
def test_what_cannot_be_is_one_line(asked, says):
    with pytest.raises(SlownetError, match=says):
        round_trips(**({"protocol": "HTTP/2", "objects": 1, "size": 1} | asked))
