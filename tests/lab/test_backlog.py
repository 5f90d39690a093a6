"""The queues that a measurement watches, against what a burst leaves in a queue of a known rate."""

import json
from itertools import pairwise

import pytest

from slownet.lab.host import native
from slownet.net.tool import run
from slownet.runner.measurement import Measurements, new_sample
from slownet.tools.user_metrics import Numbers

FRAME, COUNT = 500, 28  # they leave within 100 ms, CoDel's interval, after which it would drop one
STEP = 1e6 / 8 * 0.01
"""Bytes that 1 Mbit/s carries between two readings."""
BURST = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
time.sleep(0.1)
for _ in range({COUNT}):
    s.sendto(bytes({FRAME - 14 - 28}), ("10.0.0.2", 5002))
time.sleep(0.4)
"""


@pytest.mark.skipif(not native.cpu_is_free(), reason="queues are read where the CPU is free")
@pytest.mark.parametrize("fields", [{}, {"burst": "3kB"}, {"aqm": "fq_codel"}], ids=["netem", "bucket", "fq_codel"])
def test_a_burst_waits_and_drains_at_the_links_rate(net, fields):
    net["client"].cmd(f"ip neigh replace {net['web'].IP()} lladdr {net['web'].MAC()} nud permanent dev client-eth0")
    kept = {}

    def keep(name, content):
        kept[name] = content
        return name

    def burst():
        with net.link("client", "switch").set(rate_up="1Mbit", delay="2ms", queue="100 packets", **fields):
            run(net["client"], ["python", "-c", BURST.replace("10.0.0.2", net["web"].IP())])
        return Numbers({"bursts": (1,)})

    Measurements(net, keep).take(sample := new_sample("burst", {}, {}, 0), burst)
    assert "000-queue.json" in sample["raw"]
    waited = json.loads(kept["000-queue.json"])
    sizes = waited["queued_bytes"]["client-eth0"]
    assert (sizes[0], sizes[-1], waited["in_flight"]) == (0, 0, ["switch-eth1"])  # the other direction has no rate
    fullest = max(sizes)
    passed = 3000 if fields else FRAME  # at once, by what the bucket holds
    assert COUNT * FRAME - STEP - passed <= fullest <= COUNT * FRAME
    draining = sizes[sizes.index(fullest) :]
    draining = draining[: draining.index(0)]
    lost = [before - after for before, after in pairwise(draining)]
    assert len(lost) > 5
    assert all(abs(each - STEP) <= FRAME for each in lost)


@pytest.mark.skipif(not native.cpu_is_free(), reason="queues are read where the CPU is free")
def test_a_link_without_rate_and_queue_is_not_watched(net):
    kept = []

    def pause():
        with net.link("client", "switch").set(delay="2ms"):
            run(net["client"], ["sleep", "0.1"])
        return Numbers({"pauses": (1,)})

    Measurements(net, lambda name, content: kept.append(name) or name).take(new_sample("pause", {}, {}, 0), pause)
    assert not [name for name in kept if "queue" in name]
