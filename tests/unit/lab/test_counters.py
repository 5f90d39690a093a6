"""Counters and their differences."""

from slownet.lab.run.counters import Counters, Flow, record, total

BEFORE = Flow(100, 9000, 5, 2, 1, 7, 700, {"netem 51:": Flow(100, 9000, 5), "tbf 53:": Flow(60, 5000, 1, 9)})
AFTER = Flow(
    150, 14000, 8, 4, 1, 3, 300, {"netem 51:": Flow(150, 14000, 8), "tbf 53:": Flow(20, 1000, 0, 3), "pie 65:": Flow(1)}
)


def test_the_difference_counts_what_came_since_then_and_what_waits_now():
    since = AFTER - BEFORE
    assert (since.sent_packets, since.sent_bytes, since.dropped, since.overlimits, since.requeues) == (50, 5000, 3, 2, 0)
    assert (since.backlog_packets, since.backlog_bytes) == (3, 300)


def test_a_qdisc_that_was_replaced_has_begun_anew():
    since = (AFTER - BEFORE).qdiscs
    assert since == {"netem 51:": Flow(50, 5000, 3), "tbf 53:": Flow(20, 1000, 0, 3), "pie 65:": Flow(1)}


def test_a_link_has_two_directions():
    link = Counters(up=AFTER, down=BEFORE) - Counters(up=BEFORE, down=BEFORE)
    assert link.up == AFTER - BEFORE
    assert (link.down.sent_packets, link.down.backlog_packets) == (0, 7)
    assert link.reversed == Counters(link.down, link.up)


def test_a_record_has_the_numbers_of_each_link():
    found = record({"a-b": Counters(BEFORE, BEFORE)}, {"a-b": Counters(AFTER, BEFORE), "a-c": Counters(AFTER, AFTER)})
    assert list(found) == ["a-b"]  # a new link has no difference
    assert found["a-b"]["up"] == {
        "sent_packets": 50, "sent_bytes": 5000, "dropped": 3, "overlimits": 2, "requeues": 0, "backlog_packets": 3,
        "backlog_bytes": 300,
    }  # fmt: skip
    assert found["a-b"]["down"]["sent_packets"] == 0


def test_a_cell_sums_its_samples():
    one, other = ({"a-b": {"up": Flow(n, 10 * n, 1, backlog_packets=n).to_json()}} for n in (5, 3))
    assert total([one, {}, other]) == {"a-b": {"up": Flow(8, 80, 2, backlog_packets=5).to_json()}}
    assert total([{}]) == {}
