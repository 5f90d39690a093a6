"""What operations of programs cost in a lab and on the machine itself, for `make bench`: calls.c measures them, this compares.

CPU time, of the kernel and the programs together: a lab that charges it has it as its clock.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.host import cpu

Say = Callable[[str, str, str], None]
SLOWNET = Path(sys.executable).with_name("slownet")
SOURCE = Path(__file__).with_name("calls.c")
ROUNDS = 5


@dataclass(frozen=True)
class Cost:
    """Microseconds of one operation: the median of some rounds, and the least and the most of them."""

    median_us: float
    least_us: float
    most_us: float

    def __str__(self) -> str:
        return f"{self.median_us:.3g} µs ({self.least_us:.3g} to {self.most_us:.3g})"


Costs = Mapping[str, Cost]
"""By the name of the operation."""


def measured() -> tuple[Costs, Costs, Costs]:
    """Return what operations cost in a lab and natively, and what the host's share of them costs; in turn, `ROUNDS` of each.

    Each on one processor, as labs are: to wake a process on another one that idles takes several times as long.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "calls")
        subprocess.run(["gcc", "-O1", "-static", "-s", "-o", program, SOURCE], check=True)
        in_lab = [SLOWNET, "lab", "exec", "--tdf", "1", "--cpu", "time", "--share", folder, "--", program, "clock"]
        ways: list[Sequence[str | Path]] = [in_lab, [program, "cpu"], [program, "parts"]]
        rounds = [[dict(_lines(words)) for words in ways] for _ in range(ROUNDS)]
    lab, native, parts = (_costs([each[way] for each in rounds]) for way in range(len(ways)))
    return lab, native, parts


def _lines(words: Sequence[str | Path]) -> Iterator[tuple[str, float]]:
    with cpu.reserved() as processor, cpu.bound_to(processor):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    for line in done.stdout.splitlines():
        name, microseconds = line.split("\t")
        yield name, float(microseconds)


def _costs(rounds: Sequence[Mapping[str, float]]) -> Costs:
    found = {name: [each[name] for each in rounds] for name in rounds[0]}
    return {name: Cost(statistics.median(each), min(each), max(each)) for name, each in found.items()}


def calls(say: Say) -> None:
    """Measure each operation in labs and natively, in turn, and print both and their ratio."""
    lab, native, parts = measured()
    for name, cost in lab.items():
        say(f"{name}, in a lab", f"{cost.median_us:.3g} µs", f"{cost}; natively {native[name]}, {ratio(cost, native[name])}")
    for name, cost in parts.items():
        say(f"on the host: {name}", f"{cost.median_us:.3g} µs", str(cost))


def ratio(lab: Cost, native: Cost) -> str:
    """Return how many times more an operation costs in a lab."""
    return f"{lab.median_us / native.median_us:.2g} times"
