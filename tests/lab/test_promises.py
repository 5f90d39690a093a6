"""What links and processor shares do, on slownet's networks and in a program that uses Mininet's names."""

import json
import subprocess
import sys
from pathlib import Path

import promises
import pytest
from mininet.util import numCores

from slownet.net.network import Network

PROGRAM = Path(promises.__file__)
# As TCLink's parameters, and as slownet's fields.
CONDITIONS = {
    "none": ({}, {}),
    "5 Mbit/s": ({"bw": 5, "use_htb": True}, {"rate": "5Mbit"}),
    "15 ms": ({"delay": "15ms", "use_htb": True}, {"delay": "15ms"}),
    "99 %": ({"loss": 99, "use_htb": True}, {"loss": "99%", "ping": False}),
    "10 Mbit/s, 5 ms": ({"bw": 10, "delay": "5ms", "use_htb": True}, {"rate": "10Mbit", "delay": "5ms"}),
}


def on_slownet(names, near, far, cpu):
    with Network(promises.Pair(cpu=cpu, failMode="standalone")) as net:  # a learning switch, because there is no controller
        for end, each in (("near", near), ("far", far)):
            net.link(end, "s1").set(**CONDITIONS[each][1])
        return promises.measure(names, net["near"], net["far"])


def by_mininets_names(names, near, far, cpu):
    options = {"near": CONDITIONS[near][0], "far": CONDITIONS[far][0], "cpu": cpu}
    words = [sys.executable, "-m", "slownet.net.standin", PROGRAM, ",".join(names), json.dumps(options)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("class") == "slownet.net.fast_mininet"
    return found


@pytest.fixture(params=[on_slownet, by_mininets_names], ids=lambda way: way.__name__)
def measured(request):
    """A function such as `measured("rate", near="5 Mbit/s")` that returns measurements by name."""
    return lambda *names, near="none", far="none", cpu=None: request.param(names, near, far, cpu)


def test_a_rate_is_kept_within_a_fifth(measured):
    assert 4 <= measured("rate", near="5 Mbit/s", far="5 Mbit/s")["rate"] <= 6


def test_a_delay_is_that_of_each_link_in_each_direction(measured):
    """Check that a round trip crosses two links twice: 60 ms, within a fifth."""
    found = measured("round_trips", near="15 ms", far="15 ms")["round_trips"]
    assert len(found) == promises.PINGS
    assert 48 <= min(found) <= max(found) <= 72


def test_without_a_condition_nothing_is_slow(measured):
    """Check that an unimpaired pair would fail the other tests, as it must for them to prove anything."""
    found = measured("round_trips", "rate", "arrived")
    assert max(found["round_trips"]) < 10
    assert found["rate"] > 50
    assert found["arrived"] == promises.DATAGRAMS


def test_of_a_hundred_packets_one_arrives_where_99_percent_are_lost(measured):
    """Expect 50 of 5000; fewer than 15 or more than 85 arrive once in a million times."""
    assert 15 <= measured("arrived", near="99 %")["arrived"] <= 85


@pytest.mark.charged  # an endless loop never ends with a free CPU
def test_a_share_of_the_processor_is_kept_within_a_fifth(measured):
    for share in measured("shares", cpu=0.1)["shares"]:
        assert share / numCores() == pytest.approx(0.1, rel=0.2)


def test_rate_delay_and_share_are_kept_together(measured):
    found = measured("round_trips", "rate", near="10 Mbit/s, 5 ms", far="10 Mbit/s, 5 ms", cpu=0.25)
    assert len(found["round_trips"]) == promises.PINGS
    assert 16 <= min(found["round_trips"]) <= max(found["round_trips"]) <= 24
    assert 8 <= found["rate"] <= 12
