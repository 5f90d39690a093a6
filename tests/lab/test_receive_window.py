"""A link that only delays: the receive window grows as Linux's does, and where it limits a sender that is said."""

import pytest

from slownet import iperf3
from slownet.net import senders
from slownet.theory.loss_tolerance import LINUX_SEND_BUFFER, OF_A_SEGMENT
from slownet.theory.slow_start import MSS
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
SECONDS = 6


def asked(net, **limits):
    log = []
    with net.link("client", "server").set(**limits), senders.watched(net.hosts, log):
        rate = iperf3(net["server"], net["client"], seconds=SECONDS).mbit_per_s
    return rate, log


def test_a_long_line_without_a_rate_answers_the_same_each_time_it_is_asked(net):
    """Slow start doubles 14,480 bytes each round trip, and the receive window follows, until the send buffer of 4 MB is full;
    a window that stays at its first 60 kB would carry 12 Mbit/s."""
    found = [asked(net, rtt="40ms")[0] for _ in range(4)]
    assert max(found) < 1.05 * min(found)
    full = LINUX_SEND_BUFFER * MSS / (MSS + OF_A_SEGMENT) * 8 / 0.04 / 1e6
    assert 0.9 * full < min(found) < max(found) < full  # the first ten round trips of 150 have less in flight


def test_with_a_rate_the_line_is_what_limits(net):
    rate, log = asked(net, rtt="40ms", rate="20mbit")
    assert rate == pytest.approx(20 * 1448 / 1514, rel=0.1)  # payload of a frame, less slow start
    assert senders.limited(log) is None


def test_a_small_receive_buffer_limits_and_is_named(net):
    """87,380 bytes of buffer hold half as many of payload: a window of at most 64 kB a round trip."""
    small = "4096 87380 87380"
    before = net["client"].cmd("sysctl -n net.ipv4.tcp_rmem").strip()
    net["client"].cmd(f"sysctl -qw net.ipv4.tcp_rmem='{small}'")
    try:
        rate, log = asked(net, rtt="40ms")
    finally:
        net["client"].cmd(f"sysctl -qw net.ipv4.tcp_rmem='{before}'")
    assert rate < 65536 * 8 / 0.04 / 1e6
    found = senders.limited(log)
    assert (found["by"], found["host"]) == ("receive window", "server")
    assert found["share"] > 0.9


def test_what_decides_about_windows_is_recorded(net):
    settings = net.kernel_settings()
    assert settings["net.ipv4.tcp_congestion_control"] == "cubic"
    for name in ("tcp_rmem", "tcp_wmem"):
        least, first, most = map(int, settings[f"net.ipv4.{name}"].split())
        assert least <= first <= most
