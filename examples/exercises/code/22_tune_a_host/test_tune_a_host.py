"""Judges tuning.conf: lines of sysctl for both hosts of a long line. A mark for each test."""

from pathlib import Path

import pytest

from slownet import TwoHosts, iperf3
from slownet.net.tool import run

pytestmark = [pytest.mark.topology(TwoHosts), pytest.mark.tdf("inf")]
LINE = {"rate": "50Mbit", "rtt": "100ms"}
POOR = ["net.ipv4.tcp_rmem=4096 65536 65536", "net.ipv4.tcp_wmem=4096 65536 65536", "net.ipv4.tcp_congestion_control=cubic"]
MOST_LINES = 10


def settings():
    """Return the lines of the file: only settings of TCP, which are a host's own."""
    lines = [line.strip() for line in Path("submission/tuning.conf").read_text().splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    assert len(found) <= MOST_LINES, f"more than {MOST_LINES} settings"
    assert all(line.startswith("net.ipv4.tcp_") for line in found), "a line is no setting of net.ipv4.tcp_"
    return [f"{name.strip()}={value.strip()}" for name, _, value in (line.partition("=") for line in found)]


@pytest.fixture
def rate(net):
    """`rate(**more)` returns a download's Mbit/s over the line, with the settings."""

    def rate(**more):
        for host in (net["client"], net["server"]):
            for line in (*POOR, *settings()):
                run(host, ["sysctl", "-qw", line])
        with net.link("server", "client").set(**LINE, **more):
            return iperf3(net["server"], net["client"], seconds=20, omit=5).mbit_per_s

    return rate


def test_a_clean_line_is_full(rate):
    found = rate()
    assert found > 40, f"{found:.1f} of 50 Mbit/s: what limits a sender on a line that loses nothing?"


def test_a_line_that_loses_one_percent_is_used(rate):
    found = rate(loss_up="1%", seed=7)
    assert found > 30, f"{found:.1f} of 50 Mbit/s: what does a sender take a lost packet for?"


def test_and_one_that_loses_two_percent(rate):
    found = rate(loss_up="2%", seed=11)
    assert found > 30, f"{found:.1f} of 50 Mbit/s"
