"""A pair of hosts with a switch between them, and what there is to measure on it.

As a program it knows Mininet's names only: `promises.py MEASURE OPTIONS`, with the options of `Pair` in JSON, builds the
pair and prints what it measured as JSON.
"""

import json
import re
import subprocess
import sys

from mininet.node import CPULimitedHost
from mininet.topo import Topo
from traffic import Datagrams, goodput

PINGS, BYTES, DATAGRAMS, BUSY_S = 10, 2_000_000, 5000, 3
# Its own clocks say how long it computed, so the interpreter's start is left out. It asks them seldom: a call is no computing.
COMPUTE = """
import sys, time
began, used = time.monotonic(), time.process_time()
while time.monotonic() < began + float(sys.argv[1]):
    sum(range(50_000))
print((time.process_time() - used) / (time.monotonic() - began))
"""


class Pair(Topo):
    """`near` and `far`; the options of their links, the share of all processors that each may have, the switch's options."""

    def build(self, near=None, far=None, cpu=None, **options):
        switch = self.addSwitch("s1", **options)
        for name, link in (("near", near), ("far", far)):
            kind = {} if cpu is None else {"cls": CPULimitedHost, "cpu": cpu}
            self.addLink(self.addHost(name, **kind), switch, **(link or {}))


def round_trips(near, far):
    """Milliseconds of each ping that was answered."""
    words = ["ping", "-n", "-c", str(PINGS), "-i", "0.2", far.IP()]
    return [float(each) for each in re.findall(r"time=([\d.]+) ms", near.pexec(words)[0])]


def rate(near, far):
    """Mbit/s of what a program gets over TCP."""
    return goodput(near, far, BYTES) / 1e6


def arrived(near, far):
    """How many of the datagrams came."""
    return len(Datagrams(near, far, DATAGRAMS).end())


def shares(near, far):
    """The part of a processor that a program gets that computes without end, on both hosts at once."""
    words = [sys.executable, "-c", COMPUTE, str(BUSY_S)]
    running = [host.popen(words, stdout=subprocess.PIPE, text=True) for host in (near, far)]
    return [float(each.communicate()[0]) for each in running]


MEASURES = {each.__name__: each for each in (round_trips, rate, arrived, shares)}


def measure(names, near, far):
    """What is asked for, by name; no host has to ask for the other's address, which a lossy link would lose."""
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
