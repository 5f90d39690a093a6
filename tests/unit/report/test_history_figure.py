"""A history as a picture: what is shaded, drawn and marked."""

import re
from xml.etree import ElementTree

from slownet import Faults, History, Violation
from slownet.judge.histories.history import Event
from slownet.report.hunt_page import history_figure

SECOND = 10**9
EVENTS = (
    Event(0, 0, "invoke", "put", 1),
    Event(SECOND // 2, 0, "ok", "put", 1),
    Event(SECOND, "faults", "info", "kill", "db"),
    Event(SECOND, 0, "invoke", "put", 2),
    Event(SECOND + 5, 0, "fail", "put", 2, "<refused>"),
    Event(2 * SECOND, 1, "invoke", "read", None),
)
FAULTS = "kill db at 1 s; cut a from b at 1.5 s; start db at 2 s; cut c from b at 2 s; heal at 3 s; pause db at 3 s"


def drawn(violations=()):
    return history_figure(History(EVENTS), Faults.parse(FAULTS), violations, "What clients saw", "history-1")


def test_what_is_broken_is_shaded_from_its_begin_to_its_end():
    ElementTree.fromstring(drawn().svg)
    shades = re.findall(r'data-says="([^"]*? to [^"]* s)"><rect', drawn().svg)
    assert shades == ["kill db, 1 to 2 s", "cut a from b, 1.5 to 3 s", "cut c from b, 2 to 3 s", "pause db, 3 to 3 s"]


def test_a_disk_is_beside_its_service_a_reset_a_moment_and_an_mtu_lasts():
    text = (
        "crash db at 1 s; fill-disk db at 1.5 s; start db at 2 s; reset a from b at 2 s; mtu a 1280 at 2 s; "
        "repair-disk db at 3 s; mtu a 1500 at 4 s"
    )
    svg = history_figure(History(EVENTS), Faults.parse(text), (), "What clients saw", "history-1").svg
    assert re.findall(r'data-says="([^"]*? to [^"]* s)"><rect', svg) == [
        "crash db, 1 to 2 s", "reset a from b, 2 to 2 s", "fill-disk db, 1.5 to 3 s", "mtu a 1280, 2 to 4 s",
        "mtu a 1500, 4 to 4 s",
    ]  # fmt: skip


def test_operations_are_bars_with_their_outcome_and_rows_of_a_table():
    text = drawn().svg
    assert "put 1 at 0.000 s: acknowledged, ended at 0.500 s" in text
    assert "put 2 at 1.000 s: failed, ended at 1.000 s, &lt;refused&gt;" in text
    assert "read at 2.000 s: unknown, it never ended" in text
    assert re.findall(r">(client \d)</text>", text) == ["client 0", "client 1"]
    assert drawn().rows == (
        ("client 0", "put", "1", 0.0, 0.5, "acknowledged"),
        ("client 0", "put", "2", 1.0, 1.000000005, "failed"),
        ("client 1", "read", "none", 2.0, "", "unknown"),
    )
    assert drawn().note.startswith(FAULTS)


def test_the_first_violation_is_marked():
    found = [Violation("it holds", "late", 2 * SECOND), Violation("it holds", "early", SECOND), Violation("it holds", "never")]
    assert ">violation, 1 s</text>" in drawn(found).svg
    assert 'data-says="early (it holds)"' in drawn(found).svg
    assert "violation" not in drawn(found[2:]).svg
