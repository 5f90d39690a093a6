"""The table of a condition's fields: every field is read, given to tc, read back, put into words and recorded."""

import dataclasses
import re

import pytest

from slownet.judge.records.condition_columns import condition as columns
from slownet.links.conditions.link import ATTRIBUTES, ROWS, Condition
from slownet.links.conditions.oneway import OneWay
from slownet.links.conditions.slot import Slot
from slownet.links.ip import IPV6
from slownet.model.errors import SlownetError
from slownet.net.plan import layers
from slownet.net.qdisc import deviations
from slownet.net.verify import Span, span

SHAKEN = {"delay": "9ms", "jitter": "1ms"}
LIMITED = {"rate": "2Mbit"}
EXAMPLES = {  # for each word of the table: other fields that it needs, and two values
    "delay": ({}, "5ms", "6ms"), "rtt": ({}, "5ms", "6ms"), "delay_up": ({}, "5ms", "6ms"), "delay_down": ({}, "5ms", "6ms"),
    "jitter": ({"delay": "9ms"}, "1ms", "2ms"), "jitter_up": ({"delay": "9ms"}, "1ms", "2ms"),
    "jitter_down": ({"delay": "9ms"}, "1ms", "2ms"), "correlation": (SHAKEN, "25%", "50%"),
    "distribution": (SHAKEN, "normal", "pareto"), "loss": ({}, "1%", "2% in bursts of 8"), "loss_up": ({}, "1%", "2%"),
    "loss_down": ({}, "1%", "2%"), "duplicate": ({}, "1%", "2%"), "reorder": ({"delay": "5ms"}, "1%", "2%"),
    "gap": ({"delay": "5ms", "reorder": "1%"}, 2, 3), "corrupt": ({}, "1%", "2%"), "slot": ({}, "5ms", "5ms 20 packets"),
    "rate": ({}, "2Mbit", "3Mbit"), "rate_up": ({}, "2Mbit", "3Mbit"), "rate_down": ({}, "2Mbit", "3Mbit"),
    "overhead": (LIMITED, "38B", "39B"), "burst": (LIMITED, "3kB", "4kB"), "queue": (LIMITED, "50 packets", "60 packets"),
    "aqm": (LIMITED, "fq_codel", "pie"), "ecn": (LIMITED | {"aqm": "red"}, True, False), "mtu": ({}, 1400, 1300),
    "offloads": ({}, True, False), "seed": ({"loss": "1%"}, 7, 9),
}  # fmt: skip
OF_THE_DEVICE = ("mtu", "offloads")
NOT_SHOWN = ("distribution",)  # tc does not show which table netem uses

cases = pytest.mark.parametrize(("word", "rest", "one", "other"), [(word, *each) for word, each in EXAMPLES.items()])


def both(word, rest, one, other):
    return Condition.parse(**rest, **{word: one}), Condition.parse(**rest, **{word: other})


def kernel(planned):
    """Return the output of `tc -json qdisc show` when the kernel did what it should."""
    shown = []
    for layer in planned:
        options = {}
        for name, expected in layer.options.items():
            outer, _, inner = name.rpartition(".")
            (options.setdefault(outer, {}) if outer else options)[inner] = expected.value
        place = {"root": True} if layer.parent == "root" else {"parent": layer.parent}
        shown.append({"kind": layer.kind, "handle": layer.handle, "options": options, **place})
    return shown


def test_every_word_has_an_example_here_and_a_place_in_the_documentation():
    words = [word.name for row in ROWS for word in row.stated]
    assert sorted(words) == sorted(EXAMPLES)
    assert set(words) - set(re.findall(r"\w+", Condition.parse.__doc__)) == set()


@cases
def test_conditions_that_differ_in_a_field_differ_in_their_words(word, rest, one, other):
    texts = [str(each) for each in (Condition.parse(**rest), *both(word, rest, one, other))]
    assert len(set(texts)) == (2 if word == "offloads" else 3)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("gemodel 1% 10%", "gemodel 1% 10% 50% 5%", "loses 9.091 % in bursts of 10 (bad 50 %, good 5 %)"),
        (
            "state 1% 30%",
            "state 2% 60%",
            "loses 3.226 % by a 4-state chain (p13 2 %, p31 60 %, p32 0 %, p23 100 %, p14 0 %)",
        ),
    ],
)
def test_losses_of_one_mean_differ_in_their_words(one, other, said):
    conditions = Condition.parse(loss=one), Condition.parse(loss=other)
    assert conditions[0].loss.mean == pytest.approx(conditions[1].loss.mean)
    assert str(conditions[0]) != str(conditions[1]) == said


@cases
def test_tc_is_told_each_field_and_must_show_it(word, rest, one, other):
    first, second = ([*layers(each, "up"), *layers(each, "down")] for each in both(word, rest, one, other))
    lines = [[layer.command("eth0") for layer in each] for each in (first, second)]
    assert (lines[0] == lines[1]) == (word in OF_THE_DEVICE)
    for way in ("up", "down"):
        told = layers(both(word, rest, one, other)[0], way)
        assert list(deviations(told, kernel(told))) == []
    found = [
        list(deviations(layers(now, way), kernel(layers(before, way))))
        for before, now in [both(word, rest, one, other)]
        for way in ("up", "down")
    ]
    assert any(found) != (word in (*OF_THE_DEVICE, *NOT_SHOWN))


