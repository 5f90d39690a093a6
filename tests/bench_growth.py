"""How cost grows with size, for `make bench`: CPU time by hosts, flows, packets, cells and samples, each with its exponent.

The exponent is the slope of log(cost) over log(size) between the two largest sizes, where the cost of the smallest, which is
mostly a boot, was taken from each: 1 is linear.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import bench_sweep

from slownet.runner.workers import Pool

Say = Callable[[str, str, str], None]
SLOWNET = Path(sys.executable).with_name("slownet")
NOISE_S = 0.1
"""By which the same boot differs from one moment to the next: a difference of two cannot be told from it."""
HOSTS = """
import sys
from slownet import Network, Star
with Network(Star(int(sys.argv[1]))):
    pass
"""
FLOWS = """
import subprocess, sys, time
from slownet import Network, TwoHosts
with Network(TwoHosts) as net, net.link("client", "server").set(rate="20Mbit", rtt="20ms"):
    server = net["server"].popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    time.sleep(1)
    words = ["iperf3", "-c", net["server"].IP(), "-P", sys.argv[1], "-t", sys.argv[2]]
    assert net["client"].popen(words, stdout=subprocess.DEVNULL).wait() == 0
    server.wait()
"""
CELLS = """
from slownet import TwoHosts, experiment

@experiment(topology=TwoHosts, vary={"number": [str(each) for each in range(SIZE)]}, tdf="inf", unit="ms")
def many(net, number):
    return [float(number), 1.0 + float(number)]
"""
SAMPLES = """
from slownet import TwoHosts, experiment

@experiment(topology=TwoHosts, vary={"number": ["0", "1"]}, tdf="inf", unit="ms")
def many(net, number):
    return [float(number) + each % 7 for each in range(SIZE)]
"""


Costs = Mapping[str, Mapping[int, float]]
"""CPU seconds by what grows and by its size."""


def measured() -> Iterator[tuple[str, Mapping[int, float]]]:
    """Yield what grows, and the CPU seconds of each size."""
    lab = ["lab", "exec", "--tdf", "inf", "--memory", "2048", "--", "python", "-c"]
    count_all()
    yield "hosts of a network", {size: cpu([*lab, HOSTS, str(size)]) for size in (2, 100, 300, 1000)}
    yield "flows at once, 5 s on 20 Mbit/s", {size: cpu([*lab, FLOWS, str(size), "5"]) for size in (1, 32, 64, 128)}
    packets = {round(seconds * 20e6 / 8 / 1514): cpu([*lab, FLOWS, "1", str(seconds)]) for seconds in (1, 40, 80, 160)}
    yield "packets of one flow", packets
    yield "cells of a run", {size: of_a_run(CELLS, size) for size in (2, 100, 300, 600)}
    yield "values of a sample", {size: of_a_run(SAMPLES, size) for size in (2, 30_000, 100_000, 300_000)}
    yield "cells of a sweep, their labs left out", {size: of_a_sweep(size) for size in (2, 2_000, 6_000, 18_000)}


def growth(say: Say) -> None:
    """Measure each cost at some sizes, and print the exponents."""
    for what, found in measured():
        sizes = ", ".join(f"{size}: {seconds:.1f}" for size, seconds in found.items())
        say(f"CPU by {what}", f"n^{exponent(found):.2f}", f"{each_ms(found):.3g} ms each; CPU s {sizes}")


def of_a_sweep(cells: int) -> float:
    """Return the CPU seconds of planning, handing out and storing so many cells, whose results are made up."""
    with tempfile.TemporaryDirectory() as folder:
        before = _cpu_here()
        bench_sweep.measured(Pool(2), Path(folder), cells, 1)
        return _cpu_here() - before


def _cpu_here() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def of_a_run(program: str, size: int) -> float:
    """Return the CPU seconds of a run of that size, with its report."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "many.py").write_text(program.replace("SIZE", str(size)))
        return cpu(["run", "many.py", "--repeat", "1"], folder)


def count_all() -> None:
    """Let `cpu_of` count programs of a lab that outlive it."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def cpu(words: Sequence[str], folder: str | None = None) -> float:
    """Return the CPU seconds of a command of slownet and of all that it starts."""
    return cpu_of([SLOWNET, *words], folder)


def cpu_of(words: Sequence[str | Path], folder: str | None = None, env: Mapping[str, str] | None = None) -> float:
    """Return the CPU seconds of a command and of all that it starts; see `count_all`. Exits with its message if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def exponent(found: Mapping[int, float]) -> float:
    """Return the slope of log(cost) over log(size) between the two largest sizes, without the cost of the smallest."""
    least, *_, middle, most = sorted(found)
    cost = {size: max(found[size] - found[least], NOISE_S) for size in (middle, most)}
    return math.log(cost[most] / cost[middle]) / math.log((most - least) / (middle - least))


def each_ms(found: Mapping[int, float]) -> float:
    """Return the CPU milliseconds of each one, from the smallest size to the largest."""
    least, *_, most = sorted(found)
    return (found[most] - found[least]) / (most - least) * 1000
