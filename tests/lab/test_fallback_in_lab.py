"""Clients that try IPv6 first: what captures of both paths show."""

import pytest
from distances import distances

from slownet.model.errors import ToolError
from slownet.reproductions.dual_stack import REFUSED, DualStack
from slownet.reproductions.named_pages import PAGE
from slownet.theory.fallback import first_byte_ms
from slownet.topologies import TwoPaths

TOPOLOGY = TwoPaths
RTT_MS = 20


@pytest.fixture(scope="module")
def site(net, tmp_path_factory):
    with DualStack(net, tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.mark.parametrize(
    ("client", "name", "ipv6_rtt_ms", "tried", "answered"),
    [
        ("curl", PAGE, RTT_MS, ("IPv6",), "IPv6"),
        ("curl", REFUSED, RTT_MS, ("IPv6", "IPv4"), "IPv4"),
        ("curl", PAGE, None, ("IPv6", "IPv4"), "IPv4"),
        ("asyncio", PAGE, None, ("IPv6", "IPv4"), "IPv4"),
        ("wget", PAGE, 400, ("IPv6",), "IPv6"),
    ],
)
def test_a_client_loses_what_its_fallback_takes(net, site, client, name, ipv6_rtt_ms, tried, answered):
    second = {"loss": "100%"} if ipv6_rtt_ms is None else {"delay_up": f"{ipv6_rtt_ms}ms"}
    with net.link("server", "first").set(delay_up=f"{RTT_MS}ms"), net.link("server", "second").set(**second):
        found = site.page(client, name)
    assert (found.seen.families, found.seen.answered) == (tried, answered)
    expected = first_byte_ms(client=client, rtt_ms=RTT_MS, ipv6_rtt_ms=ipv6_rtt_ms, refused=name == REFUSED)
    assert found.metrics()["first_byte_ms"]["mean"] == pytest.approx(expected, rel=0.01)


@distances()
def test_the_time_to_the_first_byte_is_that_of_the_fallback(net, site, rtt_ms):
    """A millisecond beside the timers is for the programs' own, which count in whole ones."""
    for client, name, ipv6_rtt_ms in (
        ("curl", PAGE, rtt_ms), ("curl", REFUSED, rtt_ms), ("curl", PAGE, None), ("curl", PAGE, 900), ("asyncio", PAGE, None),
        ("wget", PAGE, 700), ("wget", REFUSED, rtt_ms),
    ):  # fmt: skip
        second = {"loss": "100%"} if ipv6_rtt_ms is None else {"delay_up": f"{ipv6_rtt_ms}ms", "ping": False}
        with (
            net.link("server", "first").set(delay_up=f"{rtt_ms}ms", ping=False),
            net.link("server", "second").set(**second),
        ):
            found = site.page(client, name)
        expected = first_byte_ms(client=client, rtt_ms=rtt_ms, ipv6_rtt_ms=ipv6_rtt_ms, refused=name == REFUSED)
        measured = found.metrics()["first_byte_ms"]["mean"]
        assert measured == pytest.approx(expected, rel=0.01, abs=1), (client, name, ipv6_rtt_ms)


def test_an_unknown_client_is_one_line(site):
    with pytest.raises(ToolError, match="no client 'curll', host 'client': did you mean 'curl'"):
        site.page("curll")
