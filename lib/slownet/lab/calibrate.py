"""`--tdf auto`: how much dearer the CPU is inside a lab, measured once per machine and kernel."""

from __future__ import annotations

import json
import math
import platform
import subprocess
from pathlib import Path

from slownet.errors import LabError
from slownet.lab import cache, cpu
from slownet.lab.boot import Share
from slownet.lab.clock import Clock
from slownet.lab.parts import Parts

ROUNDS = 3


def tdf(parts: Parts) -> dict[str, object]:
    """{"tdf": whole number, "ratio": geometric mean, "native": {...}, "lab": {...}}, in ns where it says so.

    The probe (probe.c) runs natively and in a lab, in turns. Both count CPU time (the lab's virtual clock does), and of
    each cost the lowest counts, so that other work on the host does not. Raises LabError.
    """
    folder = cache.make("tdf", _machine(parts), lambda half: _keep(_measure(parts), half))
    return dict(json.loads((folder / "tdf.json").read_text()))


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
        output = bytearray()
        lab = parts.lab(Clock("virtual", 1), shares=[Share(parts.tools)])
        status = lab.run([str(probe)], stdout=output.extend)
        if status:
            raise LabError(f"the probe of the CPU ended with {status} in the lab")
        _keep_lowest(inside, bytes(output))
    ratios = [inside[name] / native[name] for name in native]
    ratio = math.prod(ratios) ** (1 / len(ratios))
    return {"tdf": max(1, round(ratio)), "ratio": round(ratio, 3), "native": native, "lab": inside}


def _keep_lowest(best: dict[str, float], output: bytes) -> None:
    for name, value in json.loads(output).items():
        best[name] = min(value, best.get(name, value))
