"""A path that is cut while messages arrive over MPTCP, and over TCP."""

import pytest
from distances import distances

from slownet.model.errors import ToolError
from slownet.reproductions.two_paths import INTERFACES, Messages, multipath
from slownet.theory.multipath import longest_stall_ms
from slownet.topologies import TwoPaths

TOPOLOGY = TwoPaths
RTT_MS = 50
MESSAGE = 1000
AFTER_MS = 3000  # when the path is cut


@pytest.fixture(scope="module")
def messages(net, tmp_path_factory):
    with Messages(net, tmp_path_factory.mktemp("messages")) as found:
        for path in ("first", "second"):
            net.link("server", path).set(delay_up=f"{RTT_MS}ms")
        yield found


def cut(net):
    return lambda: net.link("server", "first").set(loss="100%", ping=False)


@distances()
def test_a_stall_is_no_longer_than_its_timers(net, messages, rtt_ms):
    for path in ("first", "second"):
        net.link("server", path).set(delay_up=f"{rtt_ms}ms")
    try:
        found = messages.receive("MPTCP", cut(net))
    finally:
        for path in ("first", "second"):
            net.link("server", path).set(delay_up=f"{RTT_MS}ms")
    assert found.paths == 2
    assert found.gap_ms <= longest_stall_ms(rtt_ms, after_ms=AFTER_MS)


def test_the_other_path_carries_on(net, messages):
    found = messages.receive("MPTCP", cut(net))
    assert found.paths == 2
    assert found.gap_ms <= longest_stall_ms(RTT_MS)
    assert found.received >= 0.95 * 800 * MESSAGE
    assert found.after_gap > 300 * MESSAGE


def test_without_mptcp_nothing_arrives_anymore(net, messages):
    found = messages.receive("TCP", cut(net))
    assert (found.paths, found.after_gap) == (0, 0)
    assert found.gap_ms > 4500


def test_a_server_that_refuses_mptcp_is_one_line(net, messages):
    for value in "01":
        messages.host.popen(["sysctl", "-qw", f"net.mptcp.enabled={value}"]).communicate()
        if value == "0":
            with pytest.raises(ToolError, match="the server does not listen after 5 s, host 'server'"):
                multipath(messages.client, messages.host, "MPTCP", cut(net), interfaces=INTERFACES, after=0.1, seconds=0.5)
