"""The time to the first byte when IPv6 does not work."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.fallback import SYN_TIMEOUT_LATE_MS, SYN_TIMEOUT_MS, first_byte_ms

RTT_MS = 40


def first(client, ipv6_rtt_ms, refused=False):
    return first_byte_ms(client=client, rtt_ms=RTT_MS, ipv6_rtt_ms=ipv6_rtt_ms, refused=refused)


@pytest.mark.parametrize(("client", "delay"), [("curl", 200), ("asyncio", 250)])
def test_a_client_with_happy_eyeballs_loses_its_delay_at_most(client, delay):
    assert first(client, RTT_MS) == 80
    assert first(client, None) == first(client, 10_000) == delay + 80
    assert first(client, delay + RTT_MS) == 2 * (delay + RTT_MS)  # IPv6 is open no later than IPv4
    assert first(client, delay + RTT_MS + 1) == delay + 80


def test_a_client_without_it_waits():
    assert first("wget", 10_000) == 20_000
    assert first("wget", None) == SYN_TIMEOUT_MS + 80 == 131_080


@pytest.mark.parametrize("client", ["curl", "asyncio", "wget"])
def test_a_refusal_costs_a_round_trip(client):
    assert first(client, RTT_MS, refused=True) == 120


def test_a_syns_timers_may_be_late():
    assert SYN_TIMEOUT_LATE_MS == 6 * 32 + 3 * 256 + 2 * 2048


def test_an_unknown_client_is_one_line():
    with pytest.raises(SlownetError, match="no client 'cur', in first_byte_ms: did you mean 'curl'"):
        first("cur", None)
