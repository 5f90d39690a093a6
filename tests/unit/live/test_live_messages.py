"""What comes from a lab and from a page is checked before anything uses it."""

import json
import math

import pytest

from slownet.live import messages, orders
from slownet.live.messages import LINE_BYTES, Lines
from slownet.model.errors import ExperimentError, LabError

METERS = {
    "kind": "meters", "at": 1.5, "hosts": [{"name": "h1", "retransmitted": 0.0}],
    "links": [{"key": "h1-s1", "up": 1.0, "down": 0, "dropped": 0, "queue": 3, "ping_ms": None, "lost": True}],
}  # fmt: skip


def test_lines_come_whole_whatever_the_pieces():
    text = b"".join(messages.line(kind="closed", id=str(number)) for number in range(50))
    for size in (1, 7, 4096):
        lines = Lines()
        found = [each for at in range(0, len(text), size) for each in lines.feed(text[at : at + size])]
        assert [messages.read(each)["id"] for each in found] == [str(number) for number in range(50)]


def test_a_line_without_an_end_is_not_kept_for_ever():
    lines = Lines()
    assert list(lines.feed(b"x" * LINE_BYTES)) == []
    with pytest.raises(LabError, match="a line of more than 1 MB"):
        list(lines.feed(b"x"))


def test_a_reading_of_the_meters_is_taken_as_it_is():
    assert messages.read(json.dumps(METERS).encode()) == METERS


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "metres"}, {"kind": 5}, {"more": 1}, {"at": -1}, {"at": "1"}, {"at": math.inf}, {"links": {}}, {"links": [[]]},
        {"links": [{"key": "h1-s1"}]},
        {"hosts": [{"name": "h1", "retransmitted": None}]}, {"hosts": [{"name": "x" * 65, "retransmitted": 1}]},
    ],
)  # fmt: skip
def test_what_the_own_program_would_not_send_ends_the_lab(change):
    with pytest.raises(LabError, match="an invalid message"):
        messages.read(json.dumps(METERS | change).encode())


@pytest.mark.parametrize("text", [b"", b"null", b"[", b"[" * 100_000, b'{"kind": "shell", "id": "1", "data": NaN}', b"\xff"])
def test_what_is_no_message_ends_the_lab(text):
    with pytest.raises(LabError, match="an invalid message"):
        messages.read(text)


def test_an_order_has_the_fields_of_its_kind():
    order = orders.read('{"do": "connect", "id": "q1", "first": "h1", "second": "s1"}')
    assert (order.do, order.first, order.second) == ("connect", "h1", "s1")


@pytest.mark.parametrize(
    "text",
    [
        "", "5", "[]", "{}", '{"do": "end", "id": "1"}', '{"do": "undo"}', '{"do": "undo", "id": 5}',
        '{"do": "undo", "id": "1", "x": 1}',
        '{"do": "shell", "id": "1", "name": "h1", "rows": 1e9, "columns": 80}',
        '{"do": "add", "id": "1", "kind": "nat", "name": "", "x": 0, "y": 0}',
        '{"do": "set", "id": "1", "key": "a", "named": "", "fields": {"rtt": 5}, "cut": false, "gesture": ""}',
        "[" * 100_000,
        '{"do": "__class__", "id": "1"}',
    ],
)  # fmt: skip
def test_what_a_page_would_not_send_is_refused_in_one_line(text):
    with pytest.raises(ExperimentError, match="not an order of the page"):
        orders.read(text)
