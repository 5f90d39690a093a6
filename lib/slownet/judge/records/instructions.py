"""Instructions of an operation on the exact clock: a number of the programs, not of a machine. Pure.

A time on that clock is a count of instructions. Of a time without delay, all of which the processor worked, it is the
operation's own count; where it also waited, it is unknown which part was which operation's.
"""

from __future__ import annotations

from slownet.judge.records import sample_values
from slownet.judge.records.cell import Cell
from slownet.judge.records.cpu_variation import Block, cpu_part
from slownet.model.facts import Facts

NANOSECONDS = {"_ms": 1e6, "_us": 1e3, "_s": 1e9}
NO_DELAY_MS = 0.1
"""The longest round trip that is none: within the lab, a ping takes about 0.01 ms."""


def speed(facts: Facts) -> int | None:
    """Return how many instructions a nanosecond has on the clock of a run; None on any other clock than the exact one."""
    return (facts.get("machine") or {}).get("instructions_per_ns")


def per_operation(cell: Cell, metric: str, facts: Facts) -> float | None:
    """Return the instructions of one operation, from its time in a cell; None if it is unknown."""
    count, unit = speed(facts), next((NANOSECONDS[each] for each in NANOSECONDS if metric.endswith(each)), None)
    if count is None or unit is None or metric not in cell.metrics or cell.rate_bit_s is not None:
        return None
    if cell.verified_rtt_ms is None or cell.verified_rtt_ms > NO_DELAY_MS:
        return None
    samples = sample_values.good(cell.samples, metric)
    if any(cpu_part(Block(sample_values.settle(each, metric), each), metric) < 1 for each in samples):
        return None
    return cell.metrics[metric].mean * unit * count
