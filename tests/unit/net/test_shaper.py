"""The queueing disciplines of a TCLink, and conditions read from those of other programs."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.model.errors import ConditionError
from slownet.net import shaper
from slownet.net.qdisc import deviations
from slownet.net.shaper import TCEnd


def made(shown=(), **parameters):
    return shaper.commands(TCEnd.of(parameters), "h1-eth0", shown)


def structure(**parameters):
    return [(each.parent, each.handle, each.kind) for each in shaper.layers(TCEnd.of(parameters))]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, []),
        ({"delay": "5ms"}, [("root", "10:", "netem")]),
        ({"loss": 1}, [("root", "10:", "netem")]),
        ({"max_queue_size": 5}, [("root", "10:", "netem")]),
        ({"loss": 0}, []),
        ({"bw": 10}, [("root", "5:", "htb")]),
        ({"bw": 10, "delay": "5ms"}, [("root", "5:", "htb"), ("5:1", "10:", "netem")]),
        ({"bw": 10, "use_hfsc": True, "loss": 1}, [("root", "5:", "hfsc"), ("5:1", "10:", "netem")]),
        ({"bw": 10, "use_tbf": True}, [("root", "5:", "tbf")]),
        ({"bw": 10, "enable_red": True}, [("root", "5:", "htb"), ("5:1", "6:", "red")]),
        ({"bw": 10, "enable_ecn": True, "delay": "1ms"}, [("root", "5:", "htb"), ("5:1", "6:", "red"), ("6:", "10:", "netem")]),
    ],
)
def test_kinds_and_handles_are_mininets(parameters, expected):
    assert structure(**parameters) == expected


def test_the_commands_of_a_rate_and_a_delay():
    root, rate, netem = made(bw=10, delay="5ms", max_queue_size=100)
    assert root == "qdisc replace dev h1-eth0 root handle 5: htb default 1"
    assert rate == "class replace dev h1-eth0 parent 5: classid 5:1 htb rate 10000000bit burst 15k"
    assert netem.startswith("qdisc replace dev h1-eth0 parent 5:1 handle 10: netem limit 100 delay 5000000ns 0ns")


def test_an_htb_that_is_there_is_not_replaced_which_would_drop_what_it_holds():
    there = [{"handle": "5:", "kind": "htb"}, {"handle": "10:", "kind": "netem"}]
    assert [line.split()[0] for line in made(there, bw=10, delay="5ms")] == ["class", "qdisc"]


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({"bw": 10, "delay": "5ms"}, 1000),  # as Mininet
        ({"bw": 10, "delay": "5ms", "max_queue_size": 20}, 20),
        ({"bw": 1000, "delay": "100ms"}, 24771),  # 8257 frames in flight: Mininet's 1000 would carry 121 Mbit/s
        ({"delay": "5ms"}, None),
    ],
)
def test_a_queue_is_as_long_as_mininets_and_never_too_short_for_what_is_in_flight(parameters, limit):
    assert TCEnd.of(parameters).limit == limit


def test_what_is_stated_is_kept_apart_from_what_mininet_adds():
    end = TCEnd.of({"bw": 10, "delay": "5ms"})
    assert end.stated == Condition.parse(rate="10Mbit", delay="5ms")
    assert end.condition == Condition.parse(rate="10Mbit", delay="5ms", burst="15360B", queue="1000 packets")


HTB = {"kind": "htb", "handle": "5:", "root": True, "options": {"default": "0x1"}}


def netem(parent="5:1", handle="10:", **options):
    where = {"root": True} if parent == "root" else {"parent": parent}
    return {"kind": "netem", "handle": handle, **where, "options": {"limit": 100, **options}}


def delayed(seconds, jitter=0):
    return {"delay": {"delay": seconds, "jitter": jitter, "correlation": 0}}


@pytest.mark.parametrize(
    ("shown", "rates", "expected"),
    [
        ([{"kind": "noqueue", "handle": "0:", "root": True, "options": {}}], {}, {}),
        ([netem("root", "8001:", **delayed(0.05))], {}, {"delay": "50ms", "queue": "100 packets"}),
        (
            [HTB, netem(**delayed(0.05))], {"5:1": 2_000_000},
            {"delay": "50ms", "queue": "100 packets", "rate": "2Mbit", "burst": "15360B"},
        ),
        (
            [netem("root", **delayed(0.05, 0.01), **{"loss-random": {"loss": 0.02, "correlation": 0}})], {},
            {"delay": "50ms", "jitter": "10ms", "distribution": "normal", "loss": "2%", "queue": "100 packets"},
        ),
        ([netem("root", rate={"rate": 125_000, "packetoverhead": 0, "cellsize": 0, "celloverhead": 0})], {},
         {"rate": "1Mbit", "queue": "100 packets"}),
        ([{"kind": "tbf", "handle": "8002:", "root": True, "options": {"rate": 125_000, "burst": 5000, "lat": 50000}}], {},
         {"rate": "1Mbit", "burst": "5000B"}),
    ],
)  # fmt: skip
def test_disciplines_of_another_program_are_read_as_a_condition(shown, rates, expected):
    assert shaper.observed(shown, rates) == Condition.parse(**expected)


@pytest.mark.parametrize(
    ("shown", "rates"),
    [
        ([{"kind": "prio", "handle": "1:", "root": True, "options": {"bands": 3}}], {}),
        ([HTB], {"5:1": 1, "5:2": 2}),
        ([netem("root", "1:", **delayed(0.01)), netem("1:1", "2:", **delayed(0.01))], {}),
        ([netem("root", "1:", corrupt={"corrupt": 0.01, "correlation": 0})], {}),
    ],
)
def test_what_no_condition_can_state_is_said(shown, rates):
    with pytest.raises(ConditionError, match=r"another program has changed what it does to packets: (prio|htb|netem)"):
        shaper.observed(shown, rates)


def test_a_delay_that_was_changed_by_hand_deviates():
    end = TCEnd.of({"bw": 10, "delay": "5ms", "max_queue_size": 100})
    same = [HTB, netem(**delayed(0.005))]
    assert not list(deviations(shaper.layers(end), same, end.root))
    assert list(deviations(shaper.layers(end), [HTB, netem(**delayed(0.05))], end.root)) == [("netem delay.delay", 0.005, 0.05)]
