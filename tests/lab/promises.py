"""A pair of hosts with a switch between them, and the measurements of its links and processors.

As a program it uses only Mininet's names: `promises.py MEASURE OPTIONS`, with the options of `Pair` in JSON, builds the
pair and prints its measurements as JSON.
"""

import json
import re
import subprocess
import sys

from mininet.node import CPULimitedHost
from mininet.topo import Topo
from traffic import Datagrams, goodput

PINGS, BYTES, DATAGRAMS, BUSY_S = 10, 2_000_000, 5000, 3
# It measures its computing time itself, so the interpreter's start is not counted, and reads its clocks rarely.
COMPUTE = """
import sys, time
began, used = time.monotonic(), time.process_time()
while time.monotonic() < began + float(sys.argv[1]):
    sum(range(50_000))
print((time.process_time() - used) / (time.monotonic() - began))
"""


class Pair(Topo):
    """`near` and `far`: options of their links; cpu: each host's share of all processors; other options: the switch's."""

    def build(self, near=None, far=None, cpu=None, **options):
        switch = self.addSwitch("s1", **options)
        for name, link in (("near", near), ("far", far)):
            kind = {} if cpu is None else {"cls": CPULimitedHost, "cpu": cpu}
            self.addLink(self.addHost(name, **kind), switch, **(link or {}))


def round_trips(near, far):
    """Return the round trips of answered pings in ms."""
    words = ["ping", "-n", "-c", str(PINGS), "-i", "0.2", far.IP()]
    return [float(each) for each in re.findall(r"time=([\d.]+) ms", near.pexec(words)[0])]


def rate(near, far):
    """Return a program's throughput over TCP in Mbit/s."""
    return goodput(near, far, BYTES) / 1e6


def arrived(near, far):
    """Return how many of the datagrams arrived."""
    return len(Datagrams(near, far, DATAGRAMS).end())


def shares(near, far):
    """Return the share of a processor that an endless computation gets, on both hosts at the same time."""
    words = [sys.executable, "-c", COMPUTE, str(BUSY_S)]
    running = [host.popen(words, stdout=subprocess.PIPE, text=True) for host in (near, far)]
    return [float(each.communicate()[0]) for each in running]


MEASURES = {each.__name__: each for each in (round_trips, rate, arrived, shares)}


def measure(names, near, far):
    """Return the requested measurements by name. Static ARP entries, because a lossy link would lose ARP requests."""
    near.setARP(far.IP(), far.MAC())
    far.setARP(near.IP(), near.MAC())
    return {name: MEASURES[name](near, far) for name in names}


def main(names, options):
    from mininet.link import TCLink
    from mininet.net import Mininet

    net = Mininet(topo=Pair(**json.loads(options)), link=TCLink)
    net.start()
    try:
        print(json.dumps({"class": type(net).__module__, **measure(names.split(","), net["near"], net["far"])}))
    finally:
        net.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
