"""`--tdf auto` and `--cpu auto`: how much slower the CPU is inside a lab and how expensive counting work is, measured once per
machine and kernel."""

from __future__ import annotations

import json
import math
import platform
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path

from slownet.lab.build import cache
from slownet.lab.build.digests import NUMBER, RATIO, TEXT
from slownet.lab.build.measurements import measured
from slownet.lab.build.parts import Parts
from slownet.lab.host import cpu
from slownet.lab.host.counter import PROCESSOR
from slownet.lab.run.clock import Clock
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError

FILE = "tdf.json"
FACTS = {"tdf": NUMBER, "ratio": RATIO}
ROUNDS = 3
REFERENCE = {"tcp_round_trip_ns": 3_830, "fork_exec_ns": 121_000, "php_like_ns": 4_120_000}
"""The probe's CPU times on the reference computer: a fifth-generation AMD EPYC with Linux 6.18, median of three runs
(2026-11-22). Work is charged at the same rate on every machine, so it is compared with the same reference on every machine."""
WORTH = 2.5
"""`--cpu auto` counts work if that takes at most this many times the CPU of charging time."""


def tdf(parts: Parts) -> dict[str, object]:
    """Measure the TDF for charged time: {"tdf": whole number, "ratio": geometric mean, "native": {...}, "lab": {...}}.

    The probe (probe.c) runs natively and in a lab, alternately. Both report CPU time (a lab by its virtual clock), names ending
    in _ns are nanoseconds, and the minimum of each cost is used, to exclude other load on the host. Raises LabError.
    """
    return measured("tdf", _machine(parts), FILE, lambda: _measure(parts), FACTS)


def work(parts: Parts, counter: str) -> dict[str, object]:
    """Measure the TDF for charged work: {"tdf": whole number, "ratio": geometric mean, "reference": {...}, "lab": {...},
    "counter": its scope, "price": CPU of a lab that charges work / CPU of one that charges time}.

    The probe runs in labs of both kinds, alternately; the minimum of each cost is used. A processor's counter is more expensive
    while other programs share the processor: see the patch of the work clock in linux/7. Raises LabError.
    """
    name = cache.key(_machine(parts), counter, json.dumps(REFERENCE))
    return measured("work", name, FILE, lambda: _measure_work(parts, counter), {**FACTS, "counter": TEXT, "price": RATIO})


def _measure_work(parts: Parts, counter: str) -> dict[str, object]:
    inside: dict[str, float] = {}
    spent: dict[str, float] = {}
    for _ in range(ROUNDS):
        _keep_lowest(inside, _in_lab(parts, Clock("virtual", 1, counter=counter)))
        for each in ("", counter):
            before = _cpu_s()
            _in_lab(parts, Clock("virtual", 1, counter=each), "page")
            spent[each] = min(_cpu_s() - before, spent.get(each, math.inf))
    found = {**_compared(inside, REFERENCE), "reference": REFERENCE, "lab": inside, "counter": counter}
    return {**found, "price": round(spent[counter] / spent[""], 2)}


def worth(measured: Mapping[str, object]) -> bool:
    """Return whether `--cpu auto` counts work, given the result of `work`.

    A processor's counter is nearly free while a lab is alone there; with other load it is worth its price, because verdicts do
    not depend on that load. A process's counter always costs the same.
    """
    return measured["counter"] == PROCESSOR or float(str(measured["price"])) <= WORTH


def _cpu_s() -> float:
    """Return the CPU seconds of the labs that ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _in_lab(parts: Parts, clock: Clock, *words: str) -> bytes:
    """Return the probe's output in a lab with that clock."""
    output = Excerpt()
    probe = parts.tools / "probe"
    status = parts.lab(clock, shares=[Share(parts.tools)]).run([str(probe), *words], stdout=output.add)
    if status:
        raise LabError(f"the CPU probe ended with status {status} in the lab")
    return output.data()


def _compared(inside: Mapping[str, float], outside: Mapping[str, float]) -> dict[str, object]:
    ratios = [inside[name] / outside[name] for name in outside]
    ratio = math.prod(ratios) ** (1 / len(ratios))
    return {"tdf": max(1, round(ratio)), "ratio": round(ratio, 3)}


def _machine(parts: Parts) -> str:
    info = Path("/proc/cpuinfo").read_text()
    models = [line for line in info.splitlines() if line.startswith(("model name", "CPU part"))]
    return cache.key(platform.node(), *models, parts.kernel.release, parts.kernel.path.parent.name, parts.tools.name)


def _measure(parts: Parts) -> dict[str, object]:
    probe = parts.tools / "probe"
    native: dict[str, float] = {}
    inside: dict[str, float] = {}
    for _ in range(ROUNDS):
        with cpu.reserved() as processor:  # pinned like a lab
            done = subprocess.run(["taskset", "--cpu-list", str(processor), probe, "cpu"], capture_output=True, check=False)
        if done.returncode:
            raise LabError(f"the CPU probe ended with status {done.returncode}")
        _keep_lowest(native, done.stdout)
        _keep_lowest(inside, _in_lab(parts, Clock("virtual", 1)))
    return {**_compared(inside, native), "native": native, "lab": inside}


def _keep_lowest(best: dict[str, float], output: bytes) -> None:
    for name, value in json.loads(output).items():
        best[name] = min(value, best.get(name, value))