@cases
def test_what_is_taken_back_is_gone_and_two_ends_see_one_link(word, rest, one, other):
    condition, _ = both(word, rest, one, other)
    assert condition.but(**dict.fromkeys((word, *rest))) == Condition()
    assert condition.reversed.reversed == condition
    assert condition.steady.steady == condition.steady
    assert not condition.steady.chancy


def test_every_attribute_is_of_a_row():
    assert [field.name for field in dataclasses.fields(Condition)] == list(ATTRIBUTES)


@pytest.mark.parametrize(
    ("text", "slot", "said"),
    [
        ("5ms", Slot(0.005, 0.005), "slots every 5 ms"),
        ("2ms 10ms", Slot(0.002, 0.010), "slots every 2 ms to 10 ms"),
        ("5 ms 20 packets", Slot(0.005, 0.005, 20), "slots every 5 ms for 20 packets"),
        ("800us 1ms 1 packet 3kB", Slot(0.0008, 0.001, 1, 3000), "slots every 800 us to 1 ms for 1 packet and 3000 B"),
        (Slot(0.005, 0.005, None, 1500), Slot(0.005, 0.005, None, 1500), "slots every 5 ms for 1500 B"),
    ],
)
def test_slots(text, slot, said):
    condition = Condition.parse(slot=text)
    assert (condition.slot, str(condition)) == (slot, said)
    assert condition.chancy
    assert (condition.random, condition.seedless) == (slot.varies, slot.varies)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"slot": "5"}, "'5' is not a slot: write it like 5ms"),
        ({"slot": "-5ms"}, "'-5ms' is not a slot"),
        ({"slot": "0ms"}, "slot '0ms' needs a time above 0, and its second time no shorter"),
        ({"slot": "5ms 2ms"}, "slot '5ms 2ms' needs a time above 0, and its second time no shorter"),
        ({"slot": "5ms 0 packets"}, "slot '5ms 0 packets' has a limit out of range"),
        ({"slot": "5ms 4GB"}, "slot '5ms 4GB' has a limit out of range"),
        ({"slot": "1ms 5ms", "seed": 3}, "slots of random length with a seed"),
        ({"overhead": "38B"}, "overhead without rate"),
        ({"overhead": "38", "rate": "1Mbit"}, "size '38' has no unit"),
        ({"overhead": "1MB", "rate": "1Mbit"}, "overhead '1MB' is more than 32768 B"),
        ({"overhead": "38B", "rate": "1Mbit", "aqm": "cake"}, "an overhead with cake"),
    ],
)
def test_what_cannot_be_is_one_line(fields, line):
    with pytest.raises(SlownetError) as caught:
        Condition.parse(**fields)
    assert str(caught.value).startswith(line)
    assert len(str(caught.value).splitlines()) == 1


def test_tc_is_told_a_slot_and_an_overhead():
    told = layers(Condition.parse(slot="2ms 10ms 20 packets 3kB"), "up")[0]
    assert told.command("eth0").endswith(" slot 2000000ns 10000000ns packets 20 bytes 3000")
    limited = layers(Condition.parse(rate="2Mbit", queue="30 packets", overhead="38B"), "up")
    assert limited[1].command("eth0").endswith(" limit 30 rate 2000000bit 38")
    bucket = layers(Condition.parse(rate="2Mbit", burst="3kB", overhead="38B"), "up")
    assert " tbf rate 2000000bit overhead 38 burst 3000b " in bucket[1].command("eth0")
    assert "rate 0bit" in layers(Condition.parse(rate_up="2Mbit", overhead="38B"), "down", child=True)[1].command("eth0")


def test_what_a_ping_may_take():
    wait = Condition.parse(delay="10ms", slot="2ms 5ms")
    assert span(OneWay(wait, "up")) == Span(0.010, 0.015)
    # a ping's frame of 98 bytes and an overhead of 27 at 1000 B/s
    found = span(OneWay(Condition.parse(rate="8kbit", overhead="27B"), "down"))
    assert (found.low, found.high, found.loses) == (pytest.approx(0.125), pytest.approx(0.125), False)
    over_ipv6 = span(OneWay(Condition.parse(rate="8kbit", overhead="27B"), "down"), IPV6)
    assert over_ipv6.high - found.high == pytest.approx(8 * 20 / 8000)  # its header is 20 bytes longer
    overtaken = span(OneWay(Condition.parse(delay="10ms", reorder="5%", rate="8kbit"), "up"))
    assert (overtaken.low, overtaken.high) == (pytest.approx(0.098), pytest.approx(0.108))
    assert span(OneWay(Condition.parse(loss_up="1%"), "up")).loses
    assert not span(OneWay(Condition.parse(loss_up="1%"), "down")).loses


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"slot": "10ms"}, {"slot_ms": 10.0}),
        ({"slot": "2ms 10ms"}, {"slot": "2 ms to 10 ms"}),
        ({"slot": "10ms 5 packets"}, {"slot": "10 ms for 5 packets"}),
        ({"slot": "none", "overhead": "38B"}, {"overhead_bytes": 38}),
        ({"jitter_up": "1ms", "gap": "3"}, {"jitter_up_ms": 1.0, "gap": 3}),
    ],
)
def test_records_have_the_unit_in_the_name(cell, expected):
    assert columns(cell) == expected
