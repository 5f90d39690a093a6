"""`--tdf auto` and `--cpu auto`: how much dearer the CPU is inside a lab, and what it costs to count its work; measured
once per machine and kernel."""

from __future__ import annotations

import json
import math
import platform
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path

from slownet.errors import LabError
from slownet.lab import cache, cpu
from slownet.lab.boot import Share
from slownet.lab.clock import Clock
from slownet.lab.counter import PROCESSOR
from slownet.lab.parts import Parts

ROUNDS = 3
REFERENCE = {"tcp_round_trip_ns": 3_830, "fork_exec_ns": 121_000, "php_like_ns": 4_120_000}
"""The probe's CPU time on the reference computer: an AMD EPYC of the fifth generation with Linux 6.18, the median of three
runs (2026-11-22). Work is charged at the same rate everywhere, so what a lab's work is compared with is the same as well."""
WORTH = 2.5
"""How many times the CPU of charging time counted work may cost, for `--cpu auto` to take it."""


def tdf(parts: Parts) -> dict[str, object]:
    """{"tdf": whole number, "ratio": geometric mean, "native": {...}, "lab": {...}}, in ns where it says so.

    The probe (probe.c) runs natively and in a lab, in turns. Both count CPU time (the lab's virtual clock does), and of
    each cost the lowest counts, so that other work on the host does not. Raises LabError.
    """
    folder = cache.measured("tdf", _machine(parts), lambda half: _keep(_measure(parts), half))
    return dict(json.loads((folder / "tdf.json").read_text()))


def work(parts: Parts, counter: str) -> dict[str, object]:
    """{"tdf": whole number, "ratio": geometric mean, "reference": {...}, "lab": {...}, "counter": what is counted,
    "price": CPU of a lab that charges work over that of one that charges time}.

    The probe runs in labs of both kinds, in turns; of each cost the lowest counts. Beside other work a processor's counter
    is dearer: see the last patch in linux/7. Raises LabError.
    """
    folder = cache.measured(
        "work",
        cache.key(_machine(parts), counter, json.dumps(REFERENCE)),
        lambda half: _keep(_measure_work(parts, counter), half),
    )
    return dict(json.loads((folder / "tdf.json").read_text()))


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
    """Whether `--cpu auto` takes counted work, by what `work` says.

    A processor's counter costs next to nothing while a lab is alone there, and beside others its price buys verdicts that
    do not depend on them. A process's counter costs the same always.
    """
    return measured["counter"] == PROCESSOR or float(str(measured["price"])) <= WORTH


def _cpu_s() -> float:
    """What the labs that ended took, in seconds."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _in_lab(parts: Parts, clock: Clock, *words: str) -> bytes:
    """What the probe prints in a lab of that clock."""
    output = bytearray()
    probe = parts.tools / "probe"
    status = parts.lab(clock, shares=[Share(parts.tools)]).run([str(probe), *words], stdout=output.extend)
    if status:
        raise LabError(f"the probe of the CPU ended with {status} in the lab")
    return bytes(output)


def _compared(inside: Mapping[str, float], outside: Mapping[str, float]) -> dict[str, object]:
    ratios = [inside[name] / outside[name] for name in outside]
    ratio = math.prod(ratios) ** (1 / len(ratios))
    return {"tdf": max(1, round(ratio)), "ratio": round(ratio, 3)}


def _keep(measured: dict[str, object], folder: Path) -> None:
    (folder / "tdf.json").write_text(json.dumps(measured, indent=1) + "\n")


def _machine(parts: Parts) -> str:
    info = Path("/proc/cpuinfo").read_text()
    models = [line for line in info.splitlines() if line.startswith(("model name", "CPU part"))]
    return cache.key(platform.node(), *models, parts.kernel.release, parts.kernel.path.parent.name, parts.tools.name)


def _measure(parts: Parts) -> dict[str, object]:
    probe = parts.tools / "probe"
    native: dict[str, float] = {}
    inside: dict[str, float] = {}
    for _ in range(ROUNDS):
        with cpu.reserved() as processor:  # as a lab has it
            done = subprocess.run(["taskset", "--cpu-list", str(processor), probe, "cpu"], capture_output=True, check=False)
        if done.returncode:
            raise LabError(f"the probe of the CPU ended with {done.returncode}")
        _keep_lowest(native, done.stdout)
        _keep_lowest(inside, _in_lab(parts, Clock("virtual", 1)))
    return {**_compared(inside, native), "native": native, "lab": inside}


def _keep_lowest(best: dict[str, float], output: bytes) -> None:
    for name, value in json.loads(output).items():
        best[name] = min(value, best.get(name, value))
