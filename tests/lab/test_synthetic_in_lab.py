"""A synthetic trace of Starlink, played on a link, against ping."""

import re

import pytest
from readings import OWN_MS

from slownet.links.traces import synthetic


def test_a_ping_sees_the_satellites_of_the_trace(net):
    trace = synthetic.starlink(1, length="1min", step="1s", spike="1s")
    link = net.link("client", "switch")
    with link.play(trace.schedule()):
        text = net["client"].cmd(f"sleep 0.3; ping -c 30 -i 1 {net['web'].IP()}")
    expected = [1000 * each for each in trace.rtts()]
    found = {int(seq) - 1: float(ms) for seq, ms in re.findall(r"icmp_seq=(\d+) .*time=([\d.]+)", text)}
    assert set(range(30)) - set(found) <= {12, 27}  # losses are at the changes of satellites
    for at, ms in found.items():
        assert ms == pytest.approx(expected[at], abs=OWN_MS + 1)


def test_a_lossless_handover_delays_what_is_sent_meanwhile(net):
    trace = synthetic.mobile("5G", 1, handover_every="2s", length="10s")
    with net.link("client", "switch").play(trace.schedule()):
        text = net["client"].cmd(f"ping -c 900 -i 0.01 -s 1400 {net['web'].IP()}")
    times = [float(each) for each in re.findall(r"time=([\d.]+)", text)]
    assert len(times) == 900
    assert min(times) == pytest.approx(8, abs=OWN_MS + 1)
    assert 30 < max(times) < 170  # all but one frame wait for the end of an interruption of 50 to 150 ms
